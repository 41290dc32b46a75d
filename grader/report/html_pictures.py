"""What the HTML report draws, as numbers and path data for the SVG templates; all lengths in CSS pixels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from grader.result import BLANK, LEVELS, NOT_FINITE, Evidence, Picture, Series

WIDTH = 360  # of a strip and of a curve: what a phone has room for
MIDDLE = LEVELS.index(BLANK)


def number(value: float | None) -> str:
    """A number in few characters: ``2.2e-7``."""
    if value is None:
        return "not finite"
    text = f"{value:.3g}"
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if e else text


# ---- heat maps ---------------------------------------------------------------------------------------------

CELL_LEAST, CELL_MOST = 4, 18
PANEL_WIDTH, PANEL_HEIGHT = 288, 260  # what a panel's cells should fill at most
LABEL_WIDTH = 42
LABEL_HEIGHT = 14


@dataclass(frozen=True)
class Layer:
    """All cells of one level: ``d`` runs along their middles, a line of the cell's height covers them."""

    css: str
    d: str


@dataclass(frozen=True)
class Mark:
    """A label beside the cells, and the line that begins its part."""

    at: float
    text: str
    line: float


@dataclass(frozen=True)
class Panel:
    """One of the pictures of a tensor."""

    title: str
    layers: list[Layer]


@dataclass(frozen=True)
class HeatMap:
    """The pictures of a tensor, all of one size."""

    panels: list[Panel]
    cell: float
    across: int
    down: int
    left: int
    top: int
    row_marks: list[Mark]
    column_marks: list[Mark]
    layout: str
    not_finite: bool

    @property
    def width(self) -> float:
        """With its labels."""
        return self.left + self.across * self.cell

    @property
    def height(self) -> float:
        """With its labels."""
        return self.top + self.down * self.cell

    @property
    def size(self) -> int:
        """How much it adds to the page, about, in characters."""
        return sum(len(layer.d) + 60 for panel in self.panels for layer in panel.layers)


def heat_map(evidence: Evidence) -> HeatMap | None:
    """The pictures of a wrong tensor; None where the result has none."""
    picture = evidence.picture
    if picture is None:
        return None
    across, down = len(picture.off[0]), len(picture.off)
    cell = max(CELL_LEAST, min(CELL_MOST, PANEL_WIDTH / across, PANEL_HEIGHT / down))
    rows = _row_marks(picture, evidence.shape, cell)
    columns = _column_marks(picture, across, cell)
    panels = [
        Panel("expected", list(_layers(picture.expected))),
        Panel("got", list(_layers(picture.got))),
        Panel("difference", list(_layers(picture.off))),
    ]
    left, top = LABEL_WIDTH if rows else 0, LABEL_HEIGHT if columns else 0
    broken = any(NOT_FINITE in row for row in picture.got)
    return HeatMap(panels, cell, across, down, left, top, rows, columns, _layout(picture, evidence.shape), broken)


def _layers(rows: Sequence[str]) -> Iterator[Layer]:
    for letter in sorted({c for row in rows for c in row} - {BLANK}):
        yield Layer(_css(letter), "".join(_runs(rows, letter)))


def _runs(rows: Sequence[str], letter: str) -> Iterator[str]:
    for y, row in enumerate(rows):
        x = 0
        for found, run in groupby(row):
            length = len(list(run))
            if found == letter:
                yield f"M{x} {y}.5h{length}"
            x += length


def _css(letter: str) -> str:
    if letter == NOT_FINITE:
        return "nf"
    level = LEVELS.index(letter) - MIDDLE
    return f"{'pos' if level > 0 else 'neg'} l{abs(level)}"


def _row_marks(picture: Picture, shape: Sequence[int], cell: float) -> list[Mark]:
    """Where each index of the first axis begins, for tensors with more than two axes, and each part of the next."""
    first = shape[0] if len(shape) > 2 else 1
    names = [f"{picture.axes[0]}={i}" for i in range(first)] if len(shape) > 2 else [""]
    height = picture.rows / first / picture.tall * cell
    if picture.row_parts and len(shape) < 4:
        names = [f"{name} {part}".strip() for name in names for part in picture.row_parts]
        height /= len(picture.row_parts)
    if names == [""] or height < LABEL_HEIGHT - 3:
        return []
    return [Mark((i + 0.5) * height, name, i * height) for i, name in enumerate(names)]


def _column_marks(picture: Picture, across: int, cell: float) -> list[Mark]:
    """The named parts of the last axis, e.g. Q, K and V."""
    width = across * cell / max(len(picture.parts), 1)
    return [Mark((i + 0.5) * width, part, i * width) for i, part in enumerate(picture.parts)]


def _layout(picture: Picture, shape: Sequence[int]) -> str:
    """What runs down and what across, in words."""
    down = ", ".join(f"{axis} ({n})" for axis, n in zip(picture.axes[:-1], shape, strict=False))
    across = f"across: {picture.axes[-1]} ({shape[-1]})"
    cells = f"; each cell stands for {picture.tall} × {picture.wide} elements and shows its worst one"
    return (f"down: {down}, " if down else "") + across + (cells if picture.tall * picture.wide > 1 else "")


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
