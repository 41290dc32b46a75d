"""Tars, plain or compressed. A compressed one is unpacked into a file that bears no name, within bounds."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from typing import IO, Protocol

import zstandard

from grader.archives.archive import MOST_ENTRIES, Archive, BrokenArchiveError
from grader.errors import InfrastructureError

MOST_UNPACKED = 1 << 30  # bytes: finding the next member means unpacking the last
MOST_RATIO, RATIO_FROM = 200, 64 << 20  # bytes out for a byte in, beyond so many: text has some ten
MOST_AT_ONCE = 16 << 20  # bytes of a member
# Of what stands before the members: long names, and what tar programs note of a file; some hundred bytes are usual.
MOST_OF_A_HEADER = 1 << 20  # bytes
MOST_OF_ALL_HEADERS = 64 << 20  # bytes: 20,000 members have three blocks and some each
MOST_NOTES, MOST_OF_ALL_NOTES = 4_096, 500_000  # lines of a header, and of all; each note is one at least
MOST_FOR_ALL = 100  # notes that hold for all members that follow: each has them anew; git makes one
MOST_HEADERS = 40  # reads before one member: a header may stand before a header, and all are held at once
MOST_WINDOW = 1 << 27  # bytes that unpacking may keep in mind
PIECE = 1 << 20


class Unpacking(Protocol):
    """What gives an archive's plain form, piece by piece."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes; none at the end."""
        ...


class _Careful:
    """A file that refuses to be read as far as a forged header may ask for.

    Attributes:
        listing: whether headers are being read, and no member.
        reads: how many there were since the last member was found.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.seek, self.tell = file.seek, file.tell
        self.listing, self.reads, self._bytes, self._notes = True, 0, 0, 0

    def read(self, size: int = -1) -> bytes:
        """Reads so many bytes."""
        if not 0 <= size <= (MOST_OF_A_HEADER if self.listing else MOST_AT_ONCE):
            raise BrokenArchiveError("a header in it is larger than can be right")
        blob = self.file.read(size)
        if self.listing:
            self._count(blob)
        return blob

    def _count(self, blob: bytes) -> None:
        notes = blob.count(b"\n")
        self.reads, self._bytes, self._notes = self.reads + 1, self._bytes + len(blob), self._notes + notes
        if notes > MOST_NOTES or self.reads > MOST_HEADERS:
            raise BrokenArchiveError("a header in it is larger than can be right")
        if self._bytes > MOST_OF_ALL_HEADERS or self._notes > MOST_OF_ALL_NOTES:
            raise BrokenArchiveError("the headers in it are larger than can be right")


def members_of_tar(stack: contextlib.ExitStack, file: IO[bytes], head: bytes) -> Archive | None:
    """What a tar holds, plain or compressed; None: it is none. It stays open as long as ``stack``.

    Raises:
        BrokenArchiveError: it is damaged, or holds too much.
        InfrastructureError: there is no room to unpack it.
    """
    opener = next((make for magic, make in COMPRESSED.items() if head.startswith(magic)), None)
    if opener is not None:
        file = stack.enter_context(_unpacked(file, opener))
    careful = _Careful(file)
    try:
        tar = stack.enter_context(tarfile.TarFile(fileobj=careful))  # type: ignore[arg-type]
    except tarfile.ReadError:
        if opener is None:
            return None
        raise
    found = _members_of_tar(tar, careful)
    careful.listing = False
    return found


def _members_of_tar(unpacked: tarfile.TarFile, careful: _Careful) -> Archive:
    found, total, count = Archive(), 0, 0
    while count <= MOST_ENTRIES and (member := unpacked.next()) is not None:
        count, careful.reads = count + 1, 0
        # What its header noted is not asked for again, and would be kept with all members.
        unpacked.members.clear()  # type: ignore[attr-defined]  # only getmembers() is in its stub
        member.pax_headers = {}
        if len(unpacked.pax_headers) > MOST_FOR_ALL:
            raise BrokenArchiveError("the headers in it are larger than can be right")
        if (total := total + member.size) > MOST_UNPACKED:
            raise BrokenArchiveError(f"it holds more than {MOST_UNPACKED >> 20} MiB")
        if not member.isdir():
            barred = "" if member.isreg() else "is not a regular file; hand in the file itself"
            found.add(member.name, lambda member=member: unpacked.extractfile(member), barred)  # type: ignore[misc]
    return found


@contextlib.contextmanager
def _unpacked(packed: IO[bytes], opener: Callable[[IO[bytes]], Unpacking]) -> Iterator[IO[bytes]]:
    """The plain form, in a file that bears no name."""
    size = packed.seek(0, 2)
    packed.seek(0)
    try:
        plain = tempfile.TemporaryFile()  # noqa: SIM115
    except OSError as error:
        raise _no_room(error) from error
    with plain:
        for piece in _pieces(opener(packed), size):
            try:
                plain.write(piece)
            except OSError as error:
                raise _no_room(error) from error
        plain.seek(0)
        yield plain


def _no_room(error: OSError) -> InfrastructureError:
    return InfrastructureError(f"there is no room to unpack a submission: {error.strerror}")


def _pieces(unpacking: Unpacking, size: int) -> Iterator[bytes]:
    """What an archive of so many bytes unpacks to, within bounds."""
    total = 0
    while piece := unpacking.read(PIECE):
        total += len(piece)
        if total > MOST_UNPACKED:
            raise BrokenArchiveError(f"it holds more than {MOST_UNPACKED >> 20} MiB")
        if total > RATIO_FROM and total > MOST_RATIO * size:
            raise BrokenArchiveError(f"it unpacks to more than {MOST_RATIO} times its size")
        yield piece


class _Xz:
    """xz with a bound on its memory, which ``lzma.open`` has not."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.unpacker = lzma.LZMADecompressor(memlimit=MOST_WINDOW)

    def read(self, size: int) -> bytes:
        """At most so many bytes; none at the end."""
        while not self.unpacker.eof:
            packed = self.file.read(PIECE) if self.unpacker.needs_input else b""
            if piece := self.unpacker.decompress(packed, size):
                return piece
            if not packed and self.unpacker.needs_input:
                raise EOFError("it is cut short")
        return b""


def _zstd(file: IO[bytes]) -> Unpacking:
    return zstandard.ZstdDecompressor(max_window_size=MOST_WINDOW).stream_reader(file, read_across_frames=True)


COMPRESSED: dict[bytes, Callable[[IO[bytes]], Unpacking]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": lambda file: bz2.BZ2File(file),
    b"\xfd7zXZ\x00": _Xz,
    b"\x28\xb5\x2f\xfd": _zstd,
}
