"""The same submission gives the same bytes from a clone, from the image, and from the workflow's steps in a CI job."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.replay import placeless
from grader.report import json as report
from grader.result import Result
from tests.ci.conftest import grader, student
from tests.ci.repositories import commit
from tests.ci.test_github_actions import NOTHING, pushed
from tests.image import submissions
from tests.image.store import Store
from tests.image.test_image import as_in_the_readme, opened
from tests.support import run_command

__all__ = ["grader", "student"]  # fixtures

pytestmark = pytest.mark.slow

# of both assignments: what a batch, which is for the staff, does by itself; and nothing that takes minutes
HOW = {"A2": "--no-second-look", "HW2": "--no-training"}
Make = Callable[[Path], list[str]]
FEW: dict[str, Make] = {  # what CI takes the time for
    "A2": lambda folder: submissions.a2(folder, right=1, wrong=2),
    "HW2": lambda folder: submissions.hw2(folder, wrong=1),
}
TWENTY: dict[str, Make] = {
    "A2": lambda folder: submissions.a2(folder, right=5, wrong=9),
    "HW2": lambda folder: submissions.hw2(folder, wrong=4),
}
CASES = [
    pytest.param(assignment, sets[assignment], id=f"{assignment}-{number}")
    for number, sets in (("few", FEW), ("twenty", TWENTY))
    for assignment in sets
]
VARIANTS = 20  # beside the references and the templates


def bytes_of(path: Path) -> str:
    """A result as it would be elsewhere."""
    return report.text(placeless(Result.model_validate_json(path.read_bytes())))


def from_the_image(engine: Store, image: str, assignment: str, folder: Path, out: Path) -> dict[str, str]:
    """As a TA grades a class."""
    out.mkdir()
    opened(out)
    out.chmod(0o777)
    flags = as_in_the_readme(f"{folder}:/submissions:ro", f"{out}:/results")
    command = ["batch", assignment, "/submissions", "--out", "/results", "--quiet", HOW[assignment]]
    engine.started(image, *command, flags=flags)
    return {path.parent.name: bytes_of(path) for path in out.glob(f"{assignment}/*/result.json")}


def from_the_clone(assignment: str, folder: Path, out: Path) -> str:
    """As anybody grades one submission."""
    result = out / "result.json"
    done = run_command(assignment, folder, HOW[assignment], "--audience=staff", "--quiet", "--json", result)
    assert done.exit == 0, done.stderr
    return bytes_of(result)


def from_a_ci_job(assignment: str, folder: Path, student: Path, grader: Path, out: Path) -> str:
    """As a push to a student's repository is graded."""
    shutil.rmtree(student / assignment, ignore_errors=True)  # what was pushed before
    shutil.copytree(folder, student / assignment)
    commit(student)
    options = f"{HOW[assignment]} --audience=staff"
    job = pushed(student, grader, out, NOTHING, assignment, options=options)
    assert not job.failed, job.log
    found = bytes_of(job.home / "reports" / assignment / "result.json")
    shutil.rmtree(job.workspace)
    return found


@pytest.mark.parametrize(("assignment", "make"), CASES)
def test_the_same_bytes(
    assignment: str, make: Make, engine: Store, image: str, student: Path, grader: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "submissions"
    folder.mkdir()
    names = make(folder)
    opened(folder)
    image_s = from_the_image(engine, image, assignment, folder, tmp_path / "results")
    assert sorted(image_s) == names
    different = []
    for name in names:
        (tmp_path / name).mkdir()
        here = from_the_clone(assignment, folder / name, tmp_path / name)
        there = from_a_ci_job(assignment, folder / name, student, grader, tmp_path / name)
        different += [f"{name}: the image" for _ in range(here != image_s[name])]
        different += [f"{name}: the job" for _ in range(here != there)]
    assert different == []


def test_there_are_twenty_variants(tmp_path: Path) -> None:
    made = [set(make(tmp_path / name)) for name, make in TWENTY.items()]
    assert sum(len(names - submissions.BASES.keys()) for names in made) == VARIANTS
