"""What the values of a wrong tensor have to do with the right ones: nothing added, `=` for `+=`, a factor, a shift …

Each pattern is a small function: given a wrong tensor it says what it sees, or None. The first that sees something
is told. All of them look at all cases in which the tensor is wrong, and at the wrong elements alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from grader.explain.factors import name_of
from grader.explain.indices import gathered, means_something, repeated, shifted, transposed
from grader.explain.nonfinite import Seen, not_finite, rubbish
from grader.explain.observed import Float, Observed
from grader.explain.wrong import WrongCase, WrongTensor

LEAST = 3  # wrong elements below which a factor says nothing
TINY = float(np.finfo(np.float32).tiny)  # float32 below it is denormal
TIMES = {"2": "twice", "1/2": "half of"}
CLOSE = 1e-3  # a factor is constant: spread over its size


@dataclass(frozen=True)
class Scene:
    """A wrong tensor, and what it can be compared with."""

    tensor: WrongTensor
    observed: Observed

    def others(self) -> Iterator[str]:
        """The other tensors of the check."""
        return (name for name in self.observed.tensors() if name != self.tensor.name)


Pattern = Callable[[Scene], Seen | None]


def pattern_of(scene: Scene) -> Seen | None:
    """The first pattern that is seen."""
    return next((seen for pattern in PATTERNS if (seen := pattern(scene)) is not None), None)


def _denormal(scene: Scene) -> Seen | None:
    def tiny(one: WrongCase) -> bool:
        values = np.abs(one.got[one.wrong])
        return bool((values < TINY).all() and (values > 0).any())

    if not scene.tensor.every(tiny):
        return None
    return Seen(
        "holds denormal numbers, next to nothing",
        "numbers like 1e-42 are whole numbers, or other bytes, read as floats",
    )


def _unchanged(scene: Scene) -> Seen | None:
    known = all(one.before is not None for one in scene.tensor.cases)
    if known and scene.tensor.every(lambda one: one.is_wrong_as(_given(one))):
        return Seen("holds what was there before the call: nothing is added", "which line writes to it?")
    if scene.tensor.every(lambda one: one.is_wrong_as(np.zeros_like(one.got))):
        return Seen("is zero", "is it written to at all?" if not known else "is it cleared, and by which line?")
    return None


def _given(one: WrongCase) -> Float:
    return one.got if one.before is None else np.asarray(one.before)


def _assigned(scene: Scene) -> Seen | None:
    if any(one.before is None for one in scene.tensor.cases):
        return None
    if scene.tensor.every(lambda one: one.is_wrong_as(one.right_change)):
        says = "is right but for what was in the buffer before, which is lost"
        return Seen(says, "a gradient is added to its buffer: is there a `=` where `+=` should be?")
    if scene.tensor.every(lambda one: one.is_wrong_as(one.expected + _given(one))):
        return Seen("has what was in the buffer before in it twice", "what is read from the buffer before it is added?")
    return None


def _negated(scene: Scene) -> Seen | None:
    if not scene.tensor.every(lambda one: one.is_changed_as(-one.right_change)):
        return None
    return Seen("has the wrong sign", "go through the signs of what is added there")


# ---- factors -----------------------------------------------------------------------------------------------


def _factor(scene: Scene) -> Seen | None:
    if scene.tensor.elements < LEAST:
        return None
    values = [_constant(one) for one in scene.tensor.cases]
    known = [value for value in values if value is not None]
    if len(known) < len(values) or any(abs(value - 1.0) < CLOSE for value in known):
        return None
    params = [one.case.params for one in scene.tensor.cases]
    negative = all(value < 0 for value in known)
    sizes = [abs(value) for value in known]
    name = name_of(sizes, params, scene.observed.assignment.factors)
    number = ", ".join(dict.fromkeys(f"{value:.4g}" for value in known))
    if not name and all(int(one.wrong.sum()) == 1 for one in scene.tensor.cases) and np.ptp(known) > CLOSE:
        return None  # any number is another times something
    sign = "minus " if negative else ""
    if name:
        says = f"is {sign}{TIMES.get(name, f'{name} times')} what it should be"
        return Seen(says, "where does that factor come in?", f"factor {number}")
    says = f"is off by a constant factor{' and has the wrong sign' if negative else ''}"
    return Seen(says, "which factor is missing, or there too often?", f"factor {number}")


def _constant(one: WrongCase) -> float | None:
    """The one factor of a case, if there is one."""
    change, right = one.change[one.wrong], one.right_change[one.wrong]
    weight = float((right * right).sum())
    if weight == 0.0:
        return None
    factor = float((change * right).sum()) / weight
    return factor if one.is_changed_as(factor * one.right_change) else None


def _factor_of_input(scene: Scene) -> Seen | None:
    """Each element lacks, or has once too often, the element of an input that belongs to it."""
    if scene.tensor.elements < LEAST:
        return None
    for name in _inputs_of_all(scene.tensor):
        if all(np.ptp(one.case.inputs()[name]) == 0.0 for one in scene.tensor.cases):
            continue  # a constant is no factor of an input
        for once_more, says in ((False, "lacks the factor `{}`"), (True, "has the factor `{}` once too often")):
            if scene.tensor.every(lambda one, n=name, more=once_more: _scaled(one, n, more)):  # type: ignore[misc]
                return Seen(says.format(name), f"where does `{name}` come in?")
    return None


def _inputs_of_all(tensor: WrongTensor) -> list[str]:
    """Inputs of floats that every case has, and that are not the buffer itself."""
    given = [one.case.inputs() for one in tensor.cases]
    floats = [n for n, value in given[0].items() if np.issubdtype(value.dtype, np.floating) and n != tensor.name]
    return [name for name in floats if all(name in inputs for inputs in given)]


def _scaled(one: WrongCase, name: str, once_more: bool) -> bool:
    factor = _alongside(one.case.inputs()[name].astype(np.float64), one.got.shape)
    if factor is None:
        return False
    with np.errstate(divide="ignore", invalid="ignore"):
        prediction = one.right_change * factor if once_more else one.right_change / factor
    return one.is_changed_as(prediction)


def _alongside(value: Float, shape: tuple[int, ...]) -> Float | None:
    """An input in the shape of the tensor: its first axes, or its last ones, or all."""
    if value.shape == shape:
        return value
    if value.ndim < len(shape) and value.shape == shape[: value.ndim]:
        return np.broadcast_to(value.reshape(value.shape + (1,) * (len(shape) - value.ndim)), shape)
    if value.ndim and value.shape == shape[len(shape) - value.ndim :]:
        return np.broadcast_to(value, shape)
    return None


# ---- places ------------------------------------------------------------------------------------------------


def _anothers(scene: Scene) -> Seen | None:
    """It holds what belongs to another tensor of the check."""
    for other in scene.others():
        if scene.tensor.every(lambda one, n=other: _is_other(one, n)):  # type: ignore[misc]
            return Seen(f"holds what belongs to {other}", "are two buffers, or two pointers, mixed up?")
    return None


def _is_other(one: WrongCase, name: str) -> bool:
    other = one.case.expected.get(name)
    if other is None or other.size != one.got.size or one.got.size < LEAST:
        return False
    right = other.astype(np.float64)
    given = one.case.inputs().get(name)
    if given is not None and given.shape == right.shape:
        right = right - given.astype(np.float64)
    right = right.reshape(one.got.shape)
    return means_something(one, right, one.wrong) and one.is_changed_as(right)


def _parts_mixed_up(scene: Scene) -> Seen | None:
    """The named parts of a tensor hold what belongs to one another."""
    axes = scene.tensor.cases[0].axes
    at = next((i for i, details in enumerate(axes.details) if details.names), None)
    if at is None or any(one.axes.shape[at] != axes.shape[at] for one in scene.tensor.cases):
        return None
    names, found = axes.details[at].names, []
    for mine in range(len(names)):
        for other in range(len(names)):
            if mine != other and scene.tensor.every(lambda one, a=mine, b=other: _part_is(one, at, a, b)):  # type: ignore[misc]
                found.append(f"{names[mine]} holds what belongs to {names[other]}")
    return Seen(f"is mixed up: {', '.join(found)}", "where does each part begin?") if found else None


def _part_is(one: WrongCase, at: int, mine: int, other: int) -> bool:
    """Whether a part of a tensor is wrong, and what was added to it belongs to another part."""
    right = one.right_change.reshape(one.axes.shape)
    shape = [1] * right.ndim
    shape[at] = right.shape[at]
    here = np.broadcast_to((np.arange(right.shape[at]) == mine).reshape(shape), right.shape)
    prediction = np.broadcast_to(right.take([other], at), right.shape)
    prediction, here = prediction.reshape(one.got.shape), here.reshape(one.got.shape)
    enough = means_something(one, prediction, here) or one.got.size <= LEAST
    return enough and one.is_changed_as(prediction, here)


def _offset(scene: Scene) -> Seen | None:
    """All wrong elements are off by one and the same number."""

    def same(one: WrongCase) -> bool:
        off = (one.got - one.expected)[one.wrong]
        return len(off) >= LEAST and bool(np.ptp(off) <= CLOSE * np.abs(off).max())

    if not scene.tensor.every(same):
        return None
    return Seen("is off by the same amount everywhere", "what is added to all elements alike?")


def _one_number(scene: Scene) -> Seen | None:
    def flat(one: WrongCase) -> bool:
        values = one.got[one.wrong]
        return len(values) >= LEAST and bool(np.ptp(values) <= CLOSE * np.abs(values).max())

    if not scene.tensor.every(flat):
        return None
    return Seen("holds one and the same number", "is anything written to it, and is the index used?")


def _of_scene(pattern: Callable[[WrongTensor], Seen | None]) -> Pattern:
    return lambda scene: pattern(scene.tensor)


PATTERNS: tuple[Pattern, ...] = (
    _of_scene(rubbish),
    _of_scene(not_finite),
    _denormal,
    _unchanged,
    _assigned,
    _negated,
    _factor,
    _factor_of_input,
    _of_scene(transposed),
    _parts_mixed_up,
    _anothers,
    _of_scene(gathered),
    _of_scene(repeated),
    _of_scene(shifted),
    _one_number,
    _offset,
)
