"""The running itself: starting a box, keeping what it prints, watching it, ending all of it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO

from grader.errors import InfrastructureError
from grader.sandbox import tree, watch
from grader.sandbox.box import Box, Outcome

LOOK_EVERY = 0.25  # seconds between two looks at what a box uses
FLOOD = 256 << 20  # bytes printed: no program says that much to anybody, and reading it takes our time


class _Kept:
    """Reads a stream to its end and keeps the first bytes: a program that prints never waits for us."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self.stream, self.limit, self.blob, self.seen = stream, limit, b"", 0
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(self.stream.fileno(), 1 << 16):
                self.blob += piece[: self.limit - len(self.blob)]
                self.seen += len(piece)

    def text(self) -> str:
        self.thread.join(timeout=2.0)
        return self.blob.decode("utf-8", "replace") + ("\n[output cut here]" if self.seen > self.limit else "")


@contextlib.contextmanager
def handed(blob: bytes) -> Iterator[int]:
    """An open file that bears no name and holds ``blob``, for a program to read (Linux)."""
    descriptor = os.memfd_create("handed")
    try:
        os.write(descriptor, blob)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def run_confined(
    command: Sequence[str],
    box: Box,
    hand_over: Sequence[int] = (),
    first: Callable[[], int | None] | None = None,
    end_all: Callable[[], None] | None = None,
) -> Outcome:
    """Runs ``command`` (the box's own, wrapped) in its own session, to the end of all that it started.

    Args:
        command: program and arguments.
        box: its environment, folders and limits.
        hand_over: open files that it gets beside the box's own.
        first: tells, once it runs, the first process of its PID namespace: the system ends all others with that one.
        end_all: ends all that the box may have left at once, where there is a way: what starts itself anew, again and
            again, is ahead of whoever looks for it process by process.

    Raises:
        InfrastructureError: it cannot be started, or what it started cannot be ended.
    """
    started, ended_before = time.monotonic(), watch.ended_for_memory()
    process = _start(command, box, [*hand_over, *box.handed])
    assert process.stdout is not None
    kept = _Kept(process.stdout, box.output_bytes)
    strike: watch.Strike | None = None
    try:
        strike = _watch(process, box, started + box.wall_s, kept)
    finally:
        _end(process, first, end_all)
    strike = strike or watch.written(box)  # since the last look
    outcome = Outcome(
        process.returncode,
        strike is not None and strike.on_time,
        kept.text(),
        time.monotonic() - started,
        strike.text if strike else "",
        watch.ended_for_memory() > ended_before,
    )
    process.stdout.close()
    return outcome


def _start(command: Sequence[str], box: Box, hand_over: Sequence[int]) -> subprocess.Popen[bytes]:
    tree.STRAYS.take_in()
    with tree.STRAYS.starting() as tell:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=box.environment,
                cwd=box.writable[0] if box.writable else "/",
                start_new_session=True,
                pass_fds=hand_over,
            )
        except OSError as error:
            raise InfrastructureError(f"cannot start {command[0]}: {error.strerror}") from error
        tell(process.pid)
    return process


def _watch(process: subprocess.Popen[bytes], box: Box, deadline: float, kept: _Kept) -> watch.Strike | None:
    """Waits for the end, or for a limit that is gone over."""
    while (left := deadline - time.monotonic()) > 0:
        if _ends_within(process, min(left, LOOK_EVERY)):
            return None
        if kept.seen > FLOOD:
            return watch.Strike(f"it printed more than {FLOOD >> 20} MiB")
        if strike := watch.look(process.pid, box):
            return strike
    return watch.Strike(f"it did not end within {box.wall_s:g} s", on_time=True)


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


def _end(
    process: subprocess.Popen[bytes], first: Callable[[], int | None] | None, end_all: Callable[[], None] | None
) -> None:
    """Ends the process, its group, and whatever else came from it."""
    inside = tree.below(process.pid, tree.snapshot()) if process.poll() is None else []
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if end_all is not None:
        end_all()
    ended = tree.end_all(inside)
    process.wait()
    tree.STRAYS.end(process.pid, look=first is None)
    if first is not None and (pid := first()) is not None:
        ended = tree.end_orphan(pid) and ended
    if not ended:
        raise InfrastructureError("what a submission started cannot be ended; see the processes of this machine")
