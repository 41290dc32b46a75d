"""Tensors of any kind and value: an explanation never ends a grading, and never takes long."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.cases import Array
from grader.explain.levels import Level
from tests.grader.explain.support import explained, public_set

CHECKS = {
    "A2": ["encoder_backward", "attention_backward", "crossentropy_softmax_backward", "gpt2_backward", "gpt2_update"],
    "HW2": ["gradients", "topological_sort", "linear_forward", "linear_init", "loss"],
}
EXTREMES = [np.nan, np.inf, -np.inf, 0.0, -0.0, 3.4e38, 1e-45, 1.0, -1.0]
SHAPES: list[tuple[int, ...]] = [(), (0,), (1,), (3,), (2, 3, 4), (1, 1, 1, 1, 1)]


def hostile(rng: np.random.Generator, right: Array) -> Array:
    """A tensor as nobody means it, or the right one."""
    kind = rng.integers(6)
    if kind == 0:
        return right
    if kind == 1:
        return rng.choice(EXTREMES, right.shape)
    if kind == 2:
        return np.where(rng.random(right.shape) < 0.2, rng.choice(EXTREMES, right.shape), right)
    if kind == 3:
        return rng.choice(EXTREMES, SHAPES[rng.integers(len(SHAPES))])
    if kind == 4:
        return rng.integers(-(2**31), 2**31, right.shape)
    return np.full(right.shape, rng.choice(EXTREMES))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("assignment", "check"), [(name, check) for name, own in CHECKS.items() for check in own])
def test_any_tensor(assignment: str, check: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    level: Level = "full" if seed % 2 else "where"
    got: dict[str, dict[str, Any]] = {}
    for case in public_set(assignment).cases(check):
        got[case.id] = {name: hostile(rng, value) for name, value in case.expected.items()}
    with np.errstate(all="ignore"):
        found = explained(assignment, check, got, level)
    assert len(found.explanations) <= 20
    assert all(one.text.isprintable() for one in found.explanations)
