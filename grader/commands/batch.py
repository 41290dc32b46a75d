"""``./grade batch <ID> SUBMISSIONS --out DIR``: a class, from what the course site hands out to its gradebook."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from grader import assignment as assignments
from grader import deciding, framework
from grader.batch import exports, find, identity, pages, progress
from grader.batch import roster as rosters
from grader.batch import run as batches
from grader.batch.local import Pool
from grader.batch.work import Settings
from grader.cuda import asked as cuda
from grader.errors import EXIT_GRADED, EXIT_INFRASTRUCTURE, InfrastructureError, UsageError
from grader.home import ROOT
from grader.parallel import processors
from grader.parsing import Parser, at_least_one, wall
from grader.report.stdout import shown
from grader.report.texts import printable
from grader.workplace import work_folder

LOCAL, SLURM = "local", "slurm"
CLUSTER = "cluster"  # in the folder of the ledger, which the cluster shares: logs and outcomes

DESCRIPTION = """\
Grades a class. SUBMISSIONS is a folder or a zip: the download of Canvas or Gradescope, or a folder, archive or file
for each student, called after the student. In DIR there is then a ledger, a folder for each student (result.json for
the staff, report.html for the student), gradebooks and pages. Run again, it goes on where it was, and grades only
what is new or changed.
"""


def parser() -> argparse.ArgumentParser:
    """The parser of ``./grade batch``."""
    top = Parser(prog="grade batch", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("assignment", help=f"one of: {', '.join(assignments.known_ids())}")
    top.add_argument("submissions", type=Path, metavar="SUBMISSIONS")
    top.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder of the ledger")
    top.add_argument("--roster", type=Path, metavar="CSV", help="who is in the course; Canvas's gradebook will do")
    top.add_argument(
        "--late", type=Path, metavar="YAML", help=f"the late policy (default: {exports.LATE} in DIR, if there)"
    )
    top.add_argument("--times", type=Path, metavar="CSV", help="when students handed in: login, submitted_at")
    top.add_argument("--all", action="store_true", help="grade earlier submissions of a student too")
    top.add_argument("--select", action="append", default=[], metavar="NAME", help="these students alone (* and ?)")
    top.add_argument(
        "--only-failed", action="store_true", help="only those that the grader failed at, or never reached"
    )
    top.add_argument("--regrade", action="store_true", help="also what is graded and unchanged")
    top.add_argument(
        "--workers", type=int, default=processors(), metavar="N", help="submissions at a time (processors)"
    )
    top.add_argument("--executor", choices=(LOCAL, SLURM), default=LOCAL, help="this machine, or a cluster")
    top.add_argument("--partition", metavar="NAME", help="of the cluster (default: Slurm's)")
    top.add_argument("--timeout", type=float, default=1800.0, metavar="S", help="seconds for one submission (1800)")
    top.add_argument(
        "--canvas-column", metavar="NAME", help='the heading in Canvas, e.g. "A2 (12345)" (default: the id)'
    )
    top.add_fixtures()
    top.add_sandbox("the submissions")
    top.add_compiler()
    top.add_backend()
    top.add_no_training()
    top.add_depth()
    top.add_quiet()
    return top


def run_batch(options: argparse.Namespace) -> tuple[batches.Tally, list[str]]:
    """Finds, grades, exports. Returns how it went, and what is to be said of it."""
    _check(options)
    roster = rosters.load(options.roster) if options.roster else None
    policy = exports.policy(options.out, options.late, options.times)
    with work_folder() as scratch:
        findings = find.find(
            batches.unpacked(options.submissions, _shared(options, scratch)), roster, options.all, options.out
        )
        with batches.open_ledger(options.out) as ledger:
            identity.settle(ledger, options.out, findings, roster)
        findings.submissions = batches.selected(findings.submissions, options.select)
        if not findings.submissions:
            raise UsageError(f"--select: nobody's submission is called like {' or '.join(options.select)}")
        plan = batches.Plan(_settings(options), options.out, findings, options.regrade, options.only_failed)
        try:
            with progress.shown(options.quiet) as tell:
                tally = batches.run(plan, _executor(options), tell)
        finally:  # stopped or not: what is graded is exported
            with batches.open_ledger(options.out) as ledger:
                column = options.canvas_column or options.assignment
                _, notes = exports.write(ledger, options.assignment, options.out, policy, options.times, column)
    return tally, [*findings.notes, *notes]


def _check(options: argparse.Namespace) -> None:
    assignment = assignments.load(options.assignment)
    framework.with_backend(assignment, options.backend)
    cuda.asked(assignment, options.backend, ROOT / "student_template" / assignment.id)
    at_least_one(options, "workers")
    if options.timeout <= 0:
        raise UsageError(f"--timeout: {options.timeout} is not a number of seconds")
    if not options.submissions.exists():
        raise UsageError(f"there is nothing at {options.submissions}")
    if options.out.resolve() == options.submissions.resolve():
        raise UsageError(f"--out: {options.out} holds the submissions; name a folder of its own")
    deciding.sets(options.assignment, options.fixtures)
    wall(options)


def _executor(options: argparse.Namespace) -> batches.Executor:
    if options.executor == LOCAL:
        return Pool(options.workers, options.timeout)
    from grader.batch.cluster import Slurm

    if shutil.which("sbatch") is None:
        raise UsageError("--executor slurm: there is no `sbatch` on this machine; run it where Slurm's commands are")
    return Slurm(options.out.absolute() / CLUSTER, options.workers, options.timeout, options.partition)


def _shared(options: argparse.Namespace, scratch: Path) -> Path:
    """Where a download is unpacked: a cluster's machines share no other folder than that of the ledger."""
    if options.executor == LOCAL:
        return scratch
    shared: Path = options.out / CLUSTER
    try:
        shared.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InfrastructureError(f"{shared} cannot be made: {error.strerror}") from error
    return shared


def _settings(options: argparse.Namespace) -> Settings:
    folder = deciding.asked_for(options.assignment, options.fixtures)
    return Settings(
        assignment=options.assignment,
        fixtures=str(folder.absolute()) if folder else None,
        sandbox=options.sandbox,
        require_sandbox=options.require_sandbox,
        compiler=options.cc,
        backend=options.backend,
        training=not options.no_training,
        second_look=not options.no_second_look,
        after_due=options.after_due,
        explain=options.explain,
    )


def run(arguments: Sequence[str]) -> int:
    """Runs it and tells how it went: 0, or 3 where the grader failed at some."""
    options = parser().parse_args(arguments)
    tally, notes = run_batch(options)
    for note in notes:
        print(printable(f"grade: {note}"), file=sys.stderr)
    with shown():
        print(f"{tally.graded} graded, {tally.unchanged} unchanged, {len(tally.failed)} without a score")
        for line in tally.failed:
            print(printable(f"  {line}"))
        print(f"the class: {options.out / pages.INDEX}")
    return EXIT_INFRASTRUCTURE if tally.failed else EXIT_GRADED
