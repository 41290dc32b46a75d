"""Tensors, modules, optimisers: what students' files lean on."""

import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest


def test_shapes_from_nested_lists(mt: Any) -> None:
    assert mt.tensor([[2, 3, 4], [4, 5, 7]]).shape == (2, 3)
    assert mt.tensor([[[2, 3, 4], [4, 5, 7]]]).shape == (1, 2, 3)
    assert mt.tensor(3.0).shape == ()
    with pytest.raises(ValueError, match="equal lengths"):
        mt.tensor([[1.0, 2.0], [3.0]])


def test_remembered_lists_are_read_again_once_they_change(mt: Any) -> None:
    padding = [0.0, 0.0]
    sentence = [[1.0, 2.0], padding, padding]
    data = [sentence, [[5.0, 6.0], padding, padding]]
    changes: list[Callable[[], None]] = [
        lambda: sentence[0].__setitem__(1, 9.0),
        lambda: padding.__setitem__(0, 4.0),
        lambda: sentence.__setitem__(2, [7.0, 8.0]),
        lambda: sentence[2].__setitem__(0, 3.0),
        lambda: data.__setitem__(0, [[1.0, 1.0]] * 3),
    ]
    for change in changes:
        before = mt.tensor(data).to_numpy()
        assert before.tolist() == data == mt.tensor(data).to_numpy().tolist()
        change()
        assert mt.tensor(data).to_numpy().tolist() == data != before.tolist()


def test_remembered_lists_are_not_written_through(mt: Any) -> None:
    data = [[[1.0, 2.0]], [[3.0, 4.0]]]
    mt.tensor(data)[0, 0, 0] = 9.0
    assert mt.tensor(data)[0, 0, 0] == 1.0


def test_only_so_much_is_remembered(mt: Any) -> None:
    blocks = sys.modules["minitorch.nested"].Blocks(limit=10)
    for i in range(6):
        block = [[float(i), 1.0], [2.0, 3.0]]
        assert blocks.array(block).tolist() == block
        assert blocks._numbers <= 10


def test_a_view_finds_out_one_size_and_takes_no_other_negative_one(mt: Any) -> None:
    t = mt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert t.view(-1, 2).shape == (3, 2)
    with pytest.raises(mt.IndexingError, match="the sizes differ"):
        t.view(3, -2)


def test_view_and_permute_share_the_storage_and_contiguous_does_not(mt: Any) -> None:
    t = mt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    turned = t.permute(1, 0)
    assert turned._tensor.strides == (1, 3)
    assert turned._tensor._storage is t._tensor._storage
    copy = turned.contiguous()
    t[0, 1] = 9.0
    assert turned[1, 0] == t.view(6)[1] == 9.0
    assert copy[1, 0] == 2.0
    with pytest.raises(mt.IndexingError, match="contiguous"):
        turned.view(6)
    with pytest.raises(mt.IndexingError, match="sizes differ"):
        t.view(4)


@pytest.mark.parametrize("key", [(2, 0), (0, 3), (-1, 0), (0,), 0, (0, 0, 0)])
def test_wrong_indices_are_refused(mt: Any, key: Any) -> None:
    with pytest.raises(mt.IndexingError):
        mt.ones((2, 3))[key]


def test_numbers_combine_with_tensors_as_in_the_course(mt: Any) -> None:
    t = mt.tensor([1.0, 2.0])
    for result, expected in (
        (3 + t, [4, 5]),
        (t - 1, [0, 1]),
        (2 * t, [2, 4]),
        (t / 2, [0.5, 1]),
        (2 / t, [2, 1]),
        (t**2, [1, 4]),
        (np.float32(3) * t, [3, 6]),
        (t < 1.5, [1, 0]),
        (t > 1.5, [0, 1]),
        (t == 2, [0, 1]),
    ):
        assert result.to_numpy().tolist() == expected
    with pytest.raises(TypeError):
        1 - t


def test_tensors_are_keys_by_identity(mt: Any) -> None:
    a, b = mt.tensor([1.0]), mt.tensor([1.0])
    assert len({a, b, a}) == 2
    assert {a: 1}[a] == 1


def test_random_tensors_draw_from_random(mt: Any) -> None:
    random.seed(4)
    expected = [random.random() for _ in range(6)]
    random.seed(4)
    np.testing.assert_array_equal(mt.rand((2, 3)).to_numpy().ravel(), np.array(expected, np.float32))


def test_a_parameter_takes_a_new_tensor(mt: Any) -> None:
    p = mt.Parameter(mt.tensor([1.0, 2.0]), "w")
    (p.value * 2.0).sum().backward()
    assert p.value.grad is not None
    p.update(p.value - 0.5)
    assert p.value.grad is None
    assert p.value.is_leaf()
    assert p.value.name == "w"


def test_modules(mt: Any) -> None:
    class Inner(mt.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.w = mt.Parameter(mt.ones((2,)))

    class Outer(mt.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()
            self.add_parameter("b", mt.ones((1,)))
            self.size = 3

    net = Outer()
    assert [name for name, _ in net.named_parameters()] == ["b", "inner.w"]
    assert net.nothing_of_the_kind is None
    assert net.size == 3
    net.eval()
    assert net.inner.training is False
    net.train()
    assert net.inner.training is True
    assert "(inner): Inner()" in repr(net)


@pytest.mark.parametrize("name", ["Adam", "SGD"])
def test_optimisers_against_pytorch(mt: Any, name: str) -> None:
    import torch

    start = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    ours = mt.Parameter(mt.tensor_from_numpy(start))
    theirs: Any = torch.tensor(start, requires_grad=True)
    optimisers = [getattr(mt, name)([ours], lr=0.1), getattr(torch.optim, name)([theirs], lr=0.1)]
    for _ in range(5):
        for optimiser in optimisers:
            optimiser.zero_grad()
        (ours.value.sigmoid() * ours.value).sum().backward()
        (theirs.sigmoid() * theirs).sum().backward()
        for optimiser in optimisers:
            optimiser.step()
    np.testing.assert_allclose(ours.value.to_numpy(), theirs.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_layers_against_pytorch(mt: Any) -> None:
    import torch

    x = np.random.default_rng(1).normal(size=(2, 3, 4, 6)).astype(np.float32)
    ours, theirs = mt.tensor_from_numpy(x), torch.tensor(x)
    for got, expected in (
        (mt.softmax(ours, 1), theirs.softmax(1)),
        (mt.logsoftmax(ours, 3), theirs.log_softmax(3)),
        (mt.max(ours, 2), theirs.max(2, keepdim=True).values),
        (mt.avgpool2d(ours, (2, 3)), torch.nn.functional.avg_pool2d(theirs, (2, 3))),
        (mt.maxpool2d(ours, (2, 3)), torch.nn.functional.max_pool2d(theirs, (2, 3))),
        (mt.layer_norm(ours), torch.nn.functional.layer_norm(theirs, (6,))),
    ):
        np.testing.assert_allclose(got.to_numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)


def test_dropout(mt: Any) -> None:
    random.seed(0)
    x = mt.ones((100, 50))
    kept = mt.dropout(x, 0.3).to_numpy()
    assert set(np.unique(kept)) == {0.0, 1.0}
    assert abs(kept.mean() - 0.7) < 0.03
    assert mt.dropout(x, 0.3, ignore=True) is x


def test_comparisons_of_tensors_can_fail(mt: Any) -> None:
    a = mt.tensor([1.0, 2.0])
    assert mt.operators.is_close(a, mt.tensor([1.001, 2.0]))
    for other in ([1.0, 2.1], [[1.0, 2.0]], [0.0]):
        assert not mt.operators.is_close(a, mt.tensor(other))
    assert not mt.operators.is_close(a, 123.0)
    mt.assert_close(a, [1.0, 2.0])
    for wrong in ([1.0, 2.1], [[1.0, 2.0]], [1.0, float("nan")], 123.0):
        with pytest.raises(AssertionError):
            mt.assert_close(a, wrong)
