"""What a driver says of its cases, a JSON line each: the sandbox's words, read within bounds, and what limits add."""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.assignment import Limits
from grader.sandbox import Outcome

MOST_BYTES = 8 << 20

Status = dict[str, Any]


def read_bounded(path: Path) -> bytes:
    """The first bytes of a file that the sandbox wrote; no link is followed, and no pipe waited for.

    Raises:
        OSError: there is no such file, or it is something else.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path.name} is not a regular file")
        return file.read(MOST_BYTES)


def read(path: Path) -> dict[str, Status]:
    """The status lines by case; what is not such a line is passed over."""
    try:
        blob = read_bounded(path)
    except OSError:
        return {}
    statuses: dict[str, Status] = {}
    for line in blob.splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and isinstance(entry.get("case"), str):
            statuses[entry["case"]] = entry
    return statuses


def was_killed(status: Status | None) -> bool:
    """Whether a case, or the driver before it came to the case, was ended as the system ends processes."""
    return status is None or (status.get("status") == "crashed" and status.get("code") == signal.SIGKILL)


def blame(statuses: dict[str, Status], cases: Sequence[str], outcome: Outcome) -> None:
    """Has the case that went over a limit say so, and those after it: it is the first that did not end, or the last."""
    status = "timed_out" if outcome.timed_out else "crashed"
    for case in [c for c in cases if c not in statuses] or cases[-1:]:
        statuses[case] = {"case": case, "status": status, "detail": outcome.struck}


def name_limits(statuses: dict[str, Status], limits: Limits) -> None:
    """Says which limit ended a case, where the driver saw no more than its end."""
    for status in statuses.values():
        code, kind = status.get("code"), status.get("status")
        if kind == "timed_out" and code == signal.SIGXCPU:
            status.setdefault("detail", f"it used more than {limits.cpu_s:g} s of CPU time")
        elif kind == "timed_out":
            status.setdefault("detail", f"it did not end within {limits.case_s:g} s")
        elif kind == "crashed" and code == signal.SIGXFSZ:
            status.setdefault("detail", f"it wrote a file of more than {limits.file_mb} MiB")
