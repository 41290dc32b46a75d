"""Patterns of a lost or mistaken index: values that stand elsewhere, or that went to one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from grader.compare import allowed_error
from grader.explain.nonfinite import Seen
from grader.explain.observed import Float
from grader.explain.wrong import Mask, WrongCase, WrongTensor

LEAST = 3  # elements, or rows, below which an index says nothing


def means_something(one: WrongCase, prediction: Float, where: Mask) -> bool:
    """Whether a prediction of a change is more than nothing at enough of the wrong elements."""
    with np.errstate(invalid="ignore"):
        more = np.abs(prediction) > allowed_error(one.expected, one.limit)
    return int((more & where & one.wrong).sum()) >= LEAST


def transposed(tensor: WrongTensor) -> Seen | None:
    """Its two last axes are changed about."""

    def turned(one: WrongCase) -> bool:
        right = one.right_change
        if right.ndim < 2 or min(right.shape[-2:]) < 2:
            return False
        return one.is_changed_as(np.swapaxes(right, -1, -2).reshape(right.shape))

    if not tensor.every(turned):
        return None
    return Seen("is transposed", "which of its two indices comes first in memory?")


def shifted(tensor: WrongTensor) -> Seen | None:
    """Each element stands one place too late, or too early, along an axis."""
    first = tensor.cases[0]
    for by, says in ((1, "one place too late"), (-1, "one place too early")):
        for axis in range(first.got.ndim):
            if tensor.every(_is_rolled(axis, by)):
                name = first.axes.names[axis] if first.axes.shape == first.got.shape else ""
                along = f" along {name}" if name else ""
                return Seen(f"is shifted: each element stands {says}{along}", "an index is off by one")
    return None


def _is_rolled(axis: int, by: int) -> Callable[[WrongCase], bool]:
    def rolled(one: WrongCase) -> bool:
        size = one.got.shape[axis]
        if size < LEAST:
            return False
        inside = np.ones(one.got.shape, dtype=bool)
        inside.swapaxes(0, axis)[0 if by > 0 else size - 1] = False
        moved = np.roll(one.right_change, by, axis)
        return means_something(one, moved, inside) and one.is_changed_as(moved, inside)

    return rolled


def _as_tables(one: WrongCase) -> Iterator[tuple[str, Callable[[Float], Float]]]:
    """Ways to see a tensor as rows: its leading axes against the last one, and the other way round."""
    if one.got.ndim == 0 or one.got.size == 0:
        return
    width = one.got.shape[-1]
    if one.got.ndim > 1:
        yield "row", lambda value: value.reshape(-1, width)
    yield "column", lambda value: value.reshape(-1, width).T


def gathered(tensor: WrongTensor) -> Seen | None:
    """All of it was added to one row, or one column, and the others got nothing."""
    for at, kind in enumerate(("row", "column")):
        if tensor.every(lambda one, n=kind: _is_gathered(one, n)):  # type: ignore[misc]
            names = tensor.cases[0].axes.names
            what = f"one {kind}" if not names[-1] or at == 0 else f"one {names[-1]}"
            return Seen(
                f"gets everything in {what}, and nothing elsewhere",
                "which index is missing where it is written to?",
            )
    return None


def _is_gathered(one: WrongCase, kind: str) -> bool:
    table = dict(_as_tables(one)).get(kind)
    if table is None or not np.isfinite(one.change).all():
        return False
    change, right = table(one.change), table(one.right_change)
    allowed = float(allowed_error(right, one.limit).max(initial=0.0)) * len(right)
    filled = np.flatnonzero(np.abs(change).max(1) > allowed)
    if len(right) < LEAST or len(filled) != 1:
        return False
    return bool((np.abs(change[filled[0]] - right.sum(0)) <= allowed).all())


def repeated(tensor: WrongTensor) -> Seen | None:
    """Each row is changed alike, where the right changes differ: what is read does not depend on the row."""
    if not tensor.every(_is_repeated):
        return None
    return Seen("is changed alike in every row", "which index is missing in what is read?")


def _is_repeated(one: WrongCase) -> bool:
    table = dict(_as_tables(one)).get("row")
    if table is None or not np.isfinite(one.change).all():
        return False
    change, right = table(one.change), table(one.right_change)
    allowed = float(allowed_error(right, one.limit).max(initial=0.0))
    touched = np.flatnonzero(np.abs(right).max(1) > allowed)
    if len(touched) < LEAST or np.ptp(right[touched], axis=0).max() <= allowed:
        return False
    alike = np.ptp(change[touched], axis=0).max() <= 2 * allowed
    return bool(alike and np.abs(change[touched]).max() > allowed)
