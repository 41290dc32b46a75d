"""A case of Python code in a process of its own, and how it ended in words: which line of the student's raised, and
whether it is written at all.
"""

from __future__ import annotations

import os
import random
import sys
import traceback
from collections.abc import Callable
from typing import Any

from assignments.common.probe_io import Job, Report, in_own_process

MOST_ADVICE = 4


class Wrong(Exception):
    """What was handed over is nothing that could be judged; the message says why."""


class Unwritten(Exception):
    """The body of a function is empty."""


def is_empty(function: object) -> bool:
    """Whether a Python function does nothing at all: ``pass``, or a docstring alone."""
    code = getattr(function, "__code__", None)
    return code is not None and len(code.co_code) <= 6 and not code.co_names and None in code.co_consts


def explain(error: BaseException, job: Job) -> str:
    """An exception with the line of the student's file that it comes from."""
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frame = _last_frame(error, job)
    where = f"{os.path.relpath(frame.filename, job.stage)}, line {frame.lineno}: " if frame else ""
    return (where + what)[:300]


def _last_frame(error: BaseException, job: Job) -> traceback.FrameSummary | None:
    """The innermost frame in a file of the student's."""
    files = {os.path.join(job.stage, name) for name in job.files}
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename in files:
            found = traceback.FrameSummary(frame.f_code.co_filename, line, frame.f_code.co_name, lookup_line=False)
    return found


def _unwritten(error: BaseException, job: Job) -> bool:
    """Whether the student's own code, and not the framework under it, says that it is not implemented."""
    if not isinstance(error, NotImplementedError):
        return False
    frames = list(traceback.walk_tb(error.__traceback__))
    files = {os.path.join(job.stage, name) for name in job.files}
    return bool(frames) and frames[-1][0].f_code.co_filename in files


def seed(case: str) -> None:
    """Starts Python's and NumPy's random numbers alike for a case, so that it comes to the same each time."""
    random.seed(case)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(random.getrandbits(32))


def run(job: Job, case: dict[str, Any], work: Callable[[Report], None]) -> dict[str, Any]:
    """Runs a case in its own process; returns its status line."""

    def guarded(report: Report) -> None:
        seed(case["id"])
        try:
            work(report)
        except Wrong as error:
            report.send(wrong=str(error))
        except Unwritten as error:
            report.send(raised=str(error), unwritten=True)
        except BaseException as error:
            report.send(raised=explain(error, job), unwritten=_unwritten(error, job))
            raise

    ending = in_own_process(guarded, job.limits["case_s"])
    told = ending.merged()
    status: dict[str, Any] = {"status": ending.status, "code": ending.code}
    if told.get("reached"):
        status["reached"] = True
    advice = [line["advice"] for line in ending.lines if isinstance(line.get("advice"), str)]
    if advice:
        status["advice"] = advice[:MOST_ADVICE]
    if told.get("wrong"):
        status.update(status="wrong", detail=told["wrong"])
    elif told.get("raised"):
        kind = "not_implemented" if told.get("unwritten") else "raised"
        status.update(status=kind, detail=told["raised"], error=told["raised"])
    return status
