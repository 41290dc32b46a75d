"""What is to be run confined, how it ended, and the running itself."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from grader.errors import InfrastructureError
from grader.home import ROOT
from grader.sandbox import disk

LOOK_EVERY = 0.25  # seconds between two looks at what a box has written


@dataclass(frozen=True)
class Box:
    """A command and what it may see.

    Attributes:
        command: program and arguments.
        readable: files and folders it may read, at their own paths; the system's come on top.
        writable: folders it may write; it starts in the first one.
        environment: all of its environment.
        wall_s: wall time after which its whole process tree is killed.
        output_bytes: how much of its standard output and error is kept.
        disk_mb: how much may lie in its writable folders, all of them together.
        scratch_mb: size of its /tmp, where the sandbox has one of its own.
        hidden: folders that it must not see, even inside of the system; what is readable or writable of them stays.
    """

    command: Sequence[str]
    readable: Sequence[Path] = ()
    writable: Sequence[Path] = ()
    environment: dict[str, str] = field(default_factory=dict)
    wall_s: float = 10.0
    output_bytes: int = 1 << 18
    disk_mb: int = 1024
    scratch_mb: int = 256
    hidden: Sequence[Path] = (ROOT,)


@dataclass(frozen=True)
class Outcome:
    """How a box ended.

    Attributes:
        returncode: exit status (negative: a signal).
        timed_out: whether time was up.
        output: what it printed.
        wall_s: how long it ran.
        struck: the limit on what it writes that it went over, in words; empty: none.
    """

    returncode: int
    timed_out: bool
    output: str
    wall_s: float
    struck: str = ""


class Sandbox(Protocol):
    """A way to confine; ``name`` is what results record."""

    @property
    def name(self) -> str:
        """As in results: ``bubblewrap``, or ``none`` for limits alone."""
        ...

    def run(self, box: Box) -> Outcome:
        """Runs the box to its end."""
        ...


class _Kept:
    """Reads a stream to its end and keeps the first bytes: a program that prints never waits for us."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self.stream, self.limit, self.blob, self.cut = stream, limit, b"", False
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(self.stream.fileno(), 1 << 16):
                room = self.limit - len(self.blob)
                self.blob += piece[:room]
                self.cut = self.cut or len(piece) > room

    def text(self) -> str:
        self.thread.join(timeout=2.0)
        return self.blob.decode("utf-8", "replace") + ("\n[output cut here]" if self.cut else "")


def run_confined(command: Sequence[str], box: Box) -> Outcome:
    """Runs ``command`` (the box's own, wrapped) in its own session; kills all of it when time is up."""
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=box.environment,
            cwd=box.writable[0] if box.writable else "/",
            start_new_session=True,
        )
    except OSError as error:
        raise InfrastructureError(f"cannot start {command[0]}: {error.strerror}") from error
    assert process.stdout is not None
    kept = _Kept(process.stdout, box.output_bytes)
    timed_out, struck = False, ""
    try:
        timed_out, struck = _watch(process, box, started + box.wall_s)
    finally:
        _kill_session(process)
    struck = struck or disk.excess(box.writable, box.disk_mb)  # what it wrote since the last look
    outcome = Outcome(process.returncode, timed_out, kept.text(), time.monotonic() - started, struck)
    process.stdout.close()
    return outcome


def _watch(process: subprocess.Popen[bytes], box: Box, deadline: float) -> tuple[bool, str]:
    """Waits for the end; says whether time was up, and which limit on what it writes it went over."""
    while (left := deadline - time.monotonic()) > 0:
        if _ends_within(process, min(left, LOOK_EVERY)):
            return False, ""
        if struck := disk.excess(box.writable, box.disk_mb, [process.pid, *_descendants(process.pid)]):
            return False, struck
    return True, ""


def _ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether a process ends in that time. Told at once where the system can: ``wait`` looks every 50 ms."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # not Linux, or an old one
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        return process.returncode is not None
    try:
        select.select([descriptor], [], [], seconds)
    finally:
        os.close(descriptor)
    return process.poll() is not None


def _kill_session(process: subprocess.Popen[bytes]) -> None:
    """Kills the process, its group, and whatever else came from it and left the group."""
    descendants = _descendants(process.pid) if process.poll() is None else []
    for kill, pid in ((os.killpg, process.pid), *((os.kill, pid) for pid in descendants)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
    process.wait()


def _descendants(pid: int) -> list[int]:
    """The processes below ``pid``, where the system shows them in /proc.

    A driver takes in the orphans below it (``PR_SET_CHILD_SUBREAPER``), so that none of them is elsewhere.
    """
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parent = int(status.read_text("ascii", "replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(status.parent.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found
