"""What a box has written: counted while it runs, bounded, and removed however it was left."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

MOST_ENTRIES = 20_000  # files and folders: a disk has room for so many names only
DEEPEST = 64  # a folder in a folder in a folder; names that are too long cannot be looked at
OPEN_TO_ALL = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock")
BLOCK = 512  # bytes, what st_blocks counts


def excess(folders: Sequence[Path], most_mb: int, pids: Sequence[int] = ()) -> str:
    """The limit that what lies in ``folders`` goes over, in words; empty: none.

    Files that the processes ``pids`` have open and that bear no name any more count, where the system shows them.
    """
    entries, left = 0, (most_mb << 20) // BLOCK
    devices = set(_devices(folders))
    try:
        for blocks in _blocks(folders):
            entries, left = entries + 1, left - blocks
            if entries > MOST_ENTRIES:
                return f"it made more than {MOST_ENTRIES} files and folders"
            if left < 0:
                break
    except _OutOfReachError as error:
        return str(error)
    return f"it wrote more than {most_mb} MiB" if left < 0 or left < _nameless(pids, devices) else ""


class _OutOfReachError(Exception):
    """What was made cannot be counted; the message says why."""


def _blocks(folders: Sequence[Path]) -> Iterator[int]:
    """The blocks of each file and folder below; links are not followed."""
    waiting = []
    for folder in folders:
        with contextlib.suppress(OSError):
            yield folder.lstat().st_blocks if not folder.is_dir() else 0
            waiting.append((str(folder), 0))
    while waiting:
        path, depth = waiting.pop()
        if depth > DEEPEST:
            raise _OutOfReachError(f"it made folders that lie deeper than {DEEPEST} in each other")
        for entry in _listed(path):
            with contextlib.suppress(OSError):  # gone meanwhile
                yield entry.stat(follow_symlinks=False).st_blocks
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, depth + 1))


def _listed(path: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            yield from entries
    except PermissionError as error:
        raise _OutOfReachError("it made a folder that cannot be looked into") from error
    except OSError:  # gone meanwhile
        return


def _devices(folders: Sequence[Path]) -> Iterator[int]:
    for folder in folders:
        with contextlib.suppress(OSError):  # gone, or closed
            yield folder.stat().st_dev


def _nameless(pids: Sequence[int], devices: set[int]) -> int:
    """The blocks of the files on ``devices`` that are open and bear no name."""
    found: dict[tuple[int, int], int] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for descriptor in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    status = os.stat(f"/proc/{pid}/fd/{descriptor}")
                    if status.st_nlink == 0 and status.st_dev in devices:
                        found[status.st_dev, status.st_ino] = status.st_blocks
    return sum(found.values())


def owned_by(user: int | None) -> list[Path]:
    """What a user has in the places where everybody may write."""
    found: list[Path] = []
    for place in OPEN_TO_ALL if user is not None else ():
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            found += [Path(e.path) for e in entries if e.stat(follow_symlinks=False).st_uid == user]
    return found


def remove(folder: Path) -> None:
    """Removes a folder, however deep and with whatever permissions; what cannot be removed stays, silently."""
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(folder)
    for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        if os.path.lexists(folder):
            with contextlib.suppress(OSError):
                subprocess.run([*command, "--", folder], capture_output=True, check=False)
