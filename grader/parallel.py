"""Gradings side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


def processors() -> int:
    """How many processors this process may use; ``GRADE_PROCESSORS`` says otherwise."""
    if (asked := os.environ.get("GRADE_PROCESSORS", "")).isdecimal() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(work: Callable[[Item], Made], items: Iterable[Item], jobs: int) -> list[Made]:
    """What ``work`` makes of each item, in their order, ``jobs`` of them at a time.

    Stopped by an error or by Ctrl-C, what is under way is brought to its end, and nothing new is begun.
    """
    pool = ThreadPoolExecutor(jobs)
    futures = [pool.submit(work, item) for item in items]
    try:
        done, _ = wait(futures, return_when=FIRST_EXCEPTION)
        if (error := next((e for e in (future.exception() for future in done) if e), None)) is not None:
            raise error
        return [future.result() for future in futures]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
