"""What an archive holds, and what of it will not be read."""

from __future__ import annotations

import contextlib
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO

import zstandard

MOST_ENTRIES = 20_000  # a clone of the course's repository has some hundred

Reader = Callable[[str, int], bytes]

_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    zstandard.ZstdError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,  # a password is asked for, headers without end
    NotImplementedError,
    ValueError,
    OverflowError,
    KeyError,
)


class BrokenArchiveError(Exception):
    """The archive cannot be read, or is larger than can be right; the message says why."""


class RefusedError(Exception):
    """A file that will not be read; the message says why."""


@dataclass
class Archive:
    """What an archive holds.

    Attributes:
        names: files, by their paths in it, in its order.
        barred: those among them that will not be read, each with the reason.
        outside: names that lead out of it, each with the reason; they are not among ``names``.
        doubled: names that it has more than once, with what comes of that.
        members: what opens each of them.
    """

    names: list[str] = field(default_factory=list)
    barred: dict[str, str] = field(default_factory=dict)
    outside: dict[str, str] = field(default_factory=dict)
    doubled: dict[str, str] = field(default_factory=dict)
    members: dict[str, Callable[[], IO[bytes] | None]] = field(default_factory=dict)

    def add(self, name: str, open_it: Callable[[], IO[bytes] | None], barred: str = "") -> None:
        """Adds a member; of two that bear the same name, the last one counts."""
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or (path.parts[:1] and path.parts[0].endswith(":")):
            self.outside[name] = "leads out of the archive"
            return
        name = path.as_posix()
        if name in self.members:
            self.doubled[name] = "is in it more than once; the last one counts"
            self.barred.pop(name, None)
        else:
            self.names.append(name)
        self.members[name] = open_it
        if barred:
            self.barred[name] = barred

    @property
    def refused(self) -> dict[str, str]:
        """All that is not taken as it stands, with the reasons."""
        return {**self.outside, **self.doubled, **self.barred}

    def read(self, name: str, limit: int) -> bytes:
        """The first ``limit`` bytes of a member, and one more if there are more.

        Raises:
            RefusedError: it is something else than a file.
            BrokenArchiveError: it is damaged.
        """
        if name in self.barred:
            raise RefusedError(self.barred[name])
        with told():
            file = self.members[name]()
            if file is None:
                raise RefusedError("is not a regular file; hand in the file itself")
            with file:
                return file.read(limit + 1)


@contextlib.contextmanager
def told() -> Iterator[None]:
    """What goes wrong in reading an archive, as one error."""
    try:
        yield
    except _BROKEN as error:
        raise BrokenArchiveError(str(error) or type(error).__name__) from error
