"""A batch: finds what was handed in, has it graded, and alone writes the ledger and the pages."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from grader.batch.find import Findings, HandedIn
from grader.batch.ledger import FILE, Ledger
from grader.batch.ledger.records import Run, put_run, put_students, put_submission
from grader.batch.work import RESULT, Job, Outcome, Settings
from grader.errors import InfrastructureError
from grader.result import Result

Tell = Callable[[int, int, Job, Outcome], None]


class Executor(Protocol):
    """What runs jobs: this machine's pool, or a cluster."""

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        """The outcomes, as they come."""
        ...


@dataclass(frozen=True)
class Plan:
    """What a batch is to do.

    Attributes:
        settings: how each submission is graded.
        out: the folder of the ledger, the reports and the pages.
        findings: what was handed in.
        regrade: also what is done.
        only_failed: of what is known, only that which has no score because the grader failed.
    """

    settings: Settings
    out: Path
    findings: Findings
    regrade: bool = False
    only_failed: bool = False


@dataclass
class Tally:
    """How a batch went."""

    graded: int = 0
    unchanged: int = 0
    failed: list[str] = field(default_factory=list)

    def add(self, job: Job, outcome: Outcome) -> None:
        """Counts an outcome."""
        if outcome.status == "failed":
            self.failed.append(f"{job.label}: {outcome.message}")
        elif outcome.status == "graded":
            self.graded += 1
        else:
            self.unchanged += 1


def folder_of(out: Path, assignment: str, student: str) -> Path:
    """The folder of a student's reports."""
    return out / assignment / student


def run(plan: Plan, executor: Executor, tell: Tell) -> Tally:
    """Grades what is to be graded; each outcome stands in the ledger before the next is waited for.

    Raises:
        InfrastructureError: the folder or the ledger cannot be written.
    """
    with open_ledger(plan.out) as ledger:
        put_students(ledger, [(one.key, one.student) for one in plan.findings.submissions])
        jobs = {job.folder: (place, one, job) for place, one, job in _jobs(plan, ledger)}
        tally = Tally()
        waiting = [job for _, _, job in jobs.values()]
        for number, (job, outcome) in enumerate(executor.run(waiting), 1):
            place, one, _ = jobs[job.folder]
            tally.add(job, outcome)
            _keep(plan, ledger, place, one, job, outcome)
            tell(number, len(waiting), job, outcome)
    return tally


def open_ledger(out: Path, create: bool = True) -> Ledger:
    """The ledger of a folder, which is made where it is missing.

    Raises:
        InfrastructureError: the folder cannot be made.
    """
    if create:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InfrastructureError(f"{out} cannot be made: {error.strerror}") from error
    return Ledger(out / FILE, create)


def _jobs(plan: Plan, ledger: Ledger) -> Iterator[tuple[int, HandedIn, Job]]:
    known = {} if plan.regrade else _known(ledger, plan.settings.assignment)
    skip = _scored(ledger, plan.settings.assignment) if plan.only_failed else set()
    places: dict[str, int] = {}
    newest = {one.key: one for one in plan.findings.submissions}
    for one in plan.findings.submissions:
        places[one.key] = places.get(one.key, 0) + 1
        if one.key in skip:
            continue
        folder = folder_of(plan.out, plan.settings.assignment, one.key)
        if newest[one.key] is not one:
            folder = folder / "earlier" / str(places[one.key])
        paths = [str(path.absolute()) for path in one.paths]
        yield (
            places[one.key],
            one,
            Job(
                settings=plan.settings,
                label=one.label,
                paths=paths,
                folder=str(folder.absolute()),
                known=known.get(one.key, []),
            ),
        )


def _known(ledger: Ledger, assignment: str) -> Mapping[str, list[str]]:
    """The work that is done, by student."""
    found: dict[str, list[str]] = {}
    query = (
        "SELECT s.student, r.work FROM runs r JOIN submissions s ON s.id = r.submission"
        " WHERE s.assignment = ? AND r.id = (SELECT max(q.id) FROM runs q WHERE q.submission = s.id)"
        " AND r.status = 'graded'"
    )
    for row in ledger.rows(query, assignment):
        found.setdefault(row["student"], []).append(row["work"])
    return found


def _scored(ledger: Ledger, assignment: str) -> set[str]:
    """The students whose last run has a score."""
    query = "SELECT student FROM gradebook WHERE assignment = ? AND last_status = 'graded'"
    return {row["student"] for row in ledger.rows(query, assignment)}


def _keep(plan: Plan, ledger: Ledger, place: int, one: HandedIn, job: Job, outcome: Outcome) -> None:
    """Writes an outcome into the ledger; work that was done before is no new run."""
    digest = outcome.digest or f"unread:{one.label}"
    newest = Path(job.folder) == folder_of(plan.out, plan.settings.assignment, one.key).absolute()
    with ledger.writing() as connection:
        submission = put_submission(connection, plan.settings.assignment, one, digest, place, newest)
    if outcome.status == "unchanged":
        return
    result = read_result(Path(job.folder)) if outcome.status == "graded" else None
    put_run(ledger, Run(submission, outcome.work, outcome.moment, outcome.seconds, result, outcome.message))


def read_result(folder: Path) -> Result:
    """The result in a student's folder.

    Raises:
        InfrastructureError: it is not there, or is none.
    """
    path = folder / RESULT
    try:
        return Result.model_validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InfrastructureError(f"{path} cannot be read: {error}") from error


def selected(submissions: Iterable[HandedIn], patterns: Sequence[str]) -> list[HandedIn]:
    """Those whose student or label one of the patterns matches (``*`` and ``?``, or a part of it)."""
    from fnmatch import fnmatchcase

    def fits(one: HandedIn) -> bool:
        names = [n.casefold() for n in (one.key, one.label, one.student.name, one.student.login, one.student.id) if n]
        return any(fnmatchcase(n, p.casefold()) or p.casefold() in n for p in patterns for n in names)

    return [one for one in submissions if fits(one)] if patterns else list(submissions)


def unpacked(path: Path, into: Path) -> Path:
    """The folder of a download that is a zip, unpacked under ``into``; a folder as it is."""
    from grader.batch.download import unpack

    if path.is_dir():
        return path
    target = Path(tempfile.mkdtemp(prefix="handed-in-", dir=into))
    try:
        unpack(path, target)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return target
