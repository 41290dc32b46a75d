"""Where a report is written: standard output, or a file that stays as it was until the new one is whole."""

from __future__ import annotations

import contextlib
import glob
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from grader.errors import NotShownError, UsageError
from grader.report.stdout import shown

STDOUT = "-"
STDOUT_TOO = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")  # the same: a file behind them is open, and not replaced
PART = ".part"  # what a report is written to until it is whole
UNPAIRED = "backslashreplace"  # half a character, as from an environment that is not UTF-8; JSON reads it back
LONGEST_NAME = 200  # bytes; file systems take 255, with what is put around it
WRITTEN_WITHIN_S = 60.0  # younger ones may be another machine's, on a folder that is shared


def named(target: str) -> str:
    """The target; standard output by its one name."""
    return STDOUT if target in STDOUT_TOO else target


def check(option: str, target: str) -> None:
    """Refuses a target that cannot become a file, before anything is graded; ``option`` asked for it.

    Raises:
        UsageError: its folder is missing, or it is a folder itself.
    """
    path = Path(target)
    if target == STDOUT:
        return
    try:
        if not target or path.is_dir():
            raise UsageError(f"{option}: {target or '``'} is not the name of a file")
        if not path.resolve().parent.is_dir():
            raise UsageError(f"{option}: there is no folder {path.resolve().parent}")
    except (OSError, RuntimeError) as error:  # too long a name, a folder that may not be searched, links in a ring
        raise UsageError(f"{option}: {target} cannot be written: {getattr(error, 'strerror', error)}") from error


def place(target: str) -> str:
    """The target by a name that no other place has; empty for what keeps nothing (``/dev/null``, a pipe)."""
    if target == STDOUT:
        return target
    path = Path(target).resolve()
    return "" if path.exists() and not path.is_file() else str(path)


def put(text: str, target: str) -> None:
    """Writes to a path, or to standard output for ``-``; an earlier file stays whole until the new one is.

    Raises:
        NotShownError: it cannot be written.
    """
    put_parts([text], target)


def put_parts(parts: Iterable[str], target: str) -> None:
    """The same for a text that is made while it is written."""
    if target == STDOUT:
        with shown():
            sys.stdout.flush()
            for part in parts:
                sys.stdout.buffer.write(part.encode("utf-8", UNPAIRED))  # whatever the terminal's encoding is
        return
    path = Path(target)
    try:
        if path.exists() and not path.is_file():  # /dev/null, a pipe: written to, not replaced
            with path.open("w", encoding="utf-8", errors=UNPAIRED) as file:
                file.writelines(parts)
            return
        _replace(path.resolve(), parts)  # of a link, what it leads to
    except OSError as error:
        raise NotShownError(f"cannot write {target}: {error.strerror}") from error


def _replace(path: Path, parts: Iterable[str]) -> None:
    _sweep(path)
    descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=f"{_called(path)}{os.getpid()}.", suffix=PART)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors=UNPAIRED) as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        Path(part).chmod(0o644)
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def _called(path: Path) -> str:
    """How what a report is written to begins; a name that leaves no room for that stands there as its hash."""
    name = path.name if len(os.fsencode(path.name)) <= LONGEST_NAME else sha256(os.fsencode(path.name)).hexdigest()
    return f".{name}."


def _sweep(path: Path) -> None:
    """Removes what a grader left that was killed while it wrote this report."""
    for part in path.parent.glob(f"{glob.escape(_called(path))}*{PART}"):
        owner = part.name.removeprefix(_called(path)).split(".")[0]
        with contextlib.suppress(OSError):
            if owner.isdecimal() and not _lives(int(owner)) and time.time() - part.stat().st_mtime > WRITTEN_WITHIN_S:
                part.unlink()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
