"""Looks at a box while it runs: what its whole process tree uses, and which limit that goes over."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from grader.sandbox import disk, tree
from grader.sandbox.box import Box

PAGE_KB = os.sysconf("SC_PAGE_SIZE") >> 10
CROWD = 24  # processes: more than any box of ours has, a compiler's and bubblewrap's among them
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Strike:
    """A limit that was gone over: in words, and whether it is one on time."""

    text: str
    on_time: bool = False


def look(pid: int, box: Box) -> Strike | None:
    """The limit that the tree below ``pid`` goes over now, if any."""
    processes = tree.snapshot()
    top = processes.get(pid)
    found = [*([top] if top else []), *tree.below(pid, processes)]
    tree.end_first(found)
    if len(found) > CROWD:
        tree.give_way(found)
    return _of_time(found, box) or _of_number(found, box) or of_memory(found, box) or written(box, found)


def written(box: Box, by: Sequence[tree.Process] = ()) -> Strike | None:
    """The limit that what a box has written goes over; ``by``: its processes that still run."""
    folders = [*box.writable, *disk.owned_by(box.owner)]
    excess = disk.excess(folders, box.disk_mb, [process.pid for process in by])
    return Strike(excess) if excess else None


def _of_time(found: list[tree.Process], box: Box) -> Strike | None:
    used = sum(process.ticks for process in found) / TICKS
    return Strike(f"it used more than {box.cpu_s:g} s of CPU time", on_time=True) if used > box.cpu_s else None


def _of_number(found: list[tree.Process], box: Box) -> Strike | None:
    number = sum(process.threads for process in found)  # ended ones count until they are waited for, as for the system
    if number < box.processes:
        return None
    return Strike(f"it started {box.processes} processes and threads, and there may be no more")


def of_memory(found: Sequence[tree.Process], box: Box) -> Strike | None:
    """The limit on memory, if these go over it together.

    Pages that processes share count once: looked up only where the plain sum is too large, since it takes long.
    """
    most_kb = box.memory_mb << 10
    if sum(process.resident for process in found) * PAGE_KB <= most_kb:
        return None
    # twice: while processes end, the shares of the others grow, and some would count in full
    if all(sum(map(_kilobytes, found)) > most_kb for _ in range(2)):
        return Strike(f"it used more than {box.memory_mb} MiB of memory")
    return None


def _kilobytes(process: tree.Process) -> int:
    """What a process has in memory, its share of what is shared; all of it where shares are not shown."""
    kilobytes = tree.proportional_kb(process.pid)
    if kilobytes is None:
        return process.resident * PAGE_KB if tree.is_there(process) else 0
    return kilobytes


def ended_for_memory() -> int:
    """How many processes the system has ended since its start because memory ran out (Linux)."""
    try:
        with open("/proc/vmstat", encoding="ascii") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("oom_kill ")), 0)
    except (OSError, ValueError, IndexError):
        return 0
