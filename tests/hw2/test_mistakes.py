"""Every known mistake costs its row and no other, told as what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hw2.patches import HERE, Mistake, load
from tests.hw2.support import grade_hw2

MISTAKES = load(HERE / "mistakes.yaml", Mistake)
MARKED = [pytest.param(m, id=m.name, marks=[pytest.mark.slow] if m.slow else []) for m in MISTAKES]


@pytest.mark.parametrize("mistake", MARKED)
def test_a_mistake_costs_its_row_and_no_other(mistake: Mistake, tmp_path: Path) -> None:
    graded = grade_hw2(mistake.write(tmp_path))
    row = graded.rows[mistake.row]
    assert graded.lost == {mistake.row}, graded.said()
    assert (row["points"], row["verdict"]) == (mistake.points, mistake.verdict), graded.said()
    told = [row["detail"], *(check["detail"] for check in row["checks"])]
    assert any(mistake.says in text for text in told), told
    named = [one["fault"] for check in row["checks"] for one in check["explanations"]]
    assert not mistake.fault or mistake.fault in named, row["checks"]


def test_there_are_mistakes_enough() -> None:
    assert len(MISTAKES) >= 80
