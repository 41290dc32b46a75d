"""The strips and curves of the HTML report, as numbers and path data for its SVG templates; lengths in CSS pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from grader.result import Evidence, Series

WIDTH = 360  # of a strip and of a curve: what a phone has room for


def number(value: float | None) -> str:
    """A number in few characters: ``2.2e-7``."""
    if value is None:
        return "not finite"
    text = f"{value:.3g}"
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if e else text


# ---- the tolerance strip -----------------------------------------------------------------------------------

MARGIN = 16  # left and right of the axis: half a label
DECADES_AROUND = 1
DECADES_BEYOND = 4  # an error further off stands at the end


@dataclass(frozen=True)
class Strip:
    """A logarithmic axis with the largest honest error, the limit, the smallest wrong one, and the student's."""

    honest: float | None
    limit: float
    wrong: float | None
    yours: float
    ticks: list[tuple[float, str]]
    start: float
    end: float
    said: str


def strip(evidence: Evidence) -> Strip | None:
    """The strip of a compared tensor; None where there is no limit to draw (an exact one, or no comparison)."""
    if evidence.limit <= 0 or evidence.reason in ("missing", "shape", "type", "order"):
        return None
    low, high = _decades(evidence)

    def place(value: float) -> float:
        power = math.log10(value) if value > 0 else low
        return round(MARGIN + (min(max(power, low), high) - low) / (high - low) * (WIDTH - 2 * MARGIN), 1)

    step = math.ceil((high - low) / 7)
    return Strip(
        honest=place(evidence.honest) if evidence.honest else None,
        limit=place(evidence.limit),
        wrong=place(evidence.weakest_wrong) if evidence.weakest_wrong else None,
        yours=WIDTH - MARGIN if evidence.error is None else place(evidence.error),
        ticks=[(place(10.0**power), f"1e{power}") for power in range(low, high + 1, step)],
        start=MARGIN,
        end=WIDTH - MARGIN,
        said=_said(evidence),
    )


def _decades(evidence: Evidence) -> tuple[int, int]:
    """The powers of ten that the strip runs between: around what is known, and as far as the error, within reason."""
    fixed = [math.log10(v) for v in (evidence.limit, evidence.honest, evidence.weakest_wrong) if v]
    low, high = min(fixed), max(fixed)
    if evidence.error is not None and evidence.error > 0:
        power = math.log10(evidence.error)
        low, high = min(low, max(power, low - DECADES_BEYOND)), max(high, min(power, high + DECADES_BEYOND))
    return math.floor(low) - DECADES_AROUND, math.ceil(high) + DECADES_AROUND


def _said(evidence: Evidence) -> str:
    """The strip in words."""
    parts = [f"error {number(evidence.error)}", f"limit {number(evidence.limit)}"]
    if evidence.honest:
        parts.append(f"largest error of right code {number(evidence.honest)}")
    if evidence.weakest_wrong:
        parts.append(f"smallest error of a known mistake {number(evidence.weakest_wrong)}")
    return ", ".join(parts)


# ---- curves ------------------------------------------------------------------------------------------------

HEIGHT = 190
LEFT, RIGHT, TOP, BOTTOM = 44, 10, 10, 26
TICKS = 4


@dataclass(frozen=True)
class Curve:
    """A series as a line chart."""

    got: str
    dots: list[tuple[float, float]]
    expected: str
    bar: float | None
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]


def curve(series: Series) -> Curve | None:
    """The chart of a series; None where no value is finite."""
    values = [*series.got, *series.expected, series.bar]
    finite = [value for value in values if value is not None]
    if not any(value is not None for value in series.got):
        return None
    low, high = _range(finite)
    count = max(len(series.got), len(series.expected))

    def x(i: int) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (i / (count - 1) if count > 1 else 0.5), 1)

    def y(value: float) -> float:
        share = (min(max(value, low), high) - low) / (high - low)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)

    def points(values: Sequence[float | None]) -> list[tuple[float, float]]:
        return [(x(i), y(value)) for i, value in enumerate(values) if value is not None]

    every = max(1, math.ceil(count / 10))
    return Curve(
        got=_path(points(series.got)),
        dots=points(series.got) if count <= 40 else [],
        expected=_path(points(series.expected)),
        bar=None if series.bar is None else y(series.bar),
        x_ticks=[(x(i), str(series.first + i * series.every)) for i in range(0, count, every)],
        y_ticks=[(y(v), number(v)) for v in _ticks(low, high)],
    )


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x} {y}" for x, y in points) if points else ""


def _range(values: Sequence[float]) -> tuple[float, float]:
    """A little more than the values need; bounded, since they may come from anywhere."""
    low, high = max(min(values), -1e30), min(max(values), 1e30)
    room = 0.06 * (high - low) or abs(high) * 0.1 or 1.0
    return low - room, high + room


def _ticks(low: float, high: float) -> list[float]:
    """About `TICKS` round numbers in a range."""
    raw = (high - low) / TICKS
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * n for n in (1, 2, 5, 10) if unit * n >= raw)
    first = math.ceil(low / step)
    return [k * step for k in range(first, math.floor(high / step) + 1)]
