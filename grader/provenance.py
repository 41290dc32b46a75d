"""What decides a result, as hashes: the submission's files, the assignment, the tolerances, the grader's version."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from grader import __version__
from grader.assignment import Assignment
from grader.home import ROOT

VERSION = __version__
TOLERANCES = ROOT / "tolerances.yaml"
NOT_SOURCE = {"__pycache__"}


def digest_of(hashes: Mapping[str, str], problems: Sequence[str] = ()) -> str:
    """One hash of a submission: of its files' names and hashes, and of why it cannot be graded."""
    lines = [f"{name}\0{value}" for name, value in sorted(hashes.items())]
    return hashlib.sha256("\n".join([*lines, *(problems if not hashes else ())]).encode()).hexdigest()


@cache
def of_tolerances() -> str:
    """The hash of ``tolerances.yaml``."""
    return _of_files([TOLERANCES])


def of_assignment(assignment: Assignment) -> str:
    """The hash of all that an assignment brings: its data, its driver and probes, and what they share."""
    return _of_folder(assignment.folder)


@cache
def _of_folder(folder: Path) -> str:
    common = ROOT / "assignments" / "common"
    template = ROOT / "student_template" / folder.name
    return _of_files(path for top in (folder, common, template) for path in _sources(top))


def _sources(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file() and not NOT_SOURCE & set(p.parts))


def _of_files(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.relative_to(ROOT)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
