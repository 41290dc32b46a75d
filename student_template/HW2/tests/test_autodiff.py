"""`topological_sort` and `backpropagate`: run with ``-k autodiff``."""

import random
from collections import Counter
from collections.abc import Callable

import minitorch
import pytest
from minitorch import MathTestVariable, Tensor, assert_close, grad_check

ONE, TWO, REDUCED = MathTestVariable._tests()


def leaf(*shape: int) -> Tensor:
    """A leaf with random elements between 0.2 and 1.2, away from kinks and poles."""
    out = minitorch.rand(shape) + 0.2
    out.requires_grad_(True)
    return out


@pytest.fixture(autouse=True)
def _seed() -> None:
    random.seed(7)


def check_order(root: Tensor, leaves: int, results: int) -> None:
    """Check that the order holds each variable once, every one before its parents, and no constant."""
    order = list(minitorch.topological_sort(root))
    assert not any(v.is_constant() for v in order), "a constant is in the order"
    place = {v.unique_id: i for i, v in enumerate(order)}
    assert len(place) == len(order), "a variable is in the order twice"
    assert sum(v.is_leaf() for v in order) == leaves
    assert len(order) == leaves + results
    assert place[root.unique_id] == 0
    for v in order:
        if not v.is_leaf():
            for parent in v.parents:
                if not parent.is_constant():
                    assert place[v.unique_id] < place[parent.unique_id], "a variable comes after its parent"


def test_order_of_a_chain() -> None:
    x = leaf(2)
    check_order(x.exp().sigmoid().log(), leaves=1, results=3)


def test_order_of_a_diamond() -> None:
    x = leaf(2)
    a = x.exp()
    check_order(a.sigmoid() * a.log(), leaves=1, results=4)


def test_order_with_a_short_and_a_long_way() -> None:
    x = leaf(2)
    check_order(x + x.exp().exp().exp(), leaves=1, results=4)


def test_order_of_a_value_used_twice_in_one_operation() -> None:
    x = leaf(2)
    check_order(x * x, leaves=1, results=1)


def test_order_leaves_constants_out() -> None:
    x, c = leaf(2), minitorch.rand((2,))
    check_order(3.0 * (x * c.exp()) + 1.5, leaves=1, results=3)


def test_order_of_many_leaves() -> None:
    total = leaf(2)
    for _ in range(9):
        total = total + leaf(2)
    check_order(total, leaves=10, results=9)


def test_order_of_a_deep_graph() -> None:
    x = leaf(1)
    y = x
    for _ in range(400):
        y = y * 0.99
    check_order(y, leaves=1, results=400)


def test_derivatives_by_hand() -> None:
    x, y = minitorch.tensor([3.0], requires_grad=True), minitorch.tensor([0.5], requires_grad=True)
    (x * x * y + 4.0 * y).backward()
    assert_close(x.grad, [3.0])
    assert_close(y.grad, [13.0])


def test_derivatives_of_a_shared_result_are_summed_before_they_go_on() -> None:
    x = minitorch.tensor([0.5], requires_grad=True)
    a = x * x
    (a * a + a * 3.0).backward()
    assert_close(x.grad, [(2 * 0.25 + 3) * 1.0])


def test_two_backward_calls_add_up() -> None:
    x = leaf(3)
    (x * x).sum().backward()
    once = x.grad.to_numpy()
    (x * x).sum().backward()
    assert_close(x.grad, 2 * once)


def test_results_and_constants_gather_no_derivative() -> None:
    x, c = leaf(2), minitorch.rand((2,))
    a = x * c
    a.sum().backward()
    assert a.grad is None
    assert c.grad is None


def test_an_unconnected_leaf_has_no_derivative() -> None:
    x, other = leaf(2), leaf(2)
    x.exp().sum().backward()
    assert other.grad is None


def test_each_chain_rule_is_used_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Counter[int] = Counter()
    original = Tensor.chain_rule

    def counted(self: Tensor, d_output: Tensor) -> object:
        calls[self.unique_id] += 1
        return original(self, d_output)

    monkeypatch.setattr(Tensor, "chain_rule", counted)
    x = minitorch.tensor([1.0], requires_grad=True)
    y = x
    for _ in range(8):
        y = y * 0.5 + y * 0.25
    y.backward()
    assert set(calls.values()) == {1}
    assert_close(x.grad, [0.75**8])


@pytest.mark.parametrize(("name", "f"), ONE + REDUCED)
def test_derivative_of_one_argument(name: str, f: Callable[[Tensor], Tensor]) -> None:
    grad_check(f, leaf(3, 4))


@pytest.mark.parametrize(("name", "f"), TWO)
def test_derivative_of_two_arguments(name: str, f: Callable[[Tensor, Tensor], Tensor]) -> None:
    grad_check(f, leaf(3, 4), leaf(3, 4))


@pytest.mark.parametrize("shapes", [((3, 4), (4,)), ((3, 1), (1, 4)), ((1,), (2, 3)), ((2, 3, 4), (3, 1))])
@pytest.mark.parametrize(("name", "f"), TWO)
def test_derivative_with_broadcasting(
    name: str, f: Callable[[Tensor, Tensor], Tensor], shapes: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    grad_check(f, leaf(*shapes[0]), leaf(*shapes[1]))


def test_derivative_of_a_permuted_view() -> None:
    grad_check(lambda a: a.permute(2, 0, 1).contiguous().view(6, 4).exp(), leaf(2, 3, 4))


def test_derivative_of_a_matrix_product() -> None:
    grad_check(lambda a, b: (a @ b).sigmoid(), leaf(3, 4), leaf(4, 2))


def test_derivative_of_softmax_and_dropout() -> None:
    grad_check(lambda a: minitorch.softmax(a, 1) * minitorch.logsoftmax(a, 0), leaf(3, 4))
    grad_check(lambda a: minitorch.dropout(a.exp(), 0.5), leaf(3, 4))
