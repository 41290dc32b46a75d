"""``./grade package SITE ID --out DIR``: what a course site is given so that it grades by itself."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from grader import assignment as assignments
from grader import fixtures, package
from grader.cli import Parser, grade_parser
from grader.errors import EXIT_GRADED, UsageError

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
        grade_parser().parse_intermixed_args([assignment.id, *options])  # a typing error is told now, not at the site
    if asked.fixtures is not None and fixtures.load(asked.fixtures).manifest.assignment != assignment.id:
        raise UsageError(f"{asked.fixtures} holds no fixtures of {assignment.id}")
    _write(asked, assignment, options)
    return EXIT_GRADED


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
