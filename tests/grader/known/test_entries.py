"""The files of known submissions: read strictly, and about rows that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import assignment as assignments
from grader.errors import InfrastructureError
from grader.known import c, python
from grader.known.entries import MISTAKES, VARIANTS, folder, load

GOOD = "- {name: one, what: that it is}\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- {name: one, what: that it is, colour: red}\n", "colour"),
        (GOOD + GOOD, "two entries bear the name one"),
        ("- {name: One, what: that it is}\n", "String should match pattern"),
        ("- [", "cannot be used"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / VARIANTS).write_text(text)
    with pytest.raises(InfrastructureError, match=says):
        load(tmp_path / VARIANTS, c.Variant)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="cannot be used"):
        load(tmp_path / VARIANTS, c.Variant)


def test_a_change_that_fits_nowhere_is_refused() -> None:
    patch = c.Patch(replace="no such text", by="")
    with pytest.raises(ValueError, match="stands 0 times in gelu_backward"):
        patch.model_copy(update={"within": "gelu_backward"}).apply((folder("A2") / "train_gpt2.c").read_text("utf-8"))
    with pytest.raises(ValueError, match="does not stand exactly once"):
        python.Variant(name="x", what="x", patches=[python.Patch(replace="no such text", by="")]).files(
            {"a.py": "x = 1\n"}
        )


def test_every_mistake_is_about_a_row() -> None:
    for name, mistakes in (
        ("A2", [m.row for m in load(folder("A2") / MISTAKES, c.Mistake)]),
        ("HW2", [m.row for m in load(folder("HW2") / MISTAKES, python.Mistake)]),
    ):
        assert set(mistakes) <= {row.id for row in assignments.load(name).rows}
