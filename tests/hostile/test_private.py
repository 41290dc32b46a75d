"""A submission that answers from a table of the public fixtures passes these, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grader import fixtures
from grader.cases import Array
from tests.a2.patches import SOURCE, region
from tests.hostile.attacks import BASES
from tests.hostile.grading import graded
from tests.support import run_command

FUNCTION, RESULTS, SIZES = "encoder_backward", ("dwte", "dwpe"), ("B", "T", "C")


def table() -> str:
    """The function's body: the expected tensors of each public case, by its sizes."""
    cases = fixtures.load(fixtures.set_folder("A2", "public")).cases(FUNCTION)
    return "".join(_entry(case.entry.params, case.expected) for case in cases)


def _entry(params: dict[str, int | float], expected: dict[str, Array]) -> str:
    known = " && ".join(f"{name} == {int(params[name])}" for name in SIZES)
    copies = ""
    for name in RESULTS:
        values = ", ".join(f"{value!r}f" for value in np.float32(expected[name]).reshape(-1).tolist())
        copies += (
            f"static const float {name}_known[] = {{{values}}}; memcpy({name}, {name}_known, sizeof({name}_known));\n"
        )
    return f"if ({known}) {{ {copies} }}\n"


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    text = (BASES["wrong"] / "A2" / SOURCE).read_text(encoding="utf-8")
    start, _ = region(text, FUNCTION)
    place = text.index("\n", text.index(f"// TODO (A2): {FUNCTION}", start)) + 1
    (tmp_path / "table").mkdir()
    (tmp_path / "table" / SOURCE).write_text(text[:place] + table() + text[place:], encoding="utf-8")
    return tmp_path / "table"


@pytest.mark.slow
def test_a_table_of_the_public_set_is_worth_nothing_on_a_private_one(submission: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "secret").write_bytes(b"sixteen bytes, and more")
    made: list[str | Path] = ["--set", "fall", "--seed-file", tmp_path / "secret", "--out", tmp_path / "fall"]
    built = run_command("fixtures", "build", "A2", *made)
    assert built.exit == 0, built.stderr
    public = graded("A2", submission, "--only", FUNCTION)
    assert public.result["score"] == 10, public.said()
    private = graded("A2", submission, "--only", FUNCTION, "--fixtures", str(tmp_path / "fall"))
    assert private.result["score"] == 0, private.said()
    (row,) = private.result["rows"]
    assert row["decided_by"] == ["fall"]
    assert [(one["set"], one["points"]) for one in row["under"]] == [("public", 10), ("fall", 0)]
    shown = [one for check in row["checks"] for one in check["evidence"]]
    assert {one[name] for one in shown for name in ("got", "expected", "absolute", "picture")} <= {None}
    assert graded("A2", BASES["right"] / "A2", "--only", FUNCTION, "--fixtures", str(tmp_path / "fall")).lost == set()
