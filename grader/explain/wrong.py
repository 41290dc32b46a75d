"""One wrong tensor: in each case, which elements are wrong and what they hold; patterns are looked for in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grader.cases import Array
from grader.compare import allowed_error
from grader.explain.axes import Axes, axes_of
from grader.explain.observed import ELEMENTWISE, EQUALITIES, CaseSeen, Float, Observed
from grader.tolerances import Limit

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class WrongCase:
    """A wrong tensor in one case, in float64, all arrays in its shape.

    Attributes:
        case: the case.
        axes: its axes, divided.
        got: what was handed back.
        expected: what is right.
        before: what its buffer held before the call; None where that is not known.
        wrong: which elements are beyond their limit.
        limit: its limit.
    """

    case: CaseSeen
    axes: Axes
    got: Float
    expected: Float
    before: Float | None
    wrong: Mask
    limit: Limit

    @property
    def change(self) -> Float:
        """What was added to the buffer, as far as that is known."""
        return self.got if self.before is None else self.got - self.before

    @property
    def right_change(self) -> Float:
        """What should have been added."""
        return self.expected if self.before is None else self.expected - self.before

    @property
    def mute(self) -> Mask:
        """The elements that are right, and to which next to nothing was to be added: a wrong factor does not show."""
        with np.errstate(invalid="ignore"):
            nothing: Mask = np.abs(self.right_change) <= allowed_error(self.expected, self.limit)
        return nothing & ~self.wrong & (self.before is not None or self.limit.scale != "absolute")

    @property
    def divided(self) -> Mask:
        """The wrong elements in the shape of the divided axes."""
        return self.wrong.reshape(self.axes.shape)

    def is_wrong_as(self, prediction: Float, where: Mask | None = None) -> bool:
        """Whether the wrong elements (of those in ``where``) are what is predicted for them, within the limit."""
        looked_at = self.wrong if where is None else self.wrong & where
        values, got = prediction[looked_at], self.got[looked_at]
        if not np.isfinite(values).all():
            return False
        allowed = allowed_error(self.expected, self.limit)[looked_at]
        if self.limit.scale != "absolute":
            allowed = np.maximum(allowed, allowed_error(values, self.limit))
        with np.errstate(invalid="ignore", over="ignore"):
            return bool((np.abs(got - values) <= allowed).all())

    def is_changed_as(self, prediction: Float, where: Mask | None = None) -> bool:
        """The same, of what was added."""
        return self.is_wrong_as(prediction if self.before is None else prediction + self.before, where)


@dataclass(frozen=True)
class WrongTensor:
    """A wrong tensor in all cases in which it is wrong; ``right``: those in which it is right."""

    name: str
    cases: tuple[WrongCase, ...]
    right: tuple[CaseSeen, ...]
    public: bool

    @property
    def elements(self) -> int:
        """How many elements are wrong in all."""
        return sum(int(one.wrong.sum()) for one in self.cases)

    def every(self, holds: Callable[[WrongCase], bool]) -> bool:
        """Whether something holds in every case."""
        return all(holds(one) for one in self.cases)


def wrong_tensor(observed: Observed, tensor: str, reasons: Mapping[str, str], public: bool) -> WrongTensor | None:
    """A wrong tensor whose values can be looked at; None for one of another shape, or judged by no value.

    Args:
        observed: the check.
        tensor: its name.
        reasons: case → why it is wrong there.
        public: whether indices and numbers may be told.
    """
    limit = observed.limits[tensor]
    if limit.scale not in EQUALITIES:
        return None
    found = [
        _wrong_case(observed, observed.cases[name], tensor, limit)
        for name, reason in reasons.items()
        if reason in ELEMENTWISE
    ]
    right = [case for name, case in observed.cases.items() if name not in reasons and tensor in case.expected]
    return WrongTensor(tensor, tuple(found), tuple(right), public) if found else None


def _wrong_case(observed: Observed, case: CaseSeen, tensor: str, limit: Limit) -> WrongCase:
    got, expected = (np.asarray(side[tensor], dtype=np.float64) for side in (case.got, case.expected))
    with np.errstate(invalid="ignore", over="ignore"):
        within = (np.abs(got - expected) <= allowed_error(expected, limit)) & np.isfinite(got)
    axes = axes_of(observed.assignment, observed.check_id, tensor, expected.shape, case.params)
    before = _before(case.inputs().get(tensor), expected) if observed.assignment.buffers else None
    return WrongCase(case, axes, got, expected, before, ~within, limit)


def _before(given: Array | None, expected: Float) -> Float | None:
    """What was in the buffer: the input of the same name; where results have one axis more in front, at its start."""
    if given is None or np.issubdtype(given.dtype, np.integer):
        return None
    if given.shape == expected.shape or given.shape == expected.shape[1:]:
        return np.broadcast_to(given.astype(np.float64), expected.shape)
    return None
