"""A version: a folder with some of what grading rests on, a git revision of the project, or the project itself."""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TypeVar

from grader import assignment as assignments
from grader import fixtures, tolerances
from grader.assignment import Assignment
from grader.errors import InfrastructureError, UsageError
from grader.fixtures import MANIFEST, FixtureSet
from grader.home import ROOT
from grader.tolerances import Tolerances

Read = TypeVar("Read")

CURRENT = "current"
ASSIGNMENT, TOLERANCES, FIXTURES = "assignment.yaml", "tolerances.yaml", "fixtures"


@dataclass(frozen=True)
class Version:
    """What submissions are graded by.

    Attributes:
        name: as the user wrote it.
        own: what it brings; the rest is the project's.
    """

    name: str
    own: tuple[str, ...]
    assignment: Assignment
    tolerances: Tolerances
    fixtures: FixtureSet


def named_assignment(name: str) -> str | None:
    """The id of the assignment that a folder's data is of; None where it does not say.

    Raises:
        UsageError: what it holds cannot be read.
    """
    folder = Path(name)
    if (folder / ASSIGNMENT).is_file():
        return _read(name, lambda: assignments.read(folder / ASSIGNMENT)).id
    if (found := _fixture_folder(folder)) is not None:
        return _read(name, lambda: fixtures.load(found)).manifest.assignment
    return None


def version(name: str, assignment_id: str, scratch: Path) -> Version:
    """The version of that name; a revision is laid out in ``scratch``.

    Raises:
        UsageError: it is neither ``current``, nor a folder that holds some of it, nor a revision; or cannot be read.
    """
    if name == CURRENT:
        return _version(name, None, assignment_id)
    folder = Path(name)
    if folder.is_dir():
        return _version(name, folder, assignment_id)
    return _version(name, _revision(name, assignment_id, scratch), assignment_id)


def _version(name: str, folder: Path | None, assignment_id: str) -> Version:
    paths = {} if folder is None else _held(folder)
    if folder is not None and not paths:
        raise UsageError(f"{name} holds neither {ASSIGNMENT}, nor {TOLERANCES}, nor a fixture set")
    public = fixtures.set_folder(assignment_id, "public")
    made = Version(
        name,
        tuple(paths),
        _read(
            name,
            lambda: assignments.read(paths[ASSIGNMENT]) if ASSIGNMENT in paths else assignments.load(assignment_id),
        ),
        _read(name, lambda: tolerances.load(paths.get(TOLERANCES, tolerances.PATH))),
        _read(name, lambda: fixtures.load(paths.get(FIXTURES, public))),
    )
    for found in (made.assignment.id, made.fixtures.manifest.assignment):
        if found != assignment_id:
            raise UsageError(f"{name} holds data of {found}, and not of {assignment_id}")
    return made


def _held(folder: Path) -> dict[str, Path]:
    """What a folder holds of a version, by kind."""
    files = {name: folder / name for name in (ASSIGNMENT, TOLERANCES) if (folder / name).is_file()}
    found = _fixture_folder(folder)
    return {**files, FIXTURES: found} if found is not None else files


def _fixture_folder(folder: Path) -> Path | None:
    return next((place for place in (folder, folder / FIXTURES) if (place / MANIFEST).is_file()), None)


def _read(name: str, read: Callable[[], Read]) -> Read:
    """What a version's file holds; that it cannot be read is the user's to mend."""
    try:
        return read()
    except InfrastructureError as error:
        raise UsageError(f"{name} cannot be used: {error}") from error


def _revision(name: str, assignment_id: str, scratch: Path) -> Path:
    """The revision's data, in a folder as a version's."""
    wanted = {
        f"assignments/{assignment_id}/{ASSIGNMENT}": ASSIGNMENT,
        TOLERANCES: TOLERANCES,
        f"fixtures/{assignment_id}/public": FIXTURES,
    }
    commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if commit is None:
        raise UsageError(
            f"{name} is neither `{CURRENT}`, nor a folder, nor a revision of {ROOT}; a folder holds some of"
            f" {ASSIGNMENT}, {TOLERANCES} and a fixture set ({MANIFEST})"
        )
    revision = commit.decode().strip()
    there = [path for path in wanted if _git("cat-file", "-e", f"{revision}:{path}") is not None]
    blob = _git("archive", "--format=tar", revision, "--", *there) if there else None
    if blob is None:
        raise UsageError(f"{name} ({revision[:12]}) knows no {assignment_id}")
    with tarfile.open(fileobj=BytesIO(blob)) as archive:
        archive.extractall(scratch, filter="data")
    folder = scratch / "version"
    folder.mkdir()
    for path in there:
        (scratch / path).rename(folder / wanted[path])
    return folder


def _git(*arguments: str) -> bytes | None:
    """What git answers in the project; None where it refuses, or is not there."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
