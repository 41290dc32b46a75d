"""Zips. Their members are read one by one, each no further than asked for: how much they unpack to has no meaning."""

from __future__ import annotations

import contextlib
import stat
import zipfile
from typing import IO

from grader.archives.archive import MOST_ENTRIES, Archive, BrokenArchiveError

MOST_DIRECTORY = 16 << 20  # bytes of a zip's list of members, which is read as a whole
BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
ENCRYPTED = 1  # bit of a member's flags


class _Careful:
    """A file whose list of members is not read where it is larger than any may be.

    What a zip says of its size stands in two places, and which of them counts is the reader's choice: what it asks for
    is what is bounded.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable
        self.listing = True

    def read(self, size: int = -1) -> bytes:
        """Reads so many bytes; all that there are: where a zip ends, which is short."""
        if self.listing and size > MOST_DIRECTORY:
            raise BrokenArchiveError(f"it holds more than {MOST_ENTRIES} files")
        return self.file.read(size)


def members_of_zip(stack: contextlib.ExitStack, file: IO[bytes]) -> Archive:
    """What a zip holds; it stays open as long as ``stack``.

    Raises:
        BrokenArchiveError: it is damaged, or holds too much.
    """
    careful = _Careful(file)
    zipped = stack.enter_context(zipfile.ZipFile(careful))
    careful.listing = False
    found = Archive()
    for info in zipped.infolist()[: MOST_ENTRIES + 1]:
        # some tools of Windows write backslashes
        name = info.filename if "/" in info.filename else info.filename.replace("\\", "/")
        if name and not name.endswith("/"):
            found.add(name, lambda info=info: zipped.open(info), _bar_of_zip(info))  # type: ignore[misc]
    return found


def _bar_of_zip(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "is a link; hand in the file itself"
    if kind not in (0, stat.S_IFREG):
        return "is not a regular file; hand in the file itself"
    return "is encrypted; hand it in without a password" if info.flag_bits & ENCRYPTED else ""
