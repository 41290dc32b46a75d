"""One strip a limit, on a logarithmic scale that has the limit in its middle: right code left of it, wrong code right.

Everything is drawn as a share of the limit, so that strips can be compared; the values stand beside them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from xml.sax.saxutils import escape

from grader.calibration.limits import is_exact, nominal
from grader.calibration.measure import FACTOR, Measured

DECADES = 6  # to either side of the limit
COLUMNS = 61  # of a strip on a terminal; odd, so that the limit has one of its own
HONEST, WRONG, BOTH, LIMIT, BAND, EMPTY = "o", "x", "#", "|", "·", " "


def position(share: float) -> float:
    """Where a share of the limit lies on a strip, from 0 to 1; what lies beyond an end lies at it."""
    decades = math.log10(share) if share > 0 else -math.inf
    return min(max((decades + DECADES) / (2 * DECADES), 0.0), 1.0)


def strip(measured: Measured) -> str:
    """A strip as text."""
    cells = [EMPTY] * COLUMNS
    for column in range(_column(1 / FACTOR), _column(FACTOR) + 1):
        cells[column] = BAND
    cells[COLUMNS // 2] = LIMIT
    for mark, shares in ((HONEST, measured.honest.values()), (WRONG, measured.wrong.values())):
        for share in shares:
            column = _column(share)
            cells[column] = mark if cells[column] in (EMPTY, BAND, LIMIT, mark) else BOTH
    return "".join(cells)


def _column(share: float) -> int:
    return round(position(share) * (COLUMNS - 1))


def table(found: Sequence[Measured]) -> Iterator[str]:
    """The strips with their values, a line each; a line below for what is wrong with a limit."""
    drawn = [m for m in found if not is_exact(m.limit)]
    wide = max((len(m.place.name) for m in drawn), default=0)
    marks = f"right code {HONEST}, wrong {WRONG}, both {BOTH}, the limit {LIMIT}, a factor {FACTOR:.0f} of it {BAND}"
    yield f"{'':<{wide}}  {marks}"
    for measured in drawn:
        yield f"{measured.place.name:<{wide}} [{strip(measured)}] {values(measured)}"
        for problem in measured.problems:
            yield f"{'':<{wide}}  NARROW: {problem}{_by(measured)}"
    exact = [m.place.name for m in found if is_exact(m.limit)]
    if exact:
        yield f"exact, with nothing to measure: {', '.join(exact)}"


def values(measured: Measured) -> str:
    """The largest honest error, the limit, the smallest wrong one, and both margins."""
    evidence, unit = measured.evidence(), nominal(measured.limit)
    above = "-" if measured.above is None else f"{_times(measured.above)}"
    wrong = "-" if evidence.wrong is None else f"{evidence.wrong:.1e} {evidence.wrong_is}"
    return f"{evidence.honest:.1e} <{_times(measured.below)}< {unit:.1e} <{above}< {wrong}"


def _times(factor: float) -> str:
    return "inf" if math.isinf(factor) else f"{factor:.0f}" if factor >= 10 else f"{factor:.1f}"


def _by(measured: Measured) -> str:
    evidence = measured.evidence()
    names = [name for name in (evidence.honest_is, evidence.wrong_is) if name]
    return f" ({' / '.join(names)})" if names else ""


# ---- the same as a picture ---------------------------------------------------------------------------------

ROW, LEFT, WIDTH, RIGHT, TOP = 22, 250, 560, 300, 46  # pixels
COLOURS = {"honest": "#1f6feb", "wrong": "#d1242f", "limit": "#24292f", "band": "#eaeef2", "axis": "#8c959f"}


def svg(title: str, found: Sequence[Measured]) -> str:
    """The strips as an SVG."""
    drawn = [m for m in found if not is_exact(m.limit)]
    height = TOP + ROW * len(drawn) + 30
    width = LEFT + WIDTH + RIGHT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' font-family="monospace" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _label(8, 18, f"{title}: errors as shares of the limit"),
        *_axis(len(drawn)),
    ]
    for number, measured in enumerate(drawn):
        lines += _drawn(measured, TOP + ROW * number + ROW // 2)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _x(share: float) -> float:
    return LEFT + WIDTH * position(share)


def _axis(rows: int) -> Iterator[str]:
    bottom = TOP + ROW * rows
    start, wide, fill = _x(1 / FACTOR), _x(FACTOR) - _x(1 / FACTOR), COLOURS["band"]
    yield f'<rect x="{start:.1f}" y="{TOP}" width="{wide:.1f}" height="{ROW * rows}" fill="{fill}"/>'
    for decade in range(-DECADES, DECADES + 1, 2):
        x = _x(10.0**decade)
        yield f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" stroke="{COLOURS["band"]}"/>'
        yield _label(x, bottom + 16, "limit" if decade == 0 else f"1e{decade:+d}", "middle")
    yield f'<line x1="{_x(1):.1f}" y1="{TOP}" x2="{_x(1):.1f}" y2="{bottom}" stroke="{COLOURS["limit"]}"/>'
    yield _dot(LEFT, 32, "honest") + _label(LEFT + 8, 36, "right code")
    yield _dot(LEFT + 110, 32, "wrong") + _label(LEFT + 118, 36, "wrong code")


def _drawn(measured: Measured, y: int) -> Iterator[str]:
    yield _label(8, y + 4, measured.place.name)
    yield f'<line x1="{LEFT}" y1="{y}" x2="{LEFT + WIDTH}" y2="{y}" stroke="{COLOURS["band"]}"/>'
    for kind, shares in (("honest", measured.honest), ("wrong", measured.wrong)):
        yield from _dots(shares.values(), y, kind)
    yield _label(LEFT + WIDTH + 10, y + 4, values(measured), colour="wrong" if measured.problems else "limit")


def _dots(shares: Iterable[float], y: int, kind: str) -> Iterator[str]:
    """One dot for each place: many samples err alike."""
    for x in sorted({round(_x(share)) for share in shares}):
        yield _dot(x, y, kind)


def _dot(x: float, y: int, kind: str) -> str:
    return f'<circle cx="{x}" cy="{y}" r="3.5" fill="{COLOURS[kind]}" fill-opacity="0.7"/>'


def _label(x: float, y: float, text: str, anchor: str = "start", colour: str = "limit") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{COLOURS[colour]}">{escape(text)}</text>'
