"""Drawing: the limit in the middle, right code left of it, wrong code right."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from grader.calibration.limits import Place
from grader.calibration.measure import Measured
from grader.calibration.strips import BOTH, COLUMNS, HONEST, LIMIT, WRONG, position, strip, svg, table
from grader.tolerances import Limit

MIDDLE = COLUMNS // 2


def measured(honest: dict[str, float], wrong: dict[str, float], name: str = "dinp") -> Measured:
    return Measured(Place(0, 1, "f", name), Limit(scale="max", rtol=1e-4, source="s"), True, honest, wrong)


@pytest.mark.parametrize(("share", "where"), [(1.0, 0.5), (1e-6, 0.0), (1e6, 1.0), (0.0, 0.0), (1e9, 1.0), (1e3, 0.75)])
def test_the_scale_is_logarithmic_and_ends(share: float, where: float) -> None:
    assert position(share) == pytest.approx(where)


def test_a_strip() -> None:
    drawn = strip(measured({"a": 1e-3, "b": 1e-6}, {"c": 1e3, "d": 1e5}))
    assert len(drawn) == COLUMNS
    assert drawn[MIDDLE] == LIMIT
    assert drawn.index(HONEST) == 0
    assert drawn.rindex(HONEST) == 15
    assert drawn.index(WRONG) == 45
    assert drawn.rindex(WRONG) == 55


def test_what_coincides_is_marked() -> None:
    assert BOTH in strip(measured({"a": 1.0}, {"b": 1.0}))


def test_the_table_tells_both_margins_and_what_is_narrow() -> None:
    lines = list(table([measured({"gcc": 0.01}, {"erf": 100.0}), measured({"gcc": 0.5}, {"erf": 100.0}, "dinp2")]))
    assert "1.0e-06 <100< 1.0e-04 <100< 1.0e-02 erf" in lines[1]
    assert lines[3].strip() == "NARROW: right code comes within a factor 2.0 (gcc / erf)"


def test_exact_limits_are_named_alone() -> None:
    exact = Measured(Place(0, 1, "f", "n"), Limit(scale="absolute", source="exact"), True)
    assert list(table([exact]))[-1] == "exact, with nothing to measure: f.n"


def test_the_picture_is_whole() -> None:
    text = svg("A2 <&>", [measured({"gcc": 0.01}, {"erf": 100.0}), measured({}, {}, "b")])
    root = ElementTree.fromstring(text)
    circles = root.findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == 2 + 2, "the key, and one for each place"
    x = sorted(float(circle.attrib["cx"]) for circle in circles[2:])
    line = next(e for e in root.iter("{http://www.w3.org/2000/svg}line") if e.attrib["stroke"] == "#24292f")
    assert x[0] < float(line.attrib["x1"]) < x[1]
    assert "A2 <&>: errors as shares of the limit" in "".join(root.itertext())
