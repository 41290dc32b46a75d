"""How far a grading is: what it tells while it works, and who shows it."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TextIO

# checks: how many will be made. begun, ended: a check. said: something within a check, e.g. an epoch of a training.
Step = Literal["checks", "begun", "said", "ended"]


@dataclass(frozen=True)
class News:
    """What has just happened.

    Attributes:
        step: of what kind it is.
        check: of which check.
        text: for ``ended`` the verdict in words, for ``said`` a line.
        count: for ``checks``: how many.
    """

    step: Step
    check: str = ""
    text: str = ""
    count: int = 0


Progress = Callable[[News], None]
Clock = Callable[[], float]

SAID_EVERY = 10.0  # seconds between two lines of one check in a log: a training has hundreds of epochs
BAR = 20  # columns
ERASE = "\r\x1b[K"


def silent(news: News) -> None:
    """Shows nothing."""


class Lines:
    """For a pipe or a log: a line for each check that has ended."""

    def __init__(self, out: TextIO, clock: Clock = time.monotonic) -> None:
        self.out = out
        self.clock = clock
        self.count = self.done = 0
        self.last_said: dict[str, float] = {}
        self.lock = threading.Lock()

    def __call__(self, news: News) -> None:
        """Shows it."""
        with self.lock:
            if news.step == "checks":
                self.count, self.done = news.count, 0
            elif news.step == "ended":
                self.done += 1
                width = len(str(self.count))
                print(f"[{self.done:>{width}}/{self.count}] {news.check}: {news.text}", file=self.out, flush=True)
            elif news.step == "said" and self._due(news.check):
                print(f"{news.check}: {news.text}", file=self.out, flush=True)

    def _due(self, check: str) -> bool:
        now = self.clock()
        if now - self.last_said.get(check, -SAID_EVERY) < SAID_EVERY:
            return False
        self.last_said[check] = now
        return True

    def close(self) -> None:
        """Nothing is left to clear away."""


class Live:
    """For a terminal: one line that is written over, and gone at the end."""

    def __init__(self, out: TextIO, columns: Callable[[], int], clock: Clock = time.monotonic) -> None:
        self.out = out
        self.columns = columns
        self.clock = clock
        self.started = clock()
        self.count = self.done = 0
        self.running: dict[str, str] = {}
        self.lock = threading.Lock()

    def __call__(self, news: News) -> None:
        """Shows it."""
        with self.lock:
            self._take(news)
            self.out.write(ERASE + self._line()[: max(self.columns() - 1, 0)])
            self.out.flush()

    def _take(self, news: News) -> None:
        if news.step == "checks":
            self.count, self.done, self.running = news.count, 0, {}
            self.started = self.clock()
        elif news.step == "ended":
            self.done += 1
            self.running.pop(news.check, None)
        else:
            self.running[news.check] = news.text

    def _line(self) -> str:
        told = ", ".join(f"{check}: {text}" if text else check for check, text in self.running.items())
        if not self.count:
            return told
        filled = BAR * self.done // self.count
        bar = f"[{'#' * filled}{'-' * (BAR - filled)}] {self.done}/{self.count}"
        return f"{bar} {self.clock() - self.started:3.0f} s  {told}"

    def close(self) -> None:
        """Clears the line away."""
        with self.lock:
            self.out.write(ERASE)
            self.out.flush()


def for_stream(out: TextIO, dumb: bool, columns: Callable[[], int]) -> Lines | Live:
    """What suits a stream: `Live` for a terminal that can, `Lines` for anything else."""
    return Live(out, columns) if out.isatty() and not dumb else Lines(out)


@contextlib.contextmanager
def following(quiet: bool) -> Iterator[Progress]:
    """Progress on standard error, cleared away at the end."""
    if quiet:
        yield silent
        return
    dumb = os.environ.get("TERM", "dumb") == "dumb"
    shown_by = for_stream(sys.stderr, dumb, lambda: shutil.get_terminal_size().columns)
    try:
        yield shown_by
    finally:
        shown_by.close()
