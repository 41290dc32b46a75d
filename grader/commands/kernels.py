"""``./grade kernels <ID> [SUBMISSION]``: a submission's CUDA kernels, judged where there is no GPU."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

from grader import assignment as assignments
from grader import submission as submissions
from grader.assignment import Assignment
from grader.errors import EXIT_GRADED, UsageError
from grader.home import ROOT
from grader.kernels import settings
from grader.kernels.report import as_json, as_text
from grader.kernels.run import Options
from grader.kernels.run import run as judge
from grader.parsing import Parser, tell, wall, writable
from grader.progress import following

WIDTH = 100  # columns, where none are asked for
NARROWEST = 40
DESCRIPTION = """\
Compiles src/combine.cu for an execution model on the host and calls its functions there: wrong values, wrong indices,
missing barriers, races and forgotten copies are told with their line. No GPU and no CUDA toolkit is needed, and no
points depend on it.
exit codes: 0 judged, whatever came of it, 2 wrong usage, 3 infrastructure error
"""


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="grade kernels", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assignment", help="HW2")
    parser.add_argument(
        "submission",
        nargs="?",
        help="a folder, zip, tar or file; default: the current folder if it holds the file, else the template",
    )
    parser.add_argument("--reference", action="store_true", help="judge the reference's kernels")
    parser.add_argument("--only", action="append", default=[], metavar="KERNEL", help="this kernel alone")
    parser.add_json("the result")
    parser.add_argument("--cc", metavar="CXX", help="C++ compiler (default: the first of g++, clang++, c++)")
    parser.add_quiet()
    parser.add_sandbox("the submission")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Judges, tells, returns the exit code."""
    asked = _parser().parse_intermixed_args(arguments)
    assignment = assignments.load(asked.assignment)
    known = settings.load(assignment)
    ids = [kernel.id for kernel in known.kernels]
    for name in asked.only:
        if name not in ids:
            raise UsageError(f"--only: there is no kernel `{name}`; there are: {', '.join(ids)}")
    writable(asked, "json")
    ours = ROOT / "student_template" / assignment.id
    taken = submissions.take(_path(assignment, known, asked), known.submission, ours)
    with following(asked.quiet) as progress:
        result = judge(assignment, taken, wall(asked), Options(asked.cc, asked.only), progress)
    columns = shutil.get_terminal_size((WIDTH, 24)).columns
    tell(
        asked.json,
        lambda: as_json(result),
        lambda: print(as_text(result, max(columns, NARROWEST)), end=""),
    )
    return EXIT_GRADED


def _path(assignment: Assignment, known: settings.Settings, asked: argparse.Namespace) -> Path:
    template = ROOT / "student_template" / assignment.id
    if asked.reference:
        if asked.submission:
            raise UsageError("--reference judges the reference; a submission beside it has no meaning")
        return template  # a file that students bring from another homework: ours is complete
    if asked.submission == "":
        raise UsageError("the submission has an empty name")
    if asked.submission:
        return Path(asked.submission)
    here = Path.cwd()
    return here if any((here / name).is_file() for name in known.submission.files) else template
