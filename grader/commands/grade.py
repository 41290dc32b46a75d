"""``./grade <ID> [SUBMISSION]``."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from grader import fixtures, framework, sandbox, tolerances
from grader import submission as submissions
from grader.assignment import Assignment
from grader.cli import default_submission, exit_code
from grader.errors import UsageError
from grader.grading import Grading, Options, Progress
from grader.home import ROOT
from grader.result import Result
from grader.training import with_training


def _submission_path(assignment: Assignment, arguments: argparse.Namespace) -> Path:
    if arguments.reference:
        if arguments.submission:
            raise UsageError("--reference grades the reference; a submission beside it has no meaning")
        return ROOT / "reference" / assignment.id
    return Path(arguments.submission) if arguments.submission else default_submission(assignment)


def _progress(quiet: bool) -> Progress:
    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    return (lambda text: None) if quiet else say


def _flags(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--cflags: {error} in {text!r}") from error


def _options(assignment: Assignment, arguments: argparse.Namespace, rows: list[str], progress: Progress) -> Options:
    options = Options(
        rows=rows,
        compiler=arguments.cc,
        flags=_flags(arguments.cflags),
        second_look=not arguments.no_second_look,
    )
    options = with_training(assignment, options, not arguments.no_training, arguments.full, progress)
    if arguments.checkpoint is None and arguments.state is None:
        return options
    if arguments.checkpoint is None or arguments.state is None:
        raise UsageError("--checkpoint and --state go together")
    from grader.official import with_real_files

    return with_real_files(assignment, options, arguments.checkpoint, arguments.state, progress)


def run(assignment: Assignment, arguments: argparse.Namespace, rows: list[str]) -> int:
    """Grades, reports, returns the exit code."""
    progress = _progress(arguments.quiet)
    path, ours = _submission_path(assignment, arguments), ROOT / "student_template" / assignment.id
    taken = submissions.take(path, assignment.submission, ours)
    if arguments.framework == framework.SUBMITTED:
        taken = framework.with_submitted_framework(assignment, taken, path, ours)
    assignment = framework.with_backend(assignment, arguments.backend)
    fixture_set = fixtures.load(arguments.fixtures or fixtures.set_folder(assignment.id, "public"))
    if fixture_set.manifest.assignment != assignment.id:
        raise UsageError(f"{fixture_set.folder} holds fixtures of {fixture_set.manifest.assignment}")
    grading = Grading(
        assignment,
        taken,
        fixture_set,
        sandbox.choose(arguments.sandbox, arguments.require_sandbox),
        tolerances.load(),
        _options(assignment, arguments, rows, progress),
        progress,
    )
    result = grading.run()
    _report(result, arguments)
    return exit_code(result.score, arguments.min_score)


def _report(result: Result, arguments: argparse.Namespace) -> None:
    from grader.report import json

    if arguments.json != "-":
        from rich.console import Console

        from grader.report import terminal

        console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
        terminal.render(result, console, arguments.verbose)
    if arguments.json:
        json.write(result, arguments.json)
