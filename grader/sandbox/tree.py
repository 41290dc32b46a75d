"""The processes below another one, as Linux shows them in /proc: what they use, and ending them all.

Elsewhere nothing is shown: then a process group is all that can be ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

PR_SET_CHILD_SUBREAPER = 36  # <sys/prctl.h>
LONGEST_END_S = 60.0  # for killed processes to be gone: hundreds of them on a busy machine take their time
LOOK_AGAIN_S = 0.005
ENDED = (b"Z", b"X")  # states: a process that waits to be noticed, and one that has been
LAST_IN_LINE = 19  # niceness
ROUNDS = 100  # what is killed may leave children of its own


@dataclass(frozen=True)
class Process:
    """A line of /proc/<pid>/stat.

    Attributes:
        pid: its number.
        parent: its parent's number.
        session: the number of its session's leader.
        threads: how many it has.
        ticks: CPU time of its own and of the children that it has waited for, in clock ticks.
        resident: pages in memory, shared ones too.
        started: when, in ticks since the machine's start: tells two of the same number apart.
        ended: whether it has ended and waits to be noticed.
    """

    pid: int
    parent: int
    session: int
    threads: int
    ticks: int
    resident: int
    started: int
    ended: bool


def _stat(path: str) -> list[bytes]:
    """The words of a ``stat`` file behind the name, from the state on."""
    with open(path, "rb", 0) as file:
        return file.read(1024).rpartition(b")")[2].split()


def _read(pid: str) -> Process | None:
    try:
        words = _stat(f"/proc/{pid}/stat")
        times = sum(map(int, words[11:15]))
        ended, resident = words[0] in ENDED, int(words[21])
        if ended and int(words[17]) > 1 and (thread := _live_thread(pid)):
            ended, resident = False, int(_stat(f"{thread}/stat")[21])
        return Process(int(pid), int(words[1]), int(words[3]), int(words[17]), times, resident, int(words[19]), ended)
    except (OSError, ValueError, IndexError):  # gone meanwhile
        return None


def _live_thread(pid: str | int) -> str:
    """Where a thread is shown that still runs, of a process whose first one may have ended; empty: there is none.

    Of such a process the system shows no memory, but of its threads.
    """
    for task in os.scandir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError, IndexError):
            if _stat(f"{task.path}/stat")[0] not in ENDED:
                return task.path
    return ""


def snapshot() -> dict[int, Process]:
    """All processes that can be seen, by number."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return {}
    found = (_read(name) for name in names if name.isdigit())
    return {process.pid: process for process in found if process is not None}


def below(pid: int, processes: dict[int, Process]) -> list[Process]:
    """The processes below ``pid``, itself left out.

    A driver takes in the orphans below it, so that none of them is elsewhere.
    """
    children: dict[int, list[Process]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    waiting = [pid]
    while waiting:
        inside = children.get(waiting.pop(), [])
        found += inside
        waiting += [process.pid for process in inside]
    return found


def proportional_kb(pid: int) -> int | None:
    """The memory of a process in KiB, a shared page counted in parts; None where that is not shown."""
    try:
        with open(f"{_live_thread(pid) or f'/proc/{pid}'}/smaps_rollup", "rb") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(b"Pss:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def end_first(processes: Iterable[Process]) -> None:
    """Has the system end these before others, where memory runs short: the grader is to tell of it."""
    for process in processes:
        with contextlib.suppress(OSError), open(f"/proc/{process.pid}/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")


def give_way(processes: Iterable[Process]) -> None:
    """Has these run when nobody else wants to: many of them would leave other boxes little of the processors.

    Linux shares out between sessions first (autogroup), and then within them.
    """
    for process in processes:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, LAST_IN_LINE)
        with contextlib.suppress(OSError), open(f"/proc/{process.pid}/autogroup", "w", encoding="ascii") as file:
            file.write(str(LAST_IN_LINE))


def of_user(user: int) -> list[Process]:
    """The processes of a user that have not ended: others' parents may never notice that theirs have."""
    return [process for process in snapshot().values() if not process.ended and _owner(process.pid) == user]


def _owner(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(b"Uid:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def kill(pids: Iterable[int]) -> None:
    """Ends processes that may be gone."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def end_all(roots: Iterable[Process]) -> bool:
    """Kills these until none of them is there; says whether that came about in time."""
    waiting = list(roots)
    deadline = time.monotonic() + LONGEST_END_S
    while waiting and time.monotonic() < deadline:
        kill(process.pid for process in waiting)
        waiting = [process for process in waiting if is_there(process)]
        if waiting:
            time.sleep(LOOK_AGAIN_S)
    return not waiting


def end_orphan(pid: int) -> bool:
    """Ends a process whose parent has ended, and waits for that: it became this process's child, or the system's."""
    found = _read(str(pid))
    if found is None or found.parent not in (os.getpid(), 1):  # gone, and its number is another's
        return True
    ended = end_all([found])
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    return ended


def is_there(process: Process) -> bool:
    """Whether a process still runs, and not another one of its number."""
    now = _read(str(process.pid))
    return now is not None and now.started == process.started and not now.ended


class Strays:
    """What a box left behind after its first process was gone: those processes become this one's children.

    They are told from other children of this process by the session that each box has of its own, and by their age.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._boxes: dict[int, int] = {}
        self._asked = False

    def take_in(self) -> None:
        """Makes this process the parent of whatever is orphaned below it (Linux)."""
        if not self._asked and sys.platform == "linux":
            with contextlib.suppress(OSError, AttributeError):
                ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._asked = True

    @contextlib.contextmanager
    def starting(self) -> Iterator[Callable[[int], None]]:
        """Around the start of a box: its process is to be told before anybody looks for strays."""

        def tell(pid: int) -> None:
            process = _read(str(pid))
            self._boxes[pid] = process.started if process else 0

        with self._lock:
            yield tell

    def end(self, finished: int, look: bool) -> None:
        """Forgets a box's process that has ended and, if it is to ``look``, ends what is nobody's and younger."""
        with self._lock:
            since = self._boxes.pop(finished, 0)
            for _ in range(ROUNDS if look else 0):
                found = self._found(since)
                if not found:
                    return
                end_all(inside for stray in found for inside in below(stray.pid, snapshot()))
                end_all(found)
                for stray in found:
                    with contextlib.suppress(ChildProcessError):
                        os.waitpid(stray.pid, os.WNOHANG)

    def _found(self, since: int) -> list[Process]:
        own, session = os.getpid(), os.getsid(0)
        return [
            process
            for process in snapshot().values()
            if process.parent == own
            and process.session != session
            and process.started >= since
            and process.pid not in self._boxes
        ]


STRAYS = Strays()
