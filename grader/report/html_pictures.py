"""The heat maps of the HTML report, as numbers and path data for its SVG template; all lengths in CSS pixels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from grader.result import BLANK, LEVELS, NOT_FINITE, Evidence, Picture

MIDDLE = LEVELS.index(BLANK)
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
