"""What decides a result, as hashes: the submission's files, the assignment, the tolerances, the grader's own code."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from grader import __version__
from grader.assignment import Assignment
from grader.fixtures import FixtureCase
from grader.home import ROOT
from grader.result import Machine, Provenance
from grader.tolerances import Tolerances

VERSION = __version__
NOT_SOURCE = {"__pycache__"}
SEED = "seed"  # the name of a case's scalar


def digest_of(hashes: Mapping[str, str], problems: Sequence[str] = ()) -> str:
    """One hash of a submission: of its files' names and hashes, and of why it cannot be graded."""
    lines = [f"{name}\0{value}" for name, value in sorted(hashes.items())]
    return hashlib.sha256("\n".join([*lines, *(problems if not hashes else ())]).encode()).hexdigest()


def of_tolerances(tolerances: Tolerances, assignment_id: str) -> str:
    """The hash of an assignment's limits, with their evidence."""
    parts = [{assignment_id: table.get(assignment_id, {})} for table in (tolerances.measured, tolerances.official)]
    own = Tolerances(measured=parts[0], official=parts[1])
    return hashlib.sha256(own.model_dump_json().encode()).hexdigest()


def of_assignment(assignment: Assignment) -> str:
    """The hash of all that an assignment brings: its data, its driver and probes, the files laid beside a submission,
    the operators of the reference that are put under it, and the files that its checks read.
    """
    sources = [build.source for build in assignment.builds.values() if build.source]
    read = [path for check in assignment.checks.values() for path in check.files.values()]
    rules = assignment.submission
    template = [f"student_template/{assignment.id}/{name}" for name in [*rules.files, *rules.provided]]
    return _of_assignment(ROOT / "assignments" / assignment.id, tuple(dict.fromkeys([*template, *sources, *read])))


@cache
def of_grader() -> str:
    """The hash of the grader's own code, and of the list of packages that it runs with."""
    return _of_files([*_sources(ROOT / "grader", (".py", ".txt")), ROOT / "grade"])


def of_run(
    assignment: Assignment, tolerances: Tolerances, cases: Iterable[FixtureCase], replaced: Mapping[str, FixtureCase]
) -> Provenance:
    """The provenance of one grading; ``cases`` are those whose seeds may be told."""
    seeds = {case.id: case.entry.params[SEED] for case in cases if SEED in case.entry.params}
    return Provenance(
        grader=of_grader(),
        assignment=of_assignment(assignment),
        tolerances=of_tolerances(tolerances, assignment.id),
        replaced={name: _of_case(case) for name, case in sorted(replaced.items())},
        seeds={name: int(seed) for name, seed in seeds.items()},
    )


def of_machine() -> Machine:
    """Where this runs."""
    system = f"{platform.system()} {platform.machine()}"
    return Machine(system=system, python=platform.python_version(), numpy=np.__version__)


def _of_case(case: FixtureCase) -> str:
    return hashlib.sha256(case.entry.model_dump_json().encode()).hexdigest()


@cache
def _of_assignment(folder: Path, further: tuple[str, ...]) -> str:
    own = [path for top in (folder, ROOT / "assignments" / "common") for path in _sources(top)]
    return _of_files([*own, *(ROOT / name for name in further)])


def _sources(folder: Path, kinds: tuple[str, ...] = ()) -> list[Path]:
    """The files of a folder, without what Python keeps; of some kinds, or all."""
    found = sorted(p for p in folder.rglob("*") if p.is_file() and not NOT_SOURCE & set(p.parts))
    return [path for path in found if not kinds or path.suffix in kinds]


def _of_files(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.relative_to(ROOT)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
