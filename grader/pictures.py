"""Pictures of tensors for the report: bounded in size, in letters, with no value that could be read off exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from grader.assignment import Check
from grader.cases import NUMBERS, Array
from grader.compare import Comparison, allowed_error
from grader.result import LEVELS, NOT_FINITE, Picture, Series
from grader.tolerances import Limit

if TYPE_CHECKING:
    from grader.judge import Judged

Float = NDArray[np.float64]

MOST_ROWS, MOST_COLUMNS = 32, 48  # cells
MOST_POINTS = 200  # of a series
TOP = len(LEVELS) // 2  # the highest level; the letter in the middle is level 0
PER_DECADE = 2  # levels of `off` for each factor of ten beyond the limit


def picture(
    got: Array, expected: Array, limit: Limit, axes: Sequence[str], parts: Sequence[list[str]]
) -> Picture | None:
    """A wrong tensor as its expected values, what it was, and how far off it is.

    The last axis runs across, the others down, in cells of equal size; each shows its worst element.

    Args:
        got: what was handed back.
        expected: what is right, of the same shape.
        limit: what is allowed, element by element.
        axes: the names of the axes.
        parts: for each axis the names of its equal parts; none where it has none.

    Returns:
        None for a tensor of another shape, of no real numbers, of less than two elements, or under a limit that
        equality cannot state.
    """
    shown = got.shape == expected.shape and got.dtype.kind in NUMBERS
    if not shown or expected.size < 2 or limit.scale not in ("max", "element", "absolute"):
        return None
    columns = expected.shape[-1] if expected.ndim else 1
    right, mine = (a.reshape(-1, columns).astype(np.float64) for a in (expected, got))
    tall, wide = (math.ceil(n / most) for n, most in zip(right.shape, (MOST_ROWS, MOST_COLUMNS), strict=True))
    scale = float(np.abs(right).max(initial=0.0))
    allowed = allowed_error(right, limit)
    bands = [
        _band(mine[top : top + tall], right[top : top + tall], allowed[top : top + tall], scale, wide)
        for top in range(0, len(right), tall)
    ]
    known = len(axes) == expected.ndim
    names = list(axes) if known else [f"axis {i}" for i in range(expected.ndim)]
    return Picture(
        axes=names,
        parts=parts[-1] if known and parts else [],
        row_parts=parts[-2] if known and len(parts) > 1 else [],
        rows=len(right),
        columns=columns,
        tall=tall,
        wide=wide,
        expected=[band[0] for band in bands],
        got=[band[1] for band in bands],
        off=[band[2] for band in bands],
    )


def _band(got: Float, expected: Float, allowed: Float, scale: float, wide: int) -> tuple[str, str, str]:
    """One row of cells: expected, got, off, a letter for each cell."""
    with np.errstate(all="ignore"):
        off = np.where(got == expected, 0.0, (got - expected) / allowed)
    off[np.isnan(off) | ~np.isfinite(got)] = np.nan
    worst = np.where(np.isnan(off), np.inf, np.abs(off))
    cells = _in_cells(worst, wide).argmax(axis=1)
    right, mine, far = (_in_cells(a, wide)[np.arange(len(cells)), cells] for a in (expected, got, off))
    return _letters(_level(right, scale)), _letters(_level(mine, scale)), _letters(_decades(far))


def _in_cells(band: Float, wide: int) -> Float:
    """A band ``[tall, columns]`` by its cells: ``[cells, tall * wide]``, the last one filled up."""
    lacking = -band.shape[1] % wide
    padded = np.pad(band, ((0, 0), (0, lacking)), mode="edge")
    return padded.reshape(len(band), -1, wide).swapaxes(0, 1).reshape(padded.shape[1] // wide, -1)


def _letters(levels: Float) -> str:
    """A letter for each level; NaN is not finite."""
    return "".join(NOT_FINITE if math.isnan(level) else LEVELS[int(level) + TOP] for level in levels.tolist())


def _level(values: Float, scale: float) -> Float:
    """By the root of the share of the largest expected magnitude, so that small values are seen too."""
    with np.errstate(all="ignore"):
        share = np.minimum(np.abs(values) / scale, 1.0) if scale else (values != 0).astype(np.float64)
    return np.where(np.isfinite(values), np.round(np.copysign(TOP * np.sqrt(share), values)), np.nan)


def _decades(off: Float) -> Float:
    """By the decades beyond what is allowed; 0 within it."""
    size = np.clip(np.abs(off), 1.0, 1e300)
    level = np.minimum(1 + np.floor(PER_DECADE * np.log10(size)), TOP)
    return np.where(np.abs(off) <= 1, 0.0, np.copysign(level, off))


def picture_of(
    comparison: Comparison, judged: Judged, axes: Sequence[str], parts: Sequence[list[str]]
) -> Picture | None:
    """The picture of a comparison that failed, where there is something to see."""
    got = judged.tensors.get(comparison.case, {}).get(comparison.tensor)
    expected = judged.expected.get(comparison.case, {}).get(comparison.tensor)
    if comparison.ok or comparison.rule is None or got is None or expected is None:
        return None
    return picture(got, expected, comparison.rule, axes, parts)


def curves(check: Check, judged: Judged) -> list[Series]:
    """The curves that a check shows, as far as their tensors were handed back: those of its first case."""
    case = next(iter(judged.tensors), "")
    got, expected = judged.tensors.get(case, {}), judged.expected.get(case, {})
    found = []
    for curve in check.curves:
        if curve.tensor in got and got[curve.tensor].dtype.kind in NUMBERS:
            bar = float(check.options[curve.bar]) if curve.bar else None
            mine, right = got[curve.tensor], expected.get(curve.tensor)
            found.append(series(curve.title, curve.across, curve.first, mine, right, bar))
    return found


def series(title: str, across: str, first: int, got: Array, expected: Array | None, bar: float | None) -> Series:
    """Values over steps, thinned out where there are many."""
    count = max(got.size, 0 if expected is None else expected.size)
    every = max(1, math.ceil(count / MOST_POINTS))
    return Series(
        title=title,
        across=across,
        first=first,
        every=every,
        got=_thinned(got, every),
        expected=[] if expected is None else _thinned(expected, every),
        bar=bar,
    )


def _thinned(values: Array, every: int) -> list[float | None]:
    flat = values.reshape(-1)[::every].astype(np.float64)
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in flat.tolist()]
