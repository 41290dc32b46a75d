"""Zips. Their members are read one by one, each no further than asked for: how much they unpack to has no meaning."""

from __future__ import annotations

import contextlib
import stat
import zipfile
from typing import IO

from grader.archives.archive import MOST_ENTRIES, Archive, BrokenArchiveError

MOST_DIRECTORY = 16 << 20  # bytes of a zip's list of members, which is read as a whole
ZIP_END, ZIP_END_SIZE, ZIP_COMMENT = b"PK\x05\x06", 22, 1 << 16
BEGINNINGS = (b"PK\x03\x04", ZIP_END, b"PK\x07\x08")
ENCRYPTED = 1  # bit of a member's flags


def members_of_zip(stack: contextlib.ExitStack, file: IO[bytes]) -> Archive:
    """What a zip holds; it stays open as long as ``stack``.

    Raises:
        BrokenArchiveError: it is damaged, or holds too much.
    """
    if _size_of_directory(file) > MOST_DIRECTORY:
        raise BrokenArchiveError(f"it holds more than {MOST_ENTRIES} files")
    zipped = stack.enter_context(zipfile.ZipFile(file))
    found = Archive()
    for info in zipped.infolist()[: MOST_ENTRIES + 1]:
        # some tools of Windows write backslashes
        name = info.filename if "/" in info.filename else info.filename.replace("\\", "/")
        if name and not name.endswith("/"):
            found.add(name, lambda info=info: zipped.open(info), _bar_of_zip(info))  # type: ignore[misc]
    return found


def _size_of_directory(file: IO[bytes]) -> int:
    """What a zip says of the size of its list, at its end; a zip of the large kind says more than any may have."""
    size = file.seek(0, 2)
    file.seek(max(0, size - ZIP_END_SIZE - ZIP_COMMENT))
    tail = file.read()
    place = tail.rfind(ZIP_END)
    if place < 0 or len(tail) - place < ZIP_END_SIZE:
        raise BrokenArchiveError("the zip is damaged, or cut short")
    return int.from_bytes(tail[place + 12 : place + 16], "little")


def _bar_of_zip(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "is a link; hand in the file itself"
    if kind not in (0, stat.S_IFREG):
        return "is not a regular file; hand in the file itself"
    return "is encrypted; hand it in without a password" if info.flag_bits & ENCRYPTED else ""
