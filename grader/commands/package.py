"""``./grade package SITE ID --out DIR``: what a course site is given so that it grades by itself."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from grader import assignment as assignments
from grader import fixtures, package
from grader.cli import asked_rows, grade_parser
from grader.errors import EXIT_GRADED, UsageError
from grader.parsing import Parser

EPILOG = "Options of ./grade that each grading is to have stand behind `--`, e.g. -- --no-training."


def run(arguments: list[str]) -> int:
    """Writes the package; returns the exit code."""
    parser = Parser(prog="grade package", description="Make what a course site runs.", epilog=EPILOG)
    parser.add_argument("site", choices=sorted(package.SITES))
    parser.add_argument("assignment", help=f"one of: {', '.join(assignments.known_ids())}")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder, or a new .zip")
    parser.add_argument("--fixtures", type=Path, metavar="DIR", help="a private fixture set that is put into it")
    parser.add_argument("--image", metavar="NAME", help="name of the image, where the site runs one (tensorgrade-ID)")
    own, dashes, options = _split(arguments)
    asked = parser.parse_args(own)
    assignment = assignments.load(asked.assignment)
    if dashes:
        _check(assignment, options)
    if asked.image is not None and asked.image.split() != [asked.image]:
        raise UsageError(f"--image: {asked.image!r} is not the name of an image")
    if asked.fixtures is not None and fixtures.load(asked.fixtures).manifest.assignment != assignment.id:
        raise UsageError(f"{asked.fixtures} holds no fixtures of {assignment.id}")
    _write(asked, assignment, options)
    return EXIT_GRADED


def _check(assignment: assignments.Assignment, options: list[str]) -> None:
    """Refuses, now and not at the site, options that have no meaning there, and errors in typing."""
    if {"-h", "--help"} & set(options):
        raise UsageError("what stands behind `--` are options of each grading: ./grade --help lists them")
    given = grade_parser().parse_intermixed_args([assignment.id, *options])
    asked_rows(assignment, given)
    if given.submission is not None:
        raise UsageError(f"{given.submission!r} behind `--` is no option: the site says what is graded")
    if given.reference or given.watch:
        raise UsageError("--reference and --watch have no meaning at a site, which says what is graded")
    if given.fixtures is not None:
        raise UsageError("--fixtures stands before `--`: the set goes into the package")
    if given.report or given.json is not None:
        raise UsageError("--report and --json have no meaning at a site, which reads what it is for")


def _split(arguments: list[str]) -> tuple[list[str], bool, list[str]]:
    """What stands before `--`, whether it is there, and what stands behind it."""
    if "--" not in arguments:
        return arguments, False, []
    at = arguments.index("--")
    return arguments[:at], True, arguments[at + 1 :]


def _write(asked: argparse.Namespace, assignment: assignments.Assignment, options: list[str]) -> None:
    image = asked.image or f"tensorgrade-{assignment.id.lower()}"
    files = package.SITES[asked.site](package.Settings(assignment, asked.fixtures, options, image))
    package.write(files, asked.out)
    size = sum(map(len, files.values())) / 1e6
    print(
        f"wrote {asked.out}: {len(files)} files, {size:.1f} MB; docs/outputs.md says what to do with it",
        file=sys.stderr,
    )
