"""Right solutions that look otherwise have full points, and the advice that they should have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hw2.patches import HERE, SOLVED, Right, load
from tests.hw2.support import grade_hw2

VARIANTS = load(HERE / "variants.yaml", Right)
MARKED = [pytest.param(v, id=v.name, marks=[pytest.mark.slow] if v.slow else []) for v in VARIANTS]


@pytest.mark.parametrize("variant", MARKED)
def test_a_right_variant_has_full_points(variant: Right, tmp_path: Path) -> None:
    graded = grade_hw2(variant.write(tmp_path, SOLVED))
    assert not graded.lost, graded.said()
    advice = graded.result["advice"]
    assert sorted({note["check"] for note in advice}) == sorted(variant.advice), advice
    assert {name for name, row in graded.rows.items() if row["inferred"]} == set(variant.inferred)


def test_there_are_variants_enough() -> None:
    assert len(VARIANTS) >= 25
