"""The command line: ``./grade A2``, ``./grade fixtures …``, ``./grade template …``."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from grader import __version__
from grader import assignment as assignments
from grader.errors import (
    EXIT_BELOW_MINIMUM,
    EXIT_GRADED,
    EXIT_INFRASTRUCTURE,
    GraderError,
    UsageError,
)
from grader.home import ROOT
from grader.parsing import Parser
from grader.report import WRITERS, stdout
from grader.report.texts import printable

EPILOG = """\
other commands:
  batch ID SUBMISSIONS --out DIR  grade a class: a ledger, a page a student, gradebooks
  ledger list|show|override|...   look into a class's ledger, decide, export
  similarity DIR                  which submissions are alike beyond the template
  explain ID [ROW]              what a row asks for, what is checked, what often goes wrong
  kernels ID [SUBMISSION]       CUDA kernels where there is no GPU: indices, barriers, races
  fixtures build|verify|state   make or check the fixtures (needs torch)
  package NAME ID --out DIR     what a course site runs: gradescope, prairielearn, autolab
  replay RESULT.json SUBMISSION   grade again as a result was made, and say what differs
  schema                        the JSON Schema of a result
  template [--check]            cut the student templates from the references
  data import|fetch|forget      real data for training runs, in place of the embedded corpus
  calibrate ID                  do the tolerances separate right from wrong, and by how much
  mutate ID                     a mutation study of the grader itself
  compare A B SUBMISSIONS       whose score changes under other tolerances, fixtures or assignment
  doctor [--json]               what this machine can do, and what to install or allow
  sbom [--out PATH]             what the grader consists of here, as a bill of materials (CycloneDX)
  selftest                      run the grader's own tests

exit codes: 0 graded, 1 graded and below --min-score, 2 wrong usage, 3 infrastructure error (no score)
"""


# What a first word that is no assignment runs: a module of grader.commands with `run(arguments) -> exit code`.
COMMANDS = {
    "batch": "batch",
    "calibrate": "calibrate",
    "compare": "compare",
    "data": "data",
    "doctor": "doctor",
    "explain": "explain",
    "fixtures": "fixtures",
    "kernels": "kernels",
    "ledger": "ledger",
    "package": "package",
    "replay": "replay",
    "sbom": "sbom",
    "schema": "schema",
    "similarity": "similarity",
    "mutate": "mutate",
    "template": "template",
}


def grade_parser() -> Parser:
    """The parser of ``./grade <ID>``."""
    parser = Parser(
        prog="grade",
        description="Grade a submission of an assignment.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tensorgrade {__version__}")
    parser.add_argument("assignment", help=f"one of: {', '.join(assignments.known_ids())}")
    parser.add_argument(
        "submission",
        nargs="?",
        help="a folder, zip, tar or file; default: the current folder if it holds the files, else the template",
    )
    parser.add_argument("--reference", action="store_true", help="grade the reference solution itself")
    parser.add_only_rows("grade these rows alone")
    parser.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help=f"write the result to a file (`-`: to standard output, alone), any number; NAME: {', '.join(WRITERS)}",
    )
    parser.add_argument("--json", metavar="PATH", help="the same as --report json=PATH")
    parser.add_argument(
        "--audience",
        choices=("student", "staff"),
        default="student",
        help="staff: make and show the checks that students do not see, too",
    )
    parser.add_depth()
    parser.add_argument(
        "--partial",
        action="store_true",
        help="rewrite the reports after each check: being stopped leaves what was done",
    )
    parser.add_argument(
        "--watch", action="store_true", help="grade again at each save: the rows that it can have touched"
    )
    parser.add_argument("--verbose", "-v", action="store_true", help="all evidence, and the handout's own transcript")
    parser.add_quiet()
    parser.add_argument("--min-score", type=int, default=0, metavar="N", help="exit with 1 below N points")
    parser.add_fixtures()
    parser.add_sandbox("the submission")
    parser.add_compiler()
    parser.add_argument(
        "--cflags", default="", metavar="FLAGS", help="appended to the build's; with the `=`: --cflags=-O3"
    )
    parser.add_argument(
        "--sanitize",
        action="store_true",
        help="watch memory and threads in what passes too; of kernels on a GPU: with compute-sanitizer",
    )
    parser.add_no_training()
    parser.add_argument(
        "--framework", choices=("ours", "submitted"), default="ours", help="whose framework, of one that comes with it"
    )
    parser.add_backend()
    parser.add_argument("--full", action="store_true", help="train to the end, not only to the bar")
    parser.add_argument("--checkpoint", type=Path, metavar="BIN", help="a real checkpoint, with --state")
    parser.add_argument("--state", type=Path, metavar="BIN", help="its debug state")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit code. One message for each error, never a traceback."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter gets its number
    try:
        return _dispatch(arguments)
    except GraderError as error:
        print(printable(f"grade: {error.kind}: {error}"), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("grade: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        stdout.give_up()
        return EXIT_GRADED
    except Exception as error:
        if os.environ.get("GRADE_DEBUG"):
            raise
        what = printable(f"{type(error).__name__}: {error}")
        print(
            f"grade: infrastructure error, nothing was scored: {what} (GRADE_DEBUG=1 shows more)",
            file=sys.stderr,
        )
        return EXIT_INFRASTRUCTURE


def _dispatch(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        command = importlib.import_module(f"grader.commands.{COMMANDS[arguments[0]]}")
        return int(command.run(arguments[1:]))
    return _grade(grade_parser().parse_intermixed_args(arguments))


def default_submission(assignment: assignments.Assignment) -> Path:
    """The current folder if it holds a file that counts, else the template."""
    here = Path.cwd()
    if any((here / name).is_file() for name in assignment.submission.files):
        return here
    return ROOT / "student_template" / assignment.id


def _rows(values: Sequence[str]) -> list[str]:
    return [row.strip() for value in values for row in value.split(",") if row.strip()]


def _grade(arguments: argparse.Namespace) -> int:
    assignment = assignments.load(arguments.assignment)
    rows = asked_rows(assignment, arguments)
    from grader.commands.grade import run

    return run(assignment, arguments, rows)


def asked_rows(assignment: assignments.Assignment, arguments: argparse.Namespace) -> list[str]:
    """The rows that ``--only`` names; none: all.

    Raises:
        UsageError: there is no such row, or ``--min-score`` is out of reach.
    """
    rows = _rows(arguments.only)
    if arguments.only and not rows:
        raise UsageError(f"--only names no row; the rows are: {', '.join(row.id for row in assignment.rows)}")
    if not 0 <= arguments.min_score <= assignment.total:
        raise UsageError(f"--min-score: {arguments.min_score} is not between 0 and {assignment.total}")
    for row in rows:
        assignment.row(row)
    return rows


def exit_code(score: int, minimum: int) -> int:
    """0, or 1 below the minimum."""
    return EXIT_BELOW_MINIMUM if score < minimum else EXIT_GRADED
