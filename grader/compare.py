"""Comparing a tensor with the expected one. The whole verdict on numbers is in this file.

Every test is written as ``within``, never as ``not beyond``: a NaN on either side makes it false, so that
neither a default nor a compiler's flag can turn a NaN into a pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grader.cases import Array
from grader.tolerances import Evidence as Measured
from grader.tolerances import Limit

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Worst:
    """The element that is furthest off: its index, both values, what was allowed there."""

    index: tuple[int, ...]
    got: float
    expected: float
    absolute: float
    relative: float
    allowed: float


@dataclass(frozen=True)
class Comparison:
    """What came of comparing one tensor of one case.

    Attributes:
        case: id of the case.
        tensor: name of the tensor.
        shape: the expected shape.
        ok: whether it is within the limit.
        reason: ``""``, ``missing``, ``shape``, ``type``, ``not finite``, ``order`` or ``differs``.
        error: the error in the limit's metric; inf where it cannot be told.
        limit: what the metric may be at most.
        worst: the element furthest off, if there is one.
        wrong: number of elements beyond the limit.
        size: number of elements.
        layers: the layers (first axis) in which elements are beyond it, for tensors that have layers.
        note: for ``shape``, ``type`` and ``order``: what was found.
        of_allowed: whether the error is the largest share of what is allowed at an element; then the limit is 1.
        rule: the limit that it was compared under.
    """

    case: str
    tensor: str
    shape: tuple[int, ...]
    ok: bool
    reason: str
    error: float
    limit: float
    worst: Worst | None = None
    wrong: int = 0
    size: int = 0
    layers: tuple[int, ...] = ()
    note: str = ""
    of_allowed: bool = False
    rule: Limit | None = None

    @property
    def evidence(self) -> Measured | None:
        """What was measured of the limit, where that is in the metric of this error."""
        if self.rule is None or self.reason in ("missing", "shape", "type"):
            return None
        usual = {"max": self.rule.rtol, "spread": self.rule.rtol, "element": 1.0, "absolute": self.rule.atol}.get(
            self.rule.scale
        )
        return self.rule.evidence if usual == self.limit else None


def allowed_error(expected: Float, limit: Limit) -> Float:
    """The absolute error allowed at each element, in the shape of ``expected``."""
    if limit.scale == "element":
        return limit.atol + limit.rtol * np.abs(expected)
    if limit.scale == "absolute":
        return np.full(expected.shape, limit.atol)
    largest = float(np.abs(expected).max(initial=0.0))
    return np.full(expected.shape, max(limit.rtol * largest, limit.atol))


def metric(error: Float, expected: Float, limit: Limit) -> tuple[float, float]:
    """The error and the bound in the limit's own metric (relative to the largest element for ``max``)."""
    largest_error = float(error.max(initial=0.0))
    if limit.scale == "max":
        largest = float(np.abs(expected).max(initial=0.0))
        if largest > 0 and limit.rtol * largest >= limit.atol:
            return largest_error / largest, limit.rtol
        return largest_error, limit.atol
    if limit.scale == "element":
        allowed = allowed_error(expected, limit)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(error == 0, 0.0, error / allowed)
        return float(ratio.max(initial=0.0)), 1.0
    return largest_error, limit.atol


def compare(
    case: str, tensor: str, got: Array | None, expected: Array, limit: Limit, layered: bool = False
) -> Comparison:
    """Compares ``got`` with ``expected`` under ``limit``; shapes and types first, then every element."""

    def failed(reason: str, note: str = "") -> Comparison:
        return Comparison(case, tensor, expected.shape, False, reason, math.inf, max(limit.rtol, limit.atol), note=note)

    if got is None:
        return failed("missing")
    if got.dtype not in (np.float32, np.float64, np.int32, np.int64):
        return failed("type", str(got.dtype))
    if limit.scale in BEYOND_EQUALITY:
        return BEYOND_EQUALITY[limit.scale](case, tensor, got.astype(np.float64), expected, limit)
    if got.shape != expected.shape:
        return failed("shape", str(list(got.shape)))
    return _elements(case, tensor, got.astype(np.float64), expected.astype(np.float64), limit, layered)


def _elements(case: str, tensor: str, got: Float, expected: Float, limit: Limit, layered: bool) -> Comparison:
    allowed = allowed_error(expected, limit)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(got - expected)
    within = error <= allowed  # false where either is NaN or the difference is infinite
    finite = np.isfinite(got)
    within &= finite & np.isfinite(expected)  # an infinite bound would let anything pass
    wrong = int(within.size - np.count_nonzero(within))
    reason = "" if wrong == 0 else ("differs" if finite.all() else "not finite")
    value, bound = metric(np.where(np.isfinite(error), error, 0.0), expected, limit)
    return Comparison(
        case=case,
        tensor=tensor,
        shape=expected.shape,
        ok=wrong == 0,
        reason=reason,
        error=value if finite.all() else math.inf,
        limit=bound,
        worst=_worst(got, expected, error, allowed, within) if expected.size else None,
        wrong=wrong,
        size=int(expected.size),
        layers=_layers(within) if layered else (),
        of_allowed=limit.scale == "element",
    )


def _worst(got: Float, expected: Float, error: Float, allowed: Float, within: NDArray[np.bool_]) -> Worst:
    finite = np.isfinite(got)
    if finite.all():
        with np.errstate(invalid="ignore"):
            excess = error - allowed
        index = np.unravel_index(int(np.argmax(np.where(within.all() | ~within, excess, -np.inf))), error.shape)
    else:  # the first one that is not finite says most
        index = np.unravel_index(int(np.argmax(~finite)), error.shape)
    place = tuple(int(i) for i in index)
    off, right = float(error[place]), float(expected[place])
    relative = off / abs(right) if right != 0 else math.inf if off else 0.0
    return Worst(place, float(got[place]), right, off, relative, float(allowed[place]))


def _layers(within: NDArray[np.bool_]) -> tuple[int, ...]:
    per_layer = within.reshape(within.shape[0], -1).all(axis=1)
    return tuple(int(layer) for layer in np.flatnonzero(~per_layer))


# ---- what equality cannot say ------------------------------------------------------------------------------


def order_problem(order: list[int], rows: list[tuple[int, int]]) -> str:
    """What is wrong with a list of nodes, in one sentence; empty if nothing is. See `Limit` for the rows."""
    required = {a for a, b in rows if a == b}
    place = {node: i for i, node in enumerate(order)}
    if strange := [node for node in order if node not in required]:
        return f"node {strange[0]} does not belong in it" if strange[0] >= 0 else "it holds what is not in the graph"
    if len(place) < len(order):
        twice = next(node for node in order if order.count(node) > 1)
        return f"node {twice} is in it {order.count(twice)} times"
    if lacking := sorted(required - set(order)):
        return f"node {lacking[0]} is not in it ({len(lacking)} of {len(required)} are missing)"
    wrong = next(((a, b) for a, b in rows if a != b and not place[a] < place[b]), None)
    return "" if wrong is None else f"node {wrong[0]} comes after node {wrong[1]}, which it was computed from"


def _order(case: str, tensor: str, got: Float, expected: Array, limit: Limit) -> Comparison:
    whole = np.isfinite(got).all() and got.ndim == 1
    order = [int(node) for node in got] if whole else [-1]
    problem = order_problem(order, [(int(a), int(b)) for a, b in expected.reshape(-1, 2)])
    size = len({int(a) for a, b in expected.reshape(-1, 2) if a == b})
    return Comparison(
        case, tensor, (size,), not problem, "order" if problem else "", 0.0, limit.rtol, size=size, note=problem
    )


def _between(case: str, tensor: str, got: Float, expected: Array, limit: Limit) -> Comparison:
    bounds = expected.astype(np.float64)
    if got.shape != bounds.shape[:-1]:
        return Comparison(
            case, tensor, bounds.shape[:-1], False, "shape", math.inf, limit.atol, note=str(list(got.shape))
        )
    return _elements(case, tensor, got, np.clip(got, bounds[..., 0], bounds[..., 1]), _absolute(limit), False)


def _at_least(case: str, tensor: str, got: Float, expected: Array, limit: Limit) -> Comparison:
    least = expected.astype(np.float64)
    if got.shape != least.shape:
        return Comparison(case, tensor, least.shape, False, "shape", math.inf, limit.atol, note=str(list(got.shape)))
    return _elements(case, tensor, np.minimum(got, least), least, _absolute(limit), False)


def _spread(case: str, tensor: str, got: Float, expected: Array, limit: Limit) -> Comparison:
    if got.shape != expected.shape:
        return Comparison(case, tensor, expected.shape, False, "shape", math.inf, limit.rtol, note=str(list(got.shape)))
    right = _moments(expected.astype(np.float64))
    return _elements(case, tensor, _moments(got), right, limit.model_copy(update={"scale": "max"}), False)


def _moments(sample: Float) -> Float:
    """Mean, root mean square, largest magnitude."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.array([sample.mean(), np.sqrt((sample * sample).mean()), np.abs(sample).max()])


def _absolute(limit: Limit) -> Limit:
    return limit.model_copy(update={"scale": "absolute"})


BEYOND_EQUALITY: dict[str, Callable[[str, str, Float, Array, Limit], Comparison]] = {
    "order": _order,
    "between": _between,
    "at_least": _at_least,
    "spread": _spread,
}
