"""What is to be run confined, and how it ended."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from grader.home import ROOT


def interpreter() -> str:
    """The interpreter outside of the environment: no package of the grader's is in its reach."""
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    return str(base) if base.exists() else os.path.realpath(sys.executable)


@dataclass(frozen=True)
class Box:
    """A command and what it may see and use. The limits hold for its whole process tree.

    Attributes:
        command: program and arguments.
        readable: files and folders it may read, at their own paths; the system's come on top.
        writable: folders it may write; it starts in the first one.
        environment: all of its environment.
        wall_s: wall time after which it is ended.
        cpu_s: CPU time of all its processes together.
        memory_mb: memory of all its processes together, MiB; what they share counts once.
        processes: how many processes and threads it may have at a time.
        output_bytes: how much of its standard output and error is kept.
        disk_mb: how much may lie in its writable folders, all of them together.
        scratch_mb: size of its /tmp, where the sandbox has one of its own.
        hidden: folders that it must not see, even inside of the system; what is readable or writable of them stays.
        owner: the user whose files in places that are open to all count too; None: it cannot write to any.
        handed: open files that it gets, under the same numbers.
        devices: what it may open and use besides those that every box has, e.g. a GPU.
        sockets: whether it may talk to itself through sockets, where the wall gives it a network of its own.
    """

    command: Sequence[str]
    readable: Sequence[Path] = ()
    writable: Sequence[Path] = ()
    environment: dict[str, str] = field(default_factory=dict)
    wall_s: float = 10.0
    cpu_s: float = 600.0
    memory_mb: int = 4096
    processes: int = 512
    output_bytes: int = 1 << 18
    disk_mb: int = 1024
    scratch_mb: int = 256
    hidden: Sequence[Path] = (ROOT,)
    owner: int | None = None
    handed: Sequence[int] = ()
    devices: Sequence[Path] = ()
    sockets: bool = False


@dataclass(frozen=True)
class Outcome:
    """How a box ended.

    Attributes:
        returncode: exit status (negative: a signal).
        timed_out: whether time was up, on the clock or of the processors.
        output: what it printed.
        wall_s: how long it ran.
        struck: the limit that ended it, in words; empty: none.
        short_of_memory: whether the machine itself ran out of memory meanwhile, and ended processes for it.
    """

    returncode: int
    timed_out: bool
    output: str
    wall_s: float
    struck: str = ""
    short_of_memory: bool = False


class Sandbox(Protocol):
    """A way to confine; ``name`` is what results record."""

    @property
    def name(self) -> str:
        """As in results: ``bubblewrap``, ``user``, ``landlock``, or ``none`` for limits alone."""
        ...

    def python(self) -> str:
        """The interpreter for what runs inside."""
        ...

    def reaches(self, path: Path) -> bool:
        """Whether what runs inside can read what lies at ``path``, where it is named."""
        ...

    def run(self, box: Box) -> Outcome:
        """Runs the box to its end; nothing of it is left then."""
        ...
