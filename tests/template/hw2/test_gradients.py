"""`grad_check` passes what is right and fails what is wrong; the functions' derivatives against PyTorch."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest


def leaf(mt: Any, *shape: int) -> Any:
    values = np.random.default_rng(len(shape)).uniform(0.2, 1.2, shape)
    return mt.tensor_from_numpy(values, requires_grad=True)


WRONG: list[tuple[str, str, Callable[[Any, Any], Any]]] = [
    ("Sigmoid", "sigmoid", lambda ctx, d: d),
    ("Exp", "exp", lambda ctx, d: d),
    ("Neg", "__neg__", lambda ctx, d: d),
    ("Log", "log", lambda ctx, d: d.f.mul_zip(d, d._constant(1.01))),
    ("Tanh", "tanh", lambda ctx, d: d.f.mul_zip(ctx.saved_values[0], d)),
    ("ReLU", "relu", lambda ctx, d: d.f.neg_map(d)),
]


@pytest.mark.parametrize(("function", "method", "backward"), WRONG)
def test_a_wrong_derivative_is_found(
    mt: Any, monkeypatch: pytest.MonkeyPatch, function: str, method: str, backward: Callable[[Any, Any], Any]
) -> None:
    mt.grad_check(lambda a: getattr(a, method)() * a, leaf(mt, 2, 3))
    monkeypatch.setattr(getattr(mt, function), "backward", staticmethod(backward))
    with pytest.raises(AssertionError, match="central difference"):
        mt.grad_check(lambda a: getattr(a, method)() * a, leaf(mt, 2, 3))


def test_one_wrong_element_is_found(mt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def backward(ctx: Any, d: Any) -> Any:
        out = d.f.mul_zip(ctx.saved_values[0], d)
        out[1, 2] = out[1, 2] * 1.02
        return out

    monkeypatch.setattr(mt.Exp, "backward", staticmethod(backward))
    with pytest.raises(AssertionError, match=r"index \(1, 2\)"):
        mt.grad_check(lambda a: a.exp(), leaf(mt, 2, 3))


def test_a_missing_accumulation_is_found(mt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def last_only(variable: Any, deriv: Any) -> None:
        parts = {variable.unique_id: deriv}
        for node in sys.modules["minitorch.autodiff"].topological_sort(variable):
            if node.is_leaf():
                node.accumulate_derivative(parts[node.unique_id])
                continue
            parts.update({p.unique_id: d for p, d in node.chain_rule(parts[node.unique_id])})

    monkeypatch.setattr(sys.modules["minitorch.autodiff"], "backpropagate", last_only)
    with pytest.raises(AssertionError, match="central difference"):
        mt.grad_check(lambda a: a.exp() * a, leaf(mt, 2, 3))


def test_kinks_and_jumps_have_no_derivative_to_check(mt: Any) -> None:
    mt.grad_check(lambda a: a.relu(), mt.tensor([0.0, 1.0, -1.0]))
    mt.grad_check(lambda a, b: (a < b) + (a == b) + a, mt.tensor([1.0, 2.0]), mt.tensor([1.0, 3.0]))


@pytest.mark.parametrize("backend", ["numpy", "simple"])
def test_all_functions_pass(mt: Any, monkeypatch: pytest.MonkeyPatch, backend: str) -> None:
    monkeypatch.setenv("MINITORCH_BACKEND", backend)
    f = mt.TensorBackend(mt.SimpleOps)
    one, two, reduced = mt.MathTestVariable._tests()
    rng = np.random.default_rng(0)
    for _, function in one + reduced:
        mt.grad_check(function, mt.tensor_from_numpy(rng.uniform(-1, 1, (2, 3)), f))
    for _, function in two:
        for shapes in (((2, 3), (3,)), ((2, 1), (1, 3))):
            mt.grad_check(function, *[mt.tensor_from_numpy(rng.uniform(-1, 1, s), f) for s in shapes])


def expression(a: Any, b: Any, c: Any) -> Any:
    """A result that goes through broadcasting, matrix products, views, permutations and reductions."""
    h = (a @ b + c).tanh()
    h = h * h.sigmoid() / (c * c + 1.0)
    turned = h.permute(1, 0).contiguous().view(h.shape[0] * h.shape[1])
    return (turned * 2.0 - 1.0).exp() + turned


def test_an_expression_against_pytorch(mt: Any) -> None:
    import torch

    rng = np.random.default_rng(3)
    arrays = [rng.normal(size=s).astype(np.float32) for s in ((4, 3), (3, 5), (5,))]
    ours = [mt.tensor_from_numpy(x, requires_grad=True) for x in arrays]
    theirs = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in arrays]
    for arguments in (ours, theirs):
        expression(*arguments).sum().backward()
    for got, expected in zip(ours, theirs, strict=True):
        assert expected.grad is not None
        np.testing.assert_allclose(got.grad.to_numpy(), expected.grad.numpy(), rtol=1e-4, atol=1e-5)


def test_a_batched_product_that_broadcasts_against_pytorch(mt: Any) -> None:
    import torch

    rng = np.random.default_rng(4)
    arrays = [rng.normal(size=s).astype(np.float32) for s in ((2, 1, 4, 3), (5, 3, 2))]
    ours = [mt.tensor_from_numpy(x, requires_grad=True) for x in arrays]
    theirs = [torch.tensor(x, requires_grad=True) for x in arrays]
    pairs: list[list[Any]] = [ours, theirs]
    for a, b in pairs:
        (a @ b).sigmoid().sum().backward()
    for got, expected in zip(ours, theirs, strict=True):
        assert expected.grad is not None
        np.testing.assert_allclose(got.grad.to_numpy(), expected.grad.numpy(), rtol=1e-4, atol=1e-5)
