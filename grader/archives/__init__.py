"""Archives from outside: zip, tar, and tar compressed with gzip, bzip2, xz or zstd.

They are listed within bounds and never unpacked: nothing of them is written anywhere under a name of theirs, a member
is bytes that are read on demand.
"""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterator
from pathlib import Path

from grader.archives.archive import MOST_ENTRIES, Archive, BrokenArchiveError, Reader, RefusedError, told
from grader.archives.tarred import COMPRESSED, members_of_tar
from grader.archives.zipped import BEGINNINGS, members_of_zip

__all__ = ["MOST_ENTRIES", "Archive", "BrokenArchiveError", "Reader", "RefusedError", "opened"]


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Archive | None]:
    """An archive, open while this lasts; None: the file is none.

    Raises:
        BrokenArchiveError: it is damaged, or larger than can be right.
        InfrastructureError: there is no room to unpack it.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file, contextlib.ExitStack() as stack:
        head = file.read(6)
        with told():
            if not head.startswith(tuple(COMPRESSED)) and zipfile.is_zipfile(file):
                found: Archive | None = members_of_zip(stack, file)
            elif head.startswith(BEGINNINGS):
                raise BrokenArchiveError("the zip is damaged, or cut short")
            else:
                file.seek(0)
                found = members_of_tar(stack, file, head)
        yield found
