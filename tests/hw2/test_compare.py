"""What equality cannot say: orders, bounds, spreads."""

from __future__ import annotations

import numpy as np
import pytest

from grader.compare import compare
from grader.tolerances import Limit

DIAMOND = np.array([(0, 0), (1, 1), (2, 2), (3, 3), (3, 1), (3, 2), (1, 0), (2, 0)])
ORDER = Limit(scale="order", rtol=0.0, atol=0.0, source="test")


@pytest.mark.parametrize("order", [[3, 1, 2, 0], [3, 2, 1, 0]])
def test_every_right_order_passes(order: list[int]) -> None:
    assert compare("c", "order", np.array(order), DIAMOND, ORDER).ok


@pytest.mark.parametrize(
    ("order", "says"),
    [
        ([0, 1, 2, 3], "comes after"),
        ([3, 1, 0, 2], "node 2 comes after node 0"),
        ([3, 1, 2, 2, 0], "2 times"),
        ([3, 1, 2], "node 0 is not in it"),
        ([3, 1, 2, 0, 4], "node 4 does not belong"),
        ([3, 1, 2, 0, -1], "not in the graph"),
        ([], "is not in it"),
    ],
)
def test_wrong_orders_are_told(order: list[int], says: str) -> None:
    found = compare("c", "order", np.array(order, np.int64), DIAMOND, ORDER)
    assert not found.ok
    assert found.reason == "order"
    assert says in found.note


@pytest.mark.parametrize(
    ("value", "ok"), [(1.0, True), (1.5, True), (2.1, False), (0.8, False), (np.nan, False), (np.inf, False)]
)
def test_between_takes_both_ends(value: float, ok: bool) -> None:
    limit = Limit(scale="between", rtol=0.0, atol=0.01, source="test")
    assert compare("c", "t", np.array([value]), np.array([[1.0, 2.0]]), limit).ok == ok


@pytest.mark.parametrize(("value", "ok"), [(0.75, True), (0.9, True), (0.7499, False), (np.nan, False)])
def test_at_least(value: float, ok: bool) -> None:
    limit = Limit(scale="at_least", rtol=0.0, atol=0.0, source="test")
    assert compare("c", "t", np.array([value]), np.array([0.75]), limit).ok == ok


def test_spread_knows_distributions_apart() -> None:
    rng = np.random.default_rng(1)
    limit, right = Limit(scale="spread", rtol=0.05, atol=0.0, source="test"), np.linspace(-1, 1, 5000)
    samples = {
        "same": rng.uniform(-1, 1, 5000),
        "normal": rng.normal(0, 0.577, 5000),
        "one-sided": rng.uniform(0, 1, 5000),
    }
    found = {name: compare("c", "t", sample, right, limit).ok for name, sample in samples.items()}
    assert found == {"same": True, "normal": False, "one-sided": False}
    assert not compare("c", "t", np.full(5000, np.nan), right, limit).ok
    assert not compare("c", "t", np.zeros(4999), right, limit).ok
