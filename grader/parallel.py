"""Gradings side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


def spread(work: Callable[[Item], Made], items: Iterable[Item], jobs: int) -> list[Made]:
    """What ``work`` makes of each item, in their order, ``jobs`` of them at a time.

    Stopped by an error or by Ctrl-C, what is under way is brought to its end, and nothing new is begun.
    """
    pool = ThreadPoolExecutor(jobs)
    try:
        return list(pool.map(work, items))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
