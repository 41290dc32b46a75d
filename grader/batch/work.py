"""One submission of a batch, from its files to its folder of reports; what a worker process does, over and over.

A worker reads a `Job` a line on standard input and answers with an `Outcome` a line. A submission that brings its
worker down, or holds it for ever, takes no other with it: the pool starts a new one.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import IO, Literal

from pydantic import Field

from grader import assignment as assignments
from grader import deciding, framework, provenance, sandbox, tolerances
from grader import submission as submissions
from grader.batch.names import canvas
from grader.cuda import asked as cuda
from grader.cuda.asked import Asked
from grader.data import Strict
from grader.errors import GraderError, InfrastructureError, UsageError
from grader.explain.levels import DEFAULT, Level
from grader.fixtures import FixtureSet
from grader.home import ROOT
from grader.options import Options
from grader.redact import for_students
from grader.report import requests
from grader.report.texts import visible
from grader.result import Result
from grader.training import with_training
from grader.workplace import work_folder

PROCESSORS = "GRADE_PROCESSORS"
RESULT = "result.json"
REPORT = "report.html"
PR_SET_PDEATHSIG = 1


class Settings(Strict):
    """How each submission of a batch is graded."""

    assignment: str
    fixtures: str | None = Field(None, description="folder of the fixture set; none: the public one")
    sandbox: str = "auto"
    require_sandbox: bool = False
    compiler: str | None = None
    training: bool = True
    second_look: bool = True
    backend: str | None = None
    after_due: bool = False
    explain: Level = DEFAULT


class Job(Strict):
    """One submission to grade."""

    settings: Settings
    label: str = Field(description="what it is called in messages")
    paths: list[str] = Field(min_length=1, description="a folder, an archive or a file; or several files")
    folder: str = Field(description="where its reports go")
    known: list[str] = Field([], description="hashes of work that is done: such a submission is left as it is")

    def line(self) -> str:
        """The job as a line of JSON; a path need not be Unicode."""
        return json.dumps(self.model_dump())

    @classmethod
    def of_line(cls, line: str) -> Job:
        """The job of a line."""
        return cls.model_validate(json.loads(line))


class Outcome(Strict):
    """What came of a job."""

    status: Literal["graded", "unchanged", "failed"]
    digest: str = Field(default="", description="of the files that count")
    work: str = Field(default="", description="hash of all that decides the result")
    started_at: str
    seconds: float
    message: str = Field(default="", description="why the grader failed")

    @property
    def moment(self) -> datetime:
        """When it began."""
        return datetime.fromisoformat(self.started_at)


def run(job: Job) -> Outcome:
    """Grades one submission; an error of the grader's is an outcome, and never a score."""
    began, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
    digest = work = ""
    try:
        with one_place(job.paths) as path:
            assignment = assignments.load(job.settings.assignment)
            if not all(Path(text).exists() for text in job.paths):
                raise InfrastructureError(f"{', '.join(job.paths)}: it is gone")
            taken = take(path, assignment, job.label)
            digest = provenance.digest_of(taken.hashes, taken.problems)
            kernels = cuda.asked(assignment, job.settings.backend, path)
            sets = deciding.sets(assignment.id, Path(job.settings.fixtures) if job.settings.fixtures else None)
            work = _work(job.settings, assignment, sets, digest, kernels)
            if work in job.known and _stands(Path(job.folder), taken, kernels):
                status: Literal["graded", "unchanged", "failed"] = "unchanged"
            else:
                _report(_grade(job.settings, assignment, sets, taken, kernels), assignment, job)
                status = "graded"
        return Outcome(
            status=status, digest=digest, work=work, started_at=began, seconds=round(time.monotonic() - clock, 3)
        )
    except GraderError as error:
        message = f"{error.kind}: {error}"
    except Exception as error:  # whatever it is: this submission's, and no other's
        message = f"{type(error).__name__}: {error}"
    return Outcome(
        status="failed",
        digest=digest,
        work=work,
        started_at=began,
        seconds=round(time.monotonic() - clock, 3),
        message=visible(message[:2000]),
    )


def take(path: Path, assignment: assignments.Assignment, label: str) -> submissions.Taken:
    """What was handed in; something that is no submission is the student's to answer for, not an error of ours."""
    try:
        taken = submissions.take(path, assignment.submission, ROOT / "student_template" / assignment.id)
    except UsageError as error:
        return submissions.Taken(label, problems=[str(error).replace(str(path), label)])
    taken.origin = label
    return taken


def _work(
    settings: Settings,
    assignment: assignments.Assignment,
    sets: Sequence[FixtureSet],
    submission: str,
    kernels: Asked | None,
) -> str:
    """The hash of all that decides a result: the same work need not be done twice."""
    limits = provenance.of_tolerances(tolerances.load(), assignment.id)
    parts = [submission, *(one.digest for one in sets), provenance.of_assignment(assignment), limits]
    parts += [str(kernels.sha256)] if kernels else []
    return hashlib.sha256("\n".join([*parts, provenance.VERSION, settings.model_dump_json()]).encode()).hexdigest()


def _grade(
    settings: Settings,
    assignment: assignments.Assignment,
    sets: Sequence[FixtureSet],
    taken: submissions.Taken,
    kernels: Asked | None,
) -> Result:
    options = Options(
        compiler=settings.compiler,
        second_look=settings.second_look,
        unseen=True,
        after_due=settings.after_due,
        explain=settings.explain,
        backend=settings.backend,
        kernels=kernels,
    )
    options = with_training(assignment, options, settings.training, full=False, progress=lambda text: None)
    return deciding.grade(
        framework.with_backend(assignment, settings.backend),
        taken,
        sets,
        sandbox.choose(settings.sandbox, settings.require_sandbox),
        tolerances.load(),
        options,
        lambda text: None,
    )


def _stands(folder: Path, taken: submissions.Taken, kernels: Asked | None) -> bool:
    """Whether both reports are there, and of these files: the student may have gone back to an earlier submission."""
    try:
        kept = json.loads((folder / RESULT).read_bytes())
        same = kept["submission"]["hashes"] == dict(taken.hashes)
        same &= kernels is None or kept["kernels"]["sha256"] == kernels.sha256
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
    return bool(same) and (folder / REPORT).is_file()


def _report(result: Result, assignment: assignments.Assignment, job: Job) -> None:
    """The result for staff as JSON, the page for the student; each whole, or as it was."""
    folder = Path(job.folder)
    folder.mkdir(parents=True, exist_ok=True)
    told = for_students(result, assignment, job.settings.after_due)
    for request in requests([f"html={folder / REPORT}", f"json={folder / RESULT}"]):
        request.write(result, told)


@contextmanager
def one_place(paths: Sequence[str]) -> Iterator[Path]:
    """The submission as one path: several files are laid into a folder, by the names that the student gave them."""
    if len(paths) == 1 and canvas(Path(paths[0]).name) is None:
        yield Path(paths[0])
        return
    with work_folder() as work:  # and no other temporary folder: another grader would take it for an abandoned one
        folder = work / "handed-in"
        folder.mkdir()
        for text in paths:
            path = Path(text)
            name = canvas(path.name)
            target = folder / Path(name.file if name else path.name).name
            if path.is_file() and not path.is_symlink():
                shutil.copyfile(path, target)
        laid = list(folder.iterdir())
        yield laid[0] if len(laid) == 1 else folder


def _die_with_parent() -> None:
    """Ends this process when the coordinator does, where the system can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _stop(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)  # and not at once: what is under way cleans up


def serve(jobs: IO[str], answers: IO[str]) -> None:
    """Does one job after another until there are no more."""
    for line in jobs:
        answers.write(run(Job.of_line(line)).model_dump_json() + "\n")
        answers.flush()


def main() -> None:
    """A worker: ``python -m grader.batch.work``."""
    _die_with_parent()
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the coordinator's
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints does not answer
    serve(sys.stdin, answers)


if __name__ == "__main__":
    main()
