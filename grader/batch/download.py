"""A course site's bulk download, a zip: unpacked within bounds, nothing outside its folder, no links."""

from __future__ import annotations

import os
import shutil
import stat
import zipfile
import zlib
from datetime import UTC, datetime
from lzma import LZMAError
from pathlib import Path, PurePosixPath

from grader.errors import InfrastructureError, UsageError

MOST_FILES = 100_000
MOST_BYTES = 16 << 30
MOST_OF_ONE = 1 << 30  # the grader of a submission has bounds of its own, far below
MOST_RATIO = 200  # unpacked to packed, of the whole
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
    RuntimeError,  # encrypted
    NotImplementedError,
    EOFError,
    ValueError,
    FileExistsError,
    NotADirectoryError,
    IsADirectoryError,
)


def unpack(path: Path, into: Path) -> None:
    """Unpacks a zip.

    Raises:
        UsageError: it is no zip, is damaged, or is beyond the bounds.
        InfrastructureError: what it holds cannot be written.
    """
    if not path.is_file() or not zipfile.is_zipfile(path):
        raise UsageError(f"{path} is neither a folder nor a zip of submissions")
    try:
        with zipfile.ZipFile(path) as archive:
            members = [m for m in archive.infolist() if not m.is_dir() and not stat.S_ISLNK(m.external_attr >> 16)]
            _bounded(path, members)
            for member in members:
                target = into / _inside(path, member.filename)
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, target.open("xb") as file:
                    shutil.copyfileobj(source, file)
                os.utime(target, times=(_packed_at(member), _packed_at(member)))
    except DAMAGED as error:
        raise UsageError(f"{path} cannot be unpacked: {error}") from error
    except OSError as error:  # e.g. no space
        raise InfrastructureError(f"{path} cannot be unpacked: {error}") from error


def _packed_at(member: zipfile.ZipInfo) -> float:
    """When a file was last changed, as the zip has it: of a student's several files the newest counts."""
    try:
        return datetime(*member.date_time, tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0


def _bounded(path: Path, members: list[zipfile.ZipInfo]) -> None:
    whole = sum(m.file_size for m in members)
    if len(members) > MOST_FILES or whole > MOST_BYTES or any(m.file_size > MOST_OF_ONE for m in members):
        raise UsageError(
            f"{path} holds more than a class hands in ({len(members)} files, {whole >> 20} MiB);"
            " unpack it by hand and name the folder"
        )
    if whole > MOST_RATIO * max(path.stat().st_size, 1 << 20):
        raise UsageError(f"{path} would grow to {whole >> 20} MiB, as no class's submissions do; unpack it by hand")


def _inside(path: Path, name: str) -> PurePosixPath:
    inside = PurePosixPath(name.replace("\\", "/"))
    if inside.is_absolute() or ".." in inside.parts or not inside.parts:
        raise UsageError(f"{path} holds a file outside of itself, {name!r}; it is not what a course site made")
    return inside
