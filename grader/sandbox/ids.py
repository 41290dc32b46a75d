"""User ids for boxes, where the grader is root: each box has one of its own, so that the system counts for it alone.

The numbers are below 65,536, since many containers know no others, above those of accounts, and below those that
systemd gives to services. Which are taken is told by names of local sockets, which go when their owner goes.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FIRST, LAST = 47_000, 47_999
NONE_LEFT = f"all user ids between {FIRST} and {LAST} are taken by boxes that run"
OWNERS_ALONE = 0o710  # root's group passes through: bubblewrap sets out from there
NAME = "\0tensorgrade/id/{}"


@dataclass(frozen=True)
class Identity:
    """Who a box runs as: a user of its own, and the group that all boxes of this grader share."""

    user: int
    group: int


class _Leases:
    """The numbers that this process holds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._group: tuple[int, socket.socket] | None = None

    @property
    def group(self) -> int | None:
        """The number of the boxes' group, held until this process ends; None: none can be had."""
        with self._lock:
            self._group = self._group or _number()
            return self._group[0] if self._group else None


def _number() -> tuple[int, socket.socket] | None:
    """A number that nobody holds, and what holds it."""
    for number in range(FIRST, LAST + 1):
        lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            lock.bind(NAME.format(number))
        except OSError:
            lock.close()
        else:
            return number, lock
    return None


_LEASES = _Leases()


def available() -> bool:
    """Whether boxes can have ids of their own here: on Linux, for root that may use them."""
    return sys.platform == "linux" and os.geteuid() == 0 and _mapped() and _LEASES.group is not None


@cache
def _mapped() -> bool:
    """Whether the numbers mean anything here: root of a namespace of users may have itself alone."""
    return all(_covers(Path("/proc/self", name)) for name in ("uid_map", "gid_map"))


def _covers(path: Path) -> bool:
    try:
        ranges = [[int(word) for word in line.split()] for line in path.read_text("ascii").splitlines()]
    except (OSError, ValueError):
        return False
    return any(first <= FIRST and first + count > LAST for first, _, count in ranges)


def group() -> int | None:
    """The group of this grader's boxes; None where they have none of their own."""
    return _LEASES.group if available() else None


@contextlib.contextmanager
def lease() -> Iterator[Identity | None]:
    """An identity that no other box has at the same time; None where there are none."""
    boxes = group()
    taken = _number() if boxes is not None else None
    if boxes is None or taken is None:
        yield None
        return
    with taken[1]:
        yield Identity(taken[0], boxes)


@contextlib.contextmanager
def given(who: Identity | None, folders: Sequence[Path]) -> Iterator[None]:
    """Makes folders ``who``'s own for the time; whoever comes next may read what is left in them."""
    if who is None:
        yield
        return
    for folder in folders:
        os.chown(folder, who.user, -1)
        folder.chmod(OWNERS_ALONE)
    try:
        yield
    finally:
        for folder in folders:
            _take_back(folder)


def _take_back(folder: Path) -> None:
    """Makes all of a folder this user's own; its permissions are the box's to set, and not to be trusted.

    By open files alone: nothing follows a link, should one have been put in place of a folder.
    """
    with contextlib.suppress(OSError, RecursionError):  # too deep to be looked at; `disk` has told of it
        for _, inside, files, here in os.fwalk(folder):
            for name in [".", *inside, *files]:
                with contextlib.suppress(OSError):
                    _take(name, here)


def _take(name: str, here: int) -> None:
    descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here)
    try:
        mode = os.fstat(descriptor).st_mode
        place = f"/proc/self/fd/{descriptor}"
        if not stat.S_ISLNK(mode):  # pipes and sockets too: one that nobody may read keeps the next box from all of it
            os.chown(place, os.geteuid(), -1)
            os.chmod(place, 0o755 if stat.S_ISDIR(mode) or mode & stat.S_IXUSR else 0o644)
    finally:
        os.close(descriptor)


def can_enter(who: Identity, path: Path) -> bool:
    """Whether permissions let ``who`` read the file, or list the folder, at ``path``, whatever lies in it."""
    real = Path(os.path.realpath(path))
    return can_pass(who, real.parent) and _open_to(who, real, stat.S_IROTH)


def can_pass(who: Identity, folder: Path) -> bool:
    """Whether permissions let ``who`` pass through a folder, and all that are above it."""
    real = Path(os.path.realpath(folder))
    return all(_open_to(who, place, stat.S_IXOTH) for place in (real, *real.parents))


def can_use(who: Identity, path: Path) -> bool:
    """Whether permissions let ``who`` come to what lies at ``path``, and read it: a folder with all that is in it."""
    real = Path(os.path.realpath(path))
    return can_enter(who, real) and can_read(who, real)


def can_read(who: Identity, path: Path) -> bool:
    """Whether permissions let ``who`` read what lies at ``path``, wherever that is: a folder with all that is in it."""
    if not path.is_dir():
        return _open_to(who, path, stat.S_IROTH)
    return _open_to(who, path, stat.S_IROTH | stat.S_IXOTH) and _whole_folder(path)


def _open_to(who: Identity, path: Path, wanted: int) -> bool:
    """``wanted`` is in the bits for others, which move to those of the group or owner where that is who it is."""
    try:
        found = path.stat()
    except OSError:
        return False
    place = 6 if found.st_uid == who.user else 3 if found.st_gid == who.group else 0
    return found.st_mode & (wanted << place) == wanted << place


@cache
def _whole_folder(folder: Path) -> bool:
    """Whether everybody may read all of a folder. Large ones (packages) do not change while this process runs."""
    for here, folders, files in os.walk(folder):
        for name in folders + files:
            with contextlib.suppress(OSError):
                mode = os.lstat(os.path.join(here, name)).st_mode
                closed = stat.S_ISDIR(mode) and not mode & stat.S_IXOTH
                if not stat.S_ISLNK(mode) and (closed or not mode & stat.S_IROTH):
                    return False
    return True
