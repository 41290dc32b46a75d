"""``./grade compare``, as a course uses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader import tolerances
from grader.cli import main
from tests.a2.patches import REFERENCE, SOURCE, write
from tests.support import run_command


@pytest.fixture(name="submissions", scope="module")
def _submissions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    text = REFERENCE.read_text("utf-8")
    right = "slope * dout[i];"
    slightly = "1.002f * slope * dout[i];"
    assert text.count(right) == 1
    write(folder / "off", text.replace(right, slightly))
    (folder / "notes.txt").write_text("no submission")
    return folder


@pytest.fixture(name="looser")
def _looser(tmp_path: Path) -> Path:
    folder = tmp_path / "looser"
    folder.mkdir()
    before, check, after = tolerances.PATH.read_text("utf-8").partition("    gelu_backward:\n")
    (folder / "tolerances.yaml").write_text(before + check + after.replace("rtol: 1.0e-4", "rtol: 1.0e-2", 1), "utf-8")
    return folder


def test_whose_score_changes_and_why(submissions: Path, looser: Path, tmp_path: Path) -> None:
    path = tmp_path / "compared.json"
    how = ("--assignment", "A2", "--quiet", "--check", "--json", path)
    done = run_command("compare", "current", looser, submissions, *how)
    found = json.loads(path.read_bytes())
    assert done.exit == 1, done.stderr
    assert "1 of 2 scores change" in done.stdout
    assert "gelu_backward, dinp: A fails: error 2.0" in done.stdout
    note, change = found["submissions"]
    assert (note["submission"], note["score_a"], note["score_b"]) == ("notes.txt", 0, 0)
    (row,) = change["rows"]
    assert (change["submission"], change["score_a"], change["score_b"]) == ("off", 90, 100)
    assert (row["row"], row["verdict_a"], row["verdict_b"]) == ("gelu_residual_backward", "fail", "pass")
    (reason,) = row["reasons"]
    assert (reason["a"]["limit"], reason["b"]["limit"]) == (1e-4, 1e-2)
    assert reason["a"]["error"] == reason["b"]["error"], "run once, judged twice"
    assert (found["schema"], found["brings_a"], found["brings_b"]) == ("tensorgrade/compare/1", [], ["tolerances.yaml"])


def test_wrong_usage(submissions: Path, looser: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "nothing").mkdir()
    for arguments, says in (
        (("current", looser, submissions), "neither version says which assignment it is of; say --assignment ID"),
        (("current", looser, tmp_path / "no"), "there is no folder of submissions at"),
        (("current", looser, tmp_path / "nothing"), "there are no submissions in"),
        (("current", submissions, submissions), "holds neither assignment.yaml, nor tolerances.yaml"),
        (("current", looser, submissions, "--jobs", "0"), "--jobs: 0 is not a number of 1 or more"),
    ):
        asked = ("--assignment", "A2") if "neither version" not in says else ()
        assert main(["compare", *map(str, arguments), *asked]) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert says in told.err


def test_a_single_submission_is_a_folder_of_one(submissions: Path) -> None:
    from grader import assignment as assignments
    from grader.versions.run import saved

    assignment = assignments.load("A2")
    assert [one.paths for one in saved(submissions, assignment)][1] == [submissions / "off"]
    assert [one.paths for one in saved(submissions / "off", assignment)] == [[submissions / "off"]]
    assert (submissions / "off" / SOURCE).is_file()
