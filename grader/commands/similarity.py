"""``./grade similarity DIR``: which submissions are alike beyond the template."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader import assignment as assignments
from grader import submission as submissions
from grader.assignment import Assignment
from grader.batch import find
from grader.batch.run import unpacked
from grader.batch.work import one_place
from grader.errors import EXIT_GRADED, GraderError, UsageError
from grader.home import ROOT
from grader.parsing import Parser
from grader.report import target
from grader.report.stdout import shown
from grader.report.texts import visible
from grader.similarity import page
from grader.similarity.pairs import Alike, Text, alike, read
from grader.submission import Taken
from grader.workplace import work_folder

MOST_TOLD = 20


def parser() -> argparse.ArgumentParser:
    """The parser of ``./grade similarity``."""
    top = Parser(prog="grade similarity", description="Pairs of submissions that share more than the template.")
    top.add_argument("folder", type=Path, metavar="DIR", help="the submissions, as for `batch`: a folder or a zip")
    top.add_argument("--assignment", metavar="ID", help="which it is (default: told from the files)")
    top.add_argument("--html", default="similarity.html", metavar="PATH", help="the page (similarity.html)")
    top.add_argument("--min", type=float, default=0.3, metavar="SHARE", help="at least so much, 0 to 1 (0.3)")
    top.add_argument("--most", type=int, default=200, metavar="N", help="at most so many pairs (200)")
    return top


def run(arguments: Sequence[str]) -> int:
    """Compares; returns 0."""
    options = parser().parse_args(arguments)
    target.check("--html", options.html)
    if not 0 <= options.min <= 1 or options.most < 1:
        raise UsageError("--min is a share between 0 and 1, --most a number of 1 or more")
    if not options.folder.exists():
        raise UsageError(f"there is nothing at {options.folder}")
    with work_folder() as scratch:
        found = find.find(unpacked(options.folder, scratch), None).submissions
        known = [options.assignment] if options.assignment else assignments.known_ids()
        assignment, taken = max(
            ((a, _taken(a, found)) for a in map(assignments.load, known)), key=lambda one: len(one[1])
        )
    if len(taken) < 2:
        raise UsageError(f"{options.folder} holds fewer than two submissions of {' or '.join(known)}")
    class_ = _read(assignment, taken)
    pairs = alike(class_, options.min, options.most)
    names = {one.key: one.student.name or one.key for one in found}
    target.put(page.text(assignment.id, class_, pairs, names), options.html)
    _tell(pairs, names, options.html)
    return EXIT_GRADED


def _taken(assignment: Assignment, found: Sequence[find.HandedIn]) -> dict[str, Taken]:
    """The submissions that hold a file of the assignment's; one that cannot be read is told and left out."""
    taken = {}
    for one in found:
        try:
            with one_place([str(path) for path in one.paths]) as path:
                files = submissions.take(path, assignment.submission, ROOT / "student_template" / assignment.id)
        except GraderError as error:
            print(f"grade: {visible(f'{one.label}: {error}')}", file=sys.stderr)
            continue
        if files.files:
            taken[one.key] = files
    return taken


def _read(assignment: Assignment, taken: Mapping[str, Taken]) -> dict[str, dict[str, Text]]:
    ours = ROOT / "student_template" / assignment.id
    templates = {name: read(name, (ours / name).read_bytes()) for name in assignment.submission.files}
    return {
        who: {name: read(name, blob, templates[name]) for name, blob in files.files.items()}
        for who, files in taken.items()
    }


def _tell(pairs: Sequence[Alike], names: Mapping[str, str], where: str) -> None:
    with shown():
        for pair in pairs[:MOST_TOLD]:
            print(visible(f"{pair.share:4.0%}  {names[pair.a]}  {names[pair.b]}").replace("\n", " "))
        more = len(pairs) - MOST_TOLD
        print(f"{len(pairs)} pairs{f' ({more} more on the page)' if more > 0 else ''}; side by side: {where}")
