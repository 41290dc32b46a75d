"""Versions: the project, a folder with some of it, a git revision; and what is refused."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from grader import fixtures, tolerances
from grader.errors import UsageError
from grader.home import ROOT
from grader.versions.version import CURRENT, named_assignment, version

A2 = ROOT / "assignments" / "A2" / "assignment.yaml"
PUBLIC = fixtures.set_folder("A2", "public")


def test_the_project_as_it_stands(tmp_path: Path) -> None:
    found = version(CURRENT, "A2", tmp_path)
    assert (found.own, found.assignment.id, found.fixtures.folder) == ((), "A2", PUBLIC)
    assert found.tolerances == tolerances.load()


def test_a_folder_with_tolerances_has_the_rest_from_the_project(tmp_path: Path) -> None:
    text = tolerances.PATH.read_text("utf-8").replace("rtol: 1.0e-4", "rtol: 1.0e-3", 1)
    (tmp_path / "tolerances.yaml").write_text(text, "utf-8")
    found = version(str(tmp_path), "A2", tmp_path)
    assert found.own == ("tolerances.yaml",)
    assert found.tolerances.limit("A2", "encoder_backward", "dwpe", False).rtol == 1e-3
    assert found.fixtures.folder == PUBLIC
    assert named_assignment(str(tmp_path)) is None


def test_a_folder_with_an_assignment_says_which(tmp_path: Path) -> None:
    (tmp_path / "assignment.yaml").write_text(
        A2.read_text("utf-8").replace("title: GPT-2", "title: Our GPT-2"), "utf-8"
    )
    assert named_assignment(str(tmp_path)) == "A2"
    assert version(str(tmp_path), "A2", tmp_path).assignment.title.startswith("Our GPT-2")
    with pytest.raises(UsageError, match="holds data of A2, and not of HW2"):
        version(str(tmp_path), "HW2", tmp_path)


@pytest.mark.parametrize("place", [".", "fixtures"])
def test_a_fixture_set_is_found_in_it_or_in_its_fixtures(place: str, tmp_path: Path) -> None:
    shutil.copytree(PUBLIC, tmp_path / place, dirs_exist_ok=True)
    assert named_assignment(str(tmp_path)) == "A2"
    assert version(str(tmp_path), "A2", tmp_path).fixtures.folder == tmp_path / place


def test_a_revision(tmp_path: Path) -> None:
    head = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if head.returncode:
        pytest.skip("the project lies in no git repository")
    found = version(head.stdout.strip()[:12], "A2", tmp_path)
    assert found.own == ("assignment.yaml", "tolerances.yaml", "fixtures")
    assert found.fixtures.folder.is_relative_to(tmp_path)
    assert found.fixtures.cases("gelu_backward")[0].expected


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("no-such-thing", "neither `current`, nor a folder, nor a revision"),
        ("--help", "neither `current`, nor a folder, nor a revision"),
        ("empty", "holds neither assignment.yaml, nor tolerances.yaml, nor a fixture set"),
        ("broken", "broken cannot be used: .*tolerances.yaml:1: measured: Field required"),
    ],
)
def test_what_is_no_version_is_refused(name: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "tolerances.yaml").write_text("official: {}\n")
    with pytest.raises(UsageError, match=says):
        version(name, "A2", tmp_path / "scratch")
