"""``./grade compare A B SUBMISSIONS``: whose score changes under another version, and why."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from grader import assignment as assignments
from grader.errors import EXIT_BELOW_MINIMUM, EXIT_GRADED, UsageError
from grader.parsing import Parser, at_least_one, tell, wall, writable
from grader.versions.differences import Change
from grader.versions.report import Compared, show
from grader.versions.run import Comparing, saved
from grader.versions.version import CURRENT, named_assignment, version
from grader.workplace import work_folder

DESCRIPTION = f"""\
Grades saved submissions under two versions and tells whose score changes.

A version is `{CURRENT}` (the project as it stands), a folder, or a git revision of the project. A folder holds some of
assignment.yaml, tolerances.yaml and a fixture set (manifest.json in it, or in its fixtures/); what it lacks is the
project's. Of a revision these three are taken; what grades is always the grader as it stands.
"""


def parser() -> argparse.ArgumentParser:
    """The parser of ``./grade compare``."""
    top = Parser(prog="grade compare", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("a", metavar="A", help=f"a version: `{CURRENT}`, a folder, or a git revision")
    top.add_argument("b", metavar="B", help="another version")
    top.add_argument(
        "submissions",
        type=Path,
        metavar="SUBMISSIONS",
        help="a folder of folders, archives or files; an unpacked download",
    )
    top.add_argument("--assignment", metavar="ID", help="where neither version says: as in `compare HEAD~5 current`")
    top.add_no_training()
    top.add_json("what changes")
    top.add_argument("--check", action="store_true", help="exit with 1 if a score changes")
    top.add_jobs("submissions")
    top.add_sandbox("the submissions")
    top.add_quiet()
    return top


def run(arguments: Sequence[str]) -> int:
    """Compares; returns 0, or 1 with ``--check`` if a score changes."""
    options = parser().parse_args(arguments)
    writable(options, "json")
    at_least_one(options, "jobs")
    assignment = assignments.load(_assignment(options))
    found = saved(options.submissions, assignment)
    with work_folder() as scratch:
        folders = [scratch / letter for letter in "ab"]
        for folder in folders:
            folder.mkdir()
        a, b = (version(n, assignment.id, f) for n, f in zip((options.a, options.b), folders, strict=True))
        changes = Comparing((a, b), wall(options), not options.no_training).run(
            found, options.jobs, _teller(options, len(found))
        )
    compared = Compared(
        assignment=assignment.id, a=a.name, b=b.name, brings_a=list(a.own), brings_b=list(b.own), submissions=changes
    )
    tell(options.json, lambda: compared.model_dump_json(by_alias=True, indent=1) + "\n", lambda: show(compared))
    return EXIT_BELOW_MINIMUM if options.check and compared.changed else EXIT_GRADED


def _assignment(options: argparse.Namespace) -> str:
    """The id of the assignment: as asked for, or as a version says."""
    if options.assignment is not None:
        return str(options.assignment)
    said = [name for name in (named_assignment(v) for v in (options.a, options.b) if v != CURRENT) if name is not None]
    if not said:
        raise UsageError("neither version says which assignment it is of; say --assignment ID")
    return said[0]


def _teller(options: argparse.Namespace, total: int) -> Callable[[Change], None]:
    done: list[str] = []

    def told(change: Change) -> None:
        done.append(change.submission)
        if not options.quiet:
            text = f"{len(done)}/{total} {change.submission}: {change.score_a} in A, {change.score_b} in B"
            print(text, file=sys.stderr, flush=True)

    return told
