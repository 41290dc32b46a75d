"""Buffers that end at a guard page, so that one element too far is a fault with a name."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assignments.common.probe_io import ITEM_SIZE, Tensor

PAGE = mmap.PAGESIZE
POISON = 0xFF  # every float of it is a NaN, every int is -1
PROT_NONE = 0
UNITS = {"F32": "float", "I32": "int"}
SHADOWED = 8  # bytes that AddressSanitizer marks together, but for the last of them: data begins on such a bound

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def under_a_sanitizer() -> bool:
    """Whether AddressSanitizer's runtime is there: it tells of one element too far without a guard page's help."""
    return hasattr(_libc, "__asan_poison_memory_region")


@dataclass(frozen=True)
class Place:
    """An element of a buffer, or beside it: ``where`` is ``inside``, ``before`` or ``after``."""

    buffer: str
    where: str
    index: int
    count: int
    unit: str

    @property
    def distance(self) -> int:
        """How many elements lie between it and the buffer, itself included."""
        return max(self.index - self.count + 1, -self.index, 0)


class Region(NamedTuple):
    """Where a buffer lies: its name, the margin's start, the data's start and end, an element's size and C type."""

    name: str
    base: int
    address: int
    end: int
    item: int
    unit: str = "float"

    def describe(self, address: int) -> str | None:
        """Which element of this buffer's surroundings ``address`` is; None where it is elsewhere."""
        if not self.base - PAGE <= address < self.end + PAGE:
            return None
        place = "past the end" if address >= self.end else "before the start"
        return f"{place} of {self.name}, at element {self._index(address)} of {self.elements}"

    def place(self, address: int) -> Place | None:
        """The same for a program, and for an address inside of the buffer too."""
        if not self.base - PAGE <= address < self.end + PAGE:
            return None
        where = "after" if address >= self.end else "before" if address < self.address else "inside"
        return Place(self.name, where, self._index(address), self.elements, self.unit)

    def _index(self, address: int) -> int:
        return (address - self.address) // self.item

    @property
    def elements(self) -> int:
        """Number of elements."""
        return (self.end - self.address) // self.item


class GuardedBuffer:
    """A tensor's memory: a poisoned margin, the data, and right behind them a page without access.

    The margin in front (the rest of the first page, or a page of its own) is checked afterwards: a write
    in front of the buffer is seen there, a read of it yields NaN.
    """

    def __init__(self, name: str, tensor: Tensor) -> None:
        self.name = name
        self.tensor = tensor
        size = len(tensor.data)
        pages = -(-size // PAGE) + 1
        self._memory = mmap.mmap(-1, (pages + 1) * PAGE)
        self._margin = pages * PAGE - size - (-size % SHADOWED if under_a_sanitizer() else 0)
        self._memory[: self._margin] = bytes([POISON]) * self._margin
        self.fill(bytes(tensor.data))
        base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        if _libc.mprotect(base + pages * PAGE, PAGE, PROT_NONE) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
        self.base = base
        self.address = base + self._margin
        self.end = self.address + size

    def around(self) -> list[tuple[int, int]]:
        """Start and size of what lies before the data, and behind it to the end of the guard page."""
        behind = self.base + len(self._memory) - self.end
        return [(self.base, self._margin), (self.end, behind)]

    def data(self) -> bytes:
        """The bytes as they are now."""
        return self._memory[self._margin : self._margin + len(self.tensor.data)]

    def fill(self, data: bytes) -> None:
        """Puts other bytes in, as many as there are."""
        self._filled = data
        self._memory[self._margin : self._margin + len(self.tensor.data)] = data

    def result(self) -> Tensor:
        """The tensor as it is now."""
        return Tensor(self.tensor.dtype, self.tensor.shape, self.data())

    def changed(self) -> bool:
        """Whether a byte differs from what was put in."""
        return self.data() != self._filled

    def written_in_front(self) -> bool:
        """Whether the margin before the buffer was written to."""
        return self._memory[: self._margin] != bytes([POISON]) * self._margin

    @property
    def region(self) -> Region:
        """Where it lies, for telling of a fault."""
        kind = self.tensor.dtype
        return Region(self.name, self.base, self.address, self.end, ITEM_SIZE[kind], UNITS[kind])

    def describe(self, address: int) -> str | None:
        """Which element of this buffer's surroundings ``address`` is; None where it is elsewhere."""
        return self.region.describe(address)


@contextlib.contextmanager
def marked(buffers: Sequence[GuardedBuffer]) -> Iterator[None]:
    """Forbids what lies around the buffers while the student's code runs; without the runtime, nothing happens."""
    if not under_a_sanitizer():
        yield
        return
    mark, clear = _libc.__asan_poison_memory_region, _libc.__asan_unpoison_memory_region
    for function in (mark, clear):
        function.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    around = [piece for buffer in buffers for piece in buffer.around()]
    for start, size in around:
        mark(start, size)
    try:
        yield
    finally:
        for start, size in around:
            clear(start, size)


@dataclass(frozen=True)
class Fault:
    """A memory fault: the address, and whether it was a write (None where the system does not say)."""

    address: int
    write: bool | None

    @classmethod
    def from_report(cls, merged: dict[str, object]) -> Fault | None:
        """The fault that the crash handler reported, if it did."""
        if "fault" not in merged:
            return None
        write = merged.get("write")
        return cls(int(str(merged["fault"]), 16), None if write is None else bool(write))

    def sentence(self, described: str | None) -> str:
        """What happened, in words; ``described`` is what a buffer says of the address."""
        verb = {True: "writes", False: "reads", None: "touches memory"}[self.write]
        if described:
            return f"{verb} {described}"
        if self.address < PAGE * 16:
            return f"{verb} through a NULL pointer"
        return f"{verb} outside of every buffer"
