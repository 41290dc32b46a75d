"""The folder that a grading works in: its own, gone afterwards, and gone at the next start if it was killed."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from grader.errors import InfrastructureError
from grader.sandbox import disk, ids

PREFIX = "tensorgrade-"
LOCK = "lock"  # held by the grader that works there, for as long as it lives
TIME_TO_LOCK_S = 60.0  # a folder younger than that may belong to a grader that has not come to lock it
ROOM = 32 << 20  # bytes: what gradings write, several times over
FOR_OTHERS = 0o022  # umask: what is laid out must be readable for boxes of other users


@contextlib.contextmanager
def work_folder() -> Iterator[Path]:
    """A folder of this run's own.

    Raises:
        InfrastructureError: it cannot be made.
    """
    try:
        place = Path(tempfile.gettempdir())
        sweep(place)
        if shutil.disk_usage(place).free < ROOM:
            raise InfrastructureError(f"{place} has less than {ROOM >> 20} MiB left; TMPDIR names another folder")
        folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
        lock = _lock(folder)
    except OSError as error:
        raise InfrastructureError(f"no temporary folder can be made: {error.strerror}") from error
    try:
        _open_to_boxes(folder)
        yield folder
    finally:
        disk.remove(folder)
        os.close(lock)


def lasting_folder() -> Path:
    """The same for as long as this process lives.

    Raises:
        InfrastructureError: it cannot be made.
    """
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(work_folder())


def _lock(folder: Path) -> int:
    """Locks under another name first: what bears the name is locked, or its owner is gone."""
    descriptor = os.open(folder / f"{LOCK}.new", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    os.rename(folder / f"{LOCK}.new", folder / LOCK)
    return descriptor


def _open_to_boxes(folder: Path) -> None:
    """Lets boxes of other users pass through, and nobody else."""
    group = ids.group()
    if group is not None:
        os.umask(FOR_OTHERS)
        os.chown(folder, -1, group)
        folder.chmod(0o710)


def require_executable(folder: Path) -> None:
    """What is built in a folder has to be loaded from it; a container's ``--tmpfs /tmp`` does not allow that.

    Raises:
        InfrastructureError: nothing that lies there may be run.
    """
    if not is_executable(folder):
        raise InfrastructureError(
            f"{folder.parent} is mounted noexec, and what is built there has to run: mount it with exec"
            " (docker: --tmpfs /tmp:exec), or have TMPDIR name another folder"
        )


def is_executable(folder: Path) -> bool:
    """Whether the file system that a folder lies on lets programs and libraries be run."""
    return not os.statvfs(folder).f_flag & getattr(os, "ST_NOEXEC", 0)  # macOS does not say


def sweep(place: Path) -> None:
    """Removes the folders of graders that were killed."""
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        found = [Path(entry.path) for entry in entries if entry.name.startswith(PREFIX)]
        for folder in found:
            if _is_abandoned(folder):
                disk.remove(folder)


def _is_abandoned(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except OSError:  # another grader has removed it
        return False
    try:
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return False
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return time.time() - status.st_mtime > TIME_TO_LOCK_S
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # its owner lives
        return False
    finally:
        os.close(descriptor)
    return True
