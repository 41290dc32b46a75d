"""Folders that are not laid out as they should be: what is taken of them, and what is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import assignment as assignments
from grader.engine import BuildReport
from grader.submission import Taken, take
from tests.hw2.patches import FILES, SOLVED, Right
from tests.hw2.support import grade_hw2
from tests.support import ROOT

REFERENCE = Right(name="reference", what="The reference.").files(SOLVED)
OURS = ROOT / "student_template" / "HW2"


def laid_out(folder: Path, files: dict[str, str]) -> Path:
    """A folder with these files; a path's text is a content of our own, or the reference's file of that name."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(REFERENCE.get(text, text), "utf-8")
    return folder


def taken(folder: Path, files: dict[str, str]) -> Taken:
    return take(laid_out(folder, files), assignments.load("HW2").submission, OURS)


@pytest.mark.parametrize("within", ["", "handed in/"])
def test_a_flat_folder_is_taken(within: str, tmp_path: Path) -> None:
    found = taken(tmp_path, {f"{within}autodiff.py": FILES[0], f"{within}run_sentiment.py": FILES[1]})
    assert {name: blob.decode() for name, blob in found.files.items()} == REFERENCE
    assert found.problems == []


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (
            {FILES[0]: FILES[0], "run_sentiment.py": "1"},
            "project/run_sentiment.py is missing; move run_sentiment.py there",
        ),
        (
            {FILES[0]: FILES[0], "project/run_sentiment.ipynb": "{}"},
            "missing; project/run_sentiment.ipynb is a notebook",
        ),
        ({"hw2.ipynb": "{}"}, "; hw2.ipynb is a notebook, export it as a script"),
        ({"a/run_sentiment.py": "1", "b/run_sentiment.py": "2"}, "there, a/run_sentiment.py or b/run_sentiment.py"),
    ],
)
def test_what_lies_elsewhere_is_named(files: dict[str, str], says: str, tmp_path: Path) -> None:
    (problem,) = taken(tmp_path, files).problems
    assert says in problem


def test_a_second_framework_and_modules_on_top_are_listed(tmp_path: Path) -> None:
    own = dict(zip(FILES, FILES, strict=True))
    same = {"project/minitorch/optim.py": (OURS / "minitorch" / "optim.py").read_text("utf-8")}
    other = {"project/minitorch/nn.py": "x = 1", "minitorch/extra.py": "y = 2", "minitorch/notes.txt": "z"}
    assert taken(tmp_path, {**own, **same, **other}).ignored == ["minitorch/extra.py", "project/minitorch/nn.py"]


def test_what_a_build_says_is_bounded() -> None:
    forged = {"ok": True, "problems": ["x" * 100_000] * 1000, "notes": ["y"] * 1000, "messages": "z" * 1_000_000}
    report = BuildReport.model_validate(forged)
    assert (len(report.problems), len(report.problems[0])) == (20, 2000)
    assert (len(report.notes), len(report.messages)) == (20, 64_000)


def test_a_program_that_kills_what_imports_it_is_told_so(tmp_path: Path) -> None:
    kills = {FILES[0]: "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n", FILES[1]: FILES[1]}
    graded = grade_hw2(laid_out(tmp_path, kills), "--only", "linear_init")
    assert graded.result["problems"] == [
        "it cannot be imported: importing it ended without a report that can be read: it ended before one was written"
    ]


@pytest.mark.slow
def test_a_program_that_stops_what_imports_it_is_told_so(tmp_path: Path) -> None:
    stops = {FILES[0]: "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\n", FILES[1]: FILES[1]}
    graded = grade_hw2(laid_out(tmp_path, stops), "--only", "linear_init")
    assert graded.result["problems"] == ["it cannot be imported: importing it did not end within 60 s"]


def test_a_framework_that_needs_a_package_is_told_what_to_do(tmp_path: Path) -> None:
    needs = {**dict(zip(FILES, FILES, strict=True)), "minitorch/operators.py": "import numba\n"}
    graded = grade_hw2(laid_out(tmp_path, needs), "--only", "linear_init", "--framework", "submitted")
    assert "needs numba, which is not there: leave out `--framework submitted`" in graded.result["problems"][-1]
