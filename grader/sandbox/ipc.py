"""System V shared memory, semaphores and message queues, which outlive the processes that made them."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from pathlib import Path

IPC_RMID = 0  # <sys/ipc.h>
KINDS = {"shm": "shmid", "sem": "semid", "msg": "msqid"}  # file in /proc/sysvipc, and its column with the number


def _owned(kind: str, user: int) -> Iterator[int]:
    """The numbers of what a user owns or made."""
    with contextlib.suppress(OSError):
        head, *lines = Path("/proc/sysvipc", kind).read_text("ascii").splitlines()
        for line in lines:
            entry = dict(zip(head.split(), line.split(), strict=False))
            if str(user) in (entry.get("uid"), entry.get("cuid")):
                yield int(entry[KINDS[kind]])


def remove_all_of(user: int) -> list[tuple[str, int]]:
    """Removes what a user has left; returns kinds and numbers."""
    removed = []
    libc = ctypes.CDLL(None, use_errno=True)
    for kind in KINDS:
        for number in _owned(kind, user):
            arguments = (number, 0, IPC_RMID) if kind == "sem" else (number, IPC_RMID, None)
            getattr(libc, f"{kind}ctl")(*arguments)
            removed.append((kind, number))
    return removed
