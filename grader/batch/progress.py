"""How far a batch is: a live line on a terminal, a line a submission elsewhere; on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from grader.batch.run import Tell
from grader.batch.work import Job, Outcome
from grader.report.texts import visible

WIDEST = 60


@contextmanager
def shown(quiet: bool) -> Iterator[Tell]:
    """What is to be told of each outcome."""
    if quiet:
        yield lambda number, of, job, outcome: None
    elif sys.stderr.isatty():
        with _bar() as tell:
            yield tell
    else:
        yield _lines()


def _what(job: Job, outcome: Outcome) -> str:
    return visible(f"{job.label[:WIDEST]}: {outcome.status}{f', {outcome.message}' if outcome.message else ''}")


def _lines() -> Tell:
    began = time.monotonic()

    def tell(number: int, of: int, job: Job, outcome: Outcome) -> None:
        left = (time.monotonic() - began) / number * (of - number)
        rest = f", {_span(left)} left" if number < of else ""
        print(f"{number}/{of} {_what(job, outcome)} ({outcome.seconds:.1f} s{rest})", file=sys.stderr, flush=True)

    return tell


@contextmanager
def _bar() -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True, highlight=False)) as bar:
        task = bar.add_task("", total=None)

        def tell(number: int, of: int, job: Job, outcome: Outcome) -> None:
            bar.update(task, total=of, completed=number, description=_what(job, outcome))

        yield tell


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
