"""``./grade <ID> [SUBMISSION]``."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from grader import deciding, framework, tolerances
from grader import submission as submissions
from grader.assignment import Assignment
from grader.cli import default_submission, exit_code
from grader.cuda import asked as cuda
from grader.errors import EXIT_GRADED, NotShownError, UsageError
from grader.grading import SoFar
from grader.home import ROOT
from grader.options import Options
from grader.parsing import wall
from grader.progress import Progress, following
from grader.redact import for_students
from grader.report import Request, requests
from grader.report.stdout import shown
from grader.report.target import STDOUT
from grader.result import Result
from grader.submission import Taken
from grader.training import with_training

WIDTH = 100  # columns, where none are asked for
NARROWEST = 40


def _submission_path(assignment: Assignment, arguments: argparse.Namespace) -> Path:
    if arguments.reference:
        if arguments.submission:
            raise UsageError("--reference grades the reference; a submission beside it has no meaning")
        return ROOT / "reference" / assignment.id
    if arguments.submission == "":
        raise UsageError("the submission has an empty name")
    return Path(arguments.submission) if arguments.submission else default_submission(assignment)


def _flags(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--cflags: {error} in {text!r}") from error


def _for_kernels(assignment: Assignment) -> str:
    return "" if assignment.backend_variable is None else " but for its kernels: with --backend auto, or cuda"


def _options(
    assignment: Assignment, path: Path, arguments: argparse.Namespace, rows: list[str], progress: Progress
) -> Options:
    template = ROOT / "student_template" / assignment.id  # the reference's kernels are those that students get
    kernels = cuda.asked(assignment, arguments.backend, template if arguments.reference else path, arguments.sanitize)
    if arguments.sanitize and assignment.sanitizers is None and kernels is None:
        raise UsageError(f"--sanitize: {assignment.id} has no sanitizers{_for_kernels(assignment)}")
    options = Options(
        rows=rows,
        compiler=arguments.cc,
        flags=_flags(arguments.cflags),
        second_look=not arguments.no_second_look,
        unseen=arguments.audience == "staff",
        after_due=arguments.after_due,
        explain=arguments.explain,
        sanitize=arguments.sanitize,
        backend=arguments.backend,
        framework=arguments.framework,
        kernels=kernels,
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
    asked = requests(arguments.report, arguments.json)
    if arguments.watch:
        return _watched(assignment, arguments, rows, asked)
    with following(arguments.quiet) as progress:
        result, told = _graded(assignment, arguments, rows, asked, progress)
    _report(result, told, asked, arguments.verbose)
    return exit_code(result.score, arguments.min_score)


def _watched(assignment: Assignment, arguments: argparse.Namespace, rows: list[str], asked: Sequence[Request]) -> int:
    """Grades at each save, until the user ends it; the exit code is that of the last result."""
    from grader.commands import watch

    if STDOUT in [request.target for request in asked]:
        raise UsageError("--watch shows each result: a report needs a file, and not standard output")
    if arguments.partial:
        raise UsageError("--watch writes whole results: it does not go with --partial")

    def grade(names: list[str]) -> Result:
        with following(arguments.quiet) as progress:
            return _graded(assignment, arguments, names, asked, progress)[0]

    def show(new: Result, whole: Result) -> None:
        _report(whole, for_students(whole, assignment, arguments.after_due), asked, arguments.verbose, new)

    path = _submission_path(assignment, arguments).resolve()
    last = watch.run(watch.Watch(assignment, path, rows, grade, show, arguments.quiet))
    return exit_code(last.score, arguments.min_score) if last else EXIT_GRADED


def _graded(
    assignment: Assignment,
    arguments: argparse.Namespace,
    rows: list[str],
    asked: Sequence[Request],
    progress: Progress,
) -> tuple[Result, Result]:
    """The result as whoever runs this may see it, and as students may."""
    path = _submission_path(assignment, arguments)
    taken = submissions.take(path, assignment.submission, ROOT / "student_template" / assignment.id)

    def tell(result: Result) -> None:
        _rewrite(asked, *_views(result, assignment, arguments))

    so_far = tell if arguments.partial else None
    return _views(graded(assignment, taken, path, arguments, rows, progress, so_far), assignment, arguments)


def graded(
    assignment: Assignment,
    taken: Taken,
    path: Path,
    arguments: argparse.Namespace,
    rows: list[str],
    progress: Progress,
    so_far: SoFar | None = None,
) -> Result:
    """The whole result of what was taken from ``path``, as `grader.cli.grade_parser`'s arguments ask for it."""
    if arguments.framework == framework.SUBMITTED:
        ours = ROOT / "student_template" / assignment.id
        taken = framework.with_submitted_framework(assignment, taken, path, ours)
    assignment = framework.with_backend(assignment, arguments.backend)
    return deciding.grade(
        assignment,
        taken,
        deciding.sets(assignment.id, arguments.fixtures),
        wall(arguments),
        tolerances.load(),
        _options(assignment, path, arguments, rows, progress),
        progress,
        so_far,
    )


def seen(result: Result, assignment: Assignment, arguments: argparse.Namespace) -> Result:
    """The result as whoever runs this may see it."""
    return _views(result, assignment, arguments)[0]


def _views(result: Result, assignment: Assignment, arguments: argparse.Namespace) -> tuple[Result, Result]:
    """The result as whoever runs this may see it, and as students may."""
    told = for_students(result, assignment, arguments.after_due)
    return (result if arguments.audience == "staff" else told), told


def _rewrite(asked: Sequence[Request], result: Result, told: Result) -> None:
    """Writes the files that were asked for with what is known so far; what cannot be written is told at the end."""
    for request in asked:
        if request.target != STDOUT and not request.writer.once:
            with contextlib.suppress(NotShownError):
                request.write(result, told)


def _report(result: Result, told: Result, asked: Sequence[Request], verbose: bool, fresh: Result | None = None) -> None:
    """The files first: they are there even where nothing can be shown; and what cannot be written is shown.

    ``told`` is the result as students may see it; ``fresh`` the part of it that is shown, where it is not all.
    """
    failed: list[str] = []
    alone = STDOUT in [request.target for request in asked]
    for request in sorted(asked, key=lambda request: request.target == STDOUT):
        try:
            request.write(result, told)
        except NotShownError as error:
            failed.append(str(error))
    if not alone:
        _show(fresh or result, verbose, "" if failed else ", ".join(request.target for request in asked))
        if fresh is not None and fresh.rows != result.rows:
            print(f"with the other rows as they were: {result.score}/{result.max_score}", flush=True)
    if failed:
        raise NotShownError("; ".join(failed))


def _show(result: Result, verbose: bool, kept: str = "") -> None:
    """The result on standard output; ``kept``: the file that it is in already."""
    from rich.console import Console

    from grader.report import terminal

    class Piped(Console):
        def on_broken_pipe(self) -> None:  # not rich's: it ends the program with 1
            raise BrokenPipeError

    console = Piped(highlight=False, width=None if sys.stdout.isatty() else _columns())
    console.width = max(console.width, NARROWEST)
    with shown(kept):
        terminal.render(result, console, verbose)


def _columns() -> int:
    """How wide the output is where it goes into a pipe or a file."""
    asked = os.environ.get("COLUMNS", "")
    return max(int(asked), NARROWEST) if asked.isdecimal() and len(asked) < 6 else WIDTH
