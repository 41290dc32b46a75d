"""Every known mistake costs its row and no other, told as what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import fixtures
from tests.hw2.patches import HERE, SOLVED, Mistake, load
from tests.hw2.support import grade_hw2

MISTAKES = load(HERE / "mistakes.yaml", Mistake)
KNOWN = {fault.id for fault in fixtures.load(fixtures.set_folder("HW2", "public")).dictionary.faults}
ENDINGS = ("crashed", "not_implemented", "timed_out")  # which say by themselves what is wrong
MARKED = [pytest.param(m, id=m.name, marks=[pytest.mark.slow] if m.slow else []) for m in MISTAKES]


@pytest.mark.parametrize("mistake", MARKED)
def test_a_mistake_costs_its_row_and_no_other(mistake: Mistake, tmp_path: Path) -> None:
    graded = grade_hw2(mistake.write(tmp_path, SOLVED))
    row = graded.rows[mistake.row]
    assert graded.lost == {mistake.row}, graded.said()
    assert (row["points"], row["verdict"]) == (mistake.points, mistake.verdict), graded.said()
    told = [row["detail"], *(check["detail"] for check in row["checks"])]
    assert any(mistake.says in text for text in told), told
    explanations = [one for check in row["checks"] for one in check["explanations"]]
    fault = mistake.fault or (mistake.name if mistake.name in KNOWN else "")
    assert not fault or fault in [one["fault"] for one in explanations], explanations
    assert any(mistake.told in one["text"] for one in explanations) or not mistake.told, explanations


def test_every_mistake_is_told_as_what_it_is() -> None:
    """By the dictionary, in the words of an explanation, or in those of the row."""
    untold = [m.name for m in MISTAKES if not (m.fault or m.told or m.says or m.name in KNOWN)]
    assert [m for m in MISTAKES if m.name in untold and m.verdict not in ENDINGS] == []


def test_there_are_mistakes_enough() -> None:
    assert len(MISTAKES) >= 80
