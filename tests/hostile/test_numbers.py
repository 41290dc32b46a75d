"""No tensor of the public fixtures can be passed with numbers that were not computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from grader import assignment as assignments
from grader import fixtures, tolerances
from grader.cases import Array
from grader.compare import compare

Float = NDArray[np.float64]
Spoil = Callable[[Float], Float]


class Expected(NamedTuple):
    """A tensor that a check compares element by element."""

    assignment: str
    check: str
    case: str
    name: str
    array: Array
    official: bool


def expected() -> Iterator[Expected]:
    for assignment_id in assignments.known_ids():
        assignment = assignments.load(assignment_id)
        public = fixtures.load(fixtures.set_folder(assignment_id, "public"))
        for check_id, check in assignment.checks.items():
            if check.derive:  # what is right depends on what was handed back
                continue
            for case in public.cases(check.cases_of or check_id):
                for name, array in case.expected.items():
                    if name not in check.context:
                        yield Expected(assignment_id, check_id, case.id, name, array, check.official)


def passes(tensor: Expected, got: Float) -> bool:
    limit = tolerances.load().limit(tensor.assignment, tensor.check, tensor.name, tensor.official)
    return compare(tensor.case, tensor.name, got, tensor.array, limit).ok


def everywhere(value: float) -> Spoil:
    return lambda right: np.full_like(right, value)


def in_one_place(value: float) -> Spoil:
    def spoil(right: Float) -> Float:
        spoiled = right.copy()
        spoiled.flat[-1] = value
        return spoiled

    return spoil


# What is never right, of any tensor.
NEVER: dict[str, Spoil] = {
    "NaN": everywhere(np.nan),
    "infinity": everywhere(np.inf),
    "minus infinity": everywhere(-np.inf),
    "one NaN": in_one_place(np.nan),
    "one infinity": in_one_place(np.inf),
    "the largest number": everywhere(float(np.finfo(np.float32).max)),
}
# What is right where the tensor itself is zero, and nowhere else; the handout's own limits let some of it pass.
UNLESS_ZERO: dict[str, Spoil] = {
    "zeros": everywhere(0.0),
    "the other sign": lambda right: -right,
    "twice": lambda right: 2 * right,
    "the smallest numbers": everywhere(1e-45),
}


def own_limits(tensor: Expected) -> bool:
    """Whether the tensor's limit is a measured one on its elements, and it has one that is not zero."""
    limit = tolerances.load().limit(tensor.assignment, tensor.check, tensor.name, tensor.official)
    return not tensor.official and limit.scale in ("max", "element") and bool(np.any(tensor.array))


@pytest.mark.parametrize("kind", NEVER)
def test_what_is_never_right(kind: str) -> None:
    passed = [t for t in expected() if t.array.size and passes(t, NEVER[kind](t.array.astype(np.float64)))]
    assert passed == []


@pytest.mark.parametrize("kind", UNLESS_ZERO)
def test_what_is_right_of_zeros_alone(kind: str) -> None:
    tensors = [t for t in expected() if own_limits(t)]
    assert len(tensors) > 100
    assert [t[:4] for t in tensors if passes(t, UNLESS_ZERO[kind](t.array.astype(np.float64)))] == []


def test_a_negative_zero_is_a_zero() -> None:
    zeros = [t for t in expected() if not np.any(t.array)]
    assert zeros
    assert [t[:4] for t in zeros if not passes(t, -0.0 * np.ones(t.array.shape))] == []


def test_what_is_right_passes() -> None:
    elementwise = [t for t in expected() if t.array.dtype == np.float64 and own_limits(t)]
    assert [t[:4] for t in elementwise if not passes(t, t.array.astype(np.float64))] == []
