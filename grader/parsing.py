"""Command lines: the parser of every command, and the options that several of them have."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from grader import sandbox
from grader.errors import UsageError
from grader.explain.levels import DEFAULT, LEVELS
from grader.parallel import processors
from grader.report import target
from grader.report.stdout import shown


class Parser(argparse.ArgumentParser):
    """A parser whose errors end like every other usage error."""

    def error(self, message: str) -> NoReturn:
        """Raises instead of exiting."""
        raise UsageError(f"{message}\n{self.format_usage().strip()}")

    def add_sandbox(self, confined: str) -> None:
        """``--sandbox`` and ``--require-sandbox``; ``confined``: who is, e.g. "the submission". See ``wall``."""
        self.add_argument("--sandbox", choices=sandbox.NAMES, default="auto", help=f"how to confine {confined}")
        self.add_argument("--require-sandbox", action="store_true", help="refuse to go on with limits alone")

    def add_quiet(self) -> None:
        """``--quiet``, ``-q``."""
        self.add_argument("--quiet", "-q", action="store_true", help="no progress on standard error")

    def add_json(self, what: str) -> None:
        """``--json``; ``what``: what is written, e.g. "all errors". See ``tell``."""
        self.add_argument("--json", metavar="PATH", help=f"write {what} as JSON (`-`: to standard output, alone)")

    def add_jobs(self, what: str) -> None:
        """``--jobs``; ``what``: what there may be several of, e.g. "gradings". See ``at_least_one``."""
        self.add_argument(
            "--jobs", type=int, default=processors(), metavar="N", help=f"{what} at a time (default: the processors)"
        )

    def add_only_rows(self, what: str) -> None:
        """``--only``, any number; ``what``: what happens, e.g. "grade these rows alone"."""
        self.add_argument("--only", action="append", default=[], metavar="ROW[,ROW]", help=what)

    def add_fixtures(self) -> None:
        """``--fixtures``: a private set beside the public one."""
        self.add_argument(
            "--fixtures",
            type=Path,
            metavar="DIR",
            help="a private fixture set: of both, it and the public one, the worse counts (default: $GRADE_FIXTURES)",
        )

    def add_compiler(self) -> None:
        """``--cc``."""
        self.add_argument("--cc", metavar="CC", help="compiler (default: the first of gcc, clang, cc)")

    def add_backend(self) -> None:
        """``--backend``."""
        self.add_argument(
            "--backend",
            choices=("numpy", "simple", "auto", "cuda"),
            help="what computes, where there is a choice (default: numpy); auto: looks at the CUDA kernels too, and"
            " computes on them where there is a GPU; cuda: demands one",
        )

    def add_no_training(self) -> None:
        """``--no-training``."""
        self.add_argument("--no-training", action="store_true", help="leave out the rows that train for real")

    def add_depth(self) -> None:
        """What is told: ``--no-second-look``, ``--after-due``, ``--explain``."""
        self.add_argument("--no-second-look", action="store_true", help="leave out what is built for advice alone")
        self.add_argument("--after-due", action="store_true", help="show students what they see after the due date")
        self.add_argument(
            "--explain",
            choices=LEVELS,
            default=DEFAULT,
            help=f"how much to tell of a failure's cause (default: {DEFAULT})",
        )


def wall(options: argparse.Namespace) -> sandbox.Sandbox:
    """The sandbox that ``Parser.add_sandbox``'s options ask for.

    Raises:
        InfrastructureError: this machine cannot have it.
    """
    return sandbox.choose(options.sandbox, options.require_sandbox)


def at_least_one(options: argparse.Namespace, *names: str) -> None:
    """Refuses numbers below 1.

    Raises:
        UsageError: an option that is given is below 1.
    """
    for name in names:
        if (value := getattr(options, name)) is not None and value < 1:
            raise UsageError(f"--{name}: {value} is not a number of 1 or more")


def writable(options: argparse.Namespace, *names: str) -> None:
    """Refuses targets that cannot become a file, before anything is graded.

    Raises:
        UsageError: an option that is given names none.
    """
    for name in names:
        if (path := getattr(options, name)) is not None:
            target.check(f"--{name}", path)


def tell(path: str | None, as_json: Callable[[], str], show: Callable[[], None]) -> None:
    """Reports: as JSON where ``path`` says so, and to the user unless that is where the JSON went."""
    if path is not None:
        target.put(as_json(), path)
    if path is None or target.named(path) != target.STDOUT:
        with shown(path or ""):
            show()
