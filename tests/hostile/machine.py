"""What a submission might leave on the machine: traces that bear a mark, and the machine's state as a whole."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support import ROOT

PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/run/lock", "/var/lock", "/var/spool/cron")
IPC = ("shm", "sem", "msg")
IPC_KEY = 0x7467  # upper half of the keys that the attacks ask for


def traces(mark: str) -> list[str]:
    """Everything on this machine that bears the mark: processes, files, sockets; and IPC of the attacks' keys."""
    return sorted([*_processes(mark), *_files(mark), *_sockets(mark), *_ipc()])


def _processes(mark: str) -> Iterator[str]:
    for folder in Path("/proc").glob("[0-9]*"):
        for name in ("cmdline", "comm"):
            with contextlib.suppress(OSError):
                if mark.encode() in (folder / name).read_bytes() and folder.name != str(os.getpid()):
                    yield f"process {folder.name}"


def _files(mark: str) -> Iterator[str]:
    for place in (*PLACES, Path.home(), Path.cwd(), ROOT, os.environ.get("GRADE_HOME", ROOT / ".venv")):
        with contextlib.suppress(OSError):
            for entry in os.scandir(place):
                if mark in entry.name:
                    yield f"file {entry.path}"


def _sockets(mark: str) -> Iterator[str]:
    with contextlib.suppress(OSError):
        lines = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace").splitlines()
        yield from (f"socket {line}" for line in lines if mark in line)


def _ipc() -> Iterator[str]:
    for kind in IPC:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/sysvipc/{kind}").read_text(encoding="ascii").splitlines()[1:]:
                if (int(line.split()[0]) & 0xFFFFFFFF) >> 16 == IPC_KEY:
                    yield f"{kind} {line.split()[0]}"


# -- the machine as a whole -------------------------------------------------------------------------------

PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER = 36, 37  # <sys/prctl.h>
LOOKS, APART_S = 100, 0.1  # what was killed may take a moment to go, and other programs come and go
SAME_MEMORY_KB = 64 << 10


@contextlib.contextmanager
def taking_in_orphans() -> Iterator[None]:
    """Whatever is left running by what this process starts becomes a child of this process."""
    libc = ctypes.CDLL(None)
    before = ctypes.c_int()
    libc.prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, before.value, 0, 0, 0)


def children() -> set[int]:
    """The processes whose parent this process is, ended ones that nobody waits for left out."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        found |= {int(pid) for pid in (task / "children").read_text(encoding="ascii").split()}
    for pid in list(found):
        with contextlib.suppress(OSError):
            if os.waitpid(pid, os.WNOHANG)[0]:
                found.discard(pid)
    return found


def contents(folder: Path) -> dict[str, str]:
    """The files below, with what tells whether they were changed; compiled Python and kept builds are left out."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        if not {"__pycache__", "cache"} & set(path.parts) and not path.is_symlink():
            found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
    return found


@dataclass(frozen=True)
class State:
    """What a grading must leave as it was.

    Attributes:
        files: of the folders that belong to the test, by path.
        mounts: of this process's space.
        processes: below this process.
        shared: names in /dev/shm and /dev/mqueue, and lines of System V's lists.
        memory_kb: how much memory is taken by files that lie in it, and by shared memory.
    """

    files: dict[str, str]
    mounts: str
    processes: frozenset[int]
    shared: frozenset[str]
    memory_kb: int

    @staticmethod
    def now(folders: Sequence[Path]) -> State:
        """As it is."""
        files: dict[str, str] = {}
        for folder in folders:
            files |= contents(folder)
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return State(
            files,
            Path("/proc/self/mountinfo").read_text(encoding="utf-8"),
            frozenset(children()),
            frozenset(_shared()),
            next(int(line.split()[1]) for line in lines if line.startswith("Shmem:")),
        )

    def changes(self, before: State) -> list[str]:
        """What differs from an earlier state."""
        files = sorted(name for name, _ in set(self.files.items()) ^ set(before.files.items()))
        told = [f"file {name}" for name in dict.fromkeys(files)]
        told += [f"process {pid}" for pid in self.processes - before.processes]
        told += [f"shared {name}" for name in self.shared - before.shared]
        told += ["mounts"] if self.mounts != before.mounts else []
        grown = self.memory_kb - before.memory_kb
        return told + ([f"memory: {grown} KiB more"] if grown > SAME_MEMORY_KB else [])


def _shared() -> Iterator[str]:
    for place in ("/dev/shm", "/dev/mqueue"):
        with contextlib.suppress(OSError):
            yield from (f"{place}/{name}" for name in os.listdir(place))
    for kind in IPC:
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/sysvipc/{kind}").read_text(encoding="ascii").splitlines()[1:]
            yield from (f"{kind} {line.split()[0]} {line.split()[1]}" for line in lines)


def lasting_changes(before: State, folders: Sequence[Path]) -> list[str]:
    """What has changed since then, and does not go."""
    changes: list[str] = []
    for _ in range(LOOKS):
        if not (changes := State.now(folders).changes(before)):
            return []
        time.sleep(APART_S)
    return changes
