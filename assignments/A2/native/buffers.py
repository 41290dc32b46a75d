"""Buffers that end at a guard page, so that one element too far is a fault with a name."""

from __future__ import annotations

import ctypes
import mmap
from dataclasses import dataclass
from typing import NamedTuple

from assignments.common.probe_io import ITEM_SIZE, Tensor

PAGE = mmap.PAGESIZE
POISON = 0xFF  # every float of it is a NaN, every int is -1
PROT_NONE = 0

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class Region(NamedTuple):
    """Where a buffer lies: its name, the margin's start, the data's start and end, the size of an element."""

    name: str
    base: int
    address: int
    end: int
    item: int

    def describe(self, address: int) -> str | None:
        """Which element of this buffer's surroundings ``address`` is; None where it is elsewhere."""
        if not self.base - PAGE <= address < self.end + PAGE:
            return None
        place = "past the end" if address >= self.end else "before the start"
        index, count = (address - self.address) // self.item, (self.end - self.address) // self.item
        return f"{place} of {self.name}, at element {index} of {count}"


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
        self._margin = pages * PAGE - size
        self._memory[: self._margin] = bytes([POISON]) * self._margin
        self._memory[self._margin : pages * PAGE] = bytes(tensor.data)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        if _libc.mprotect(base + pages * PAGE, PAGE, PROT_NONE) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
        self.base = base
        self.address = base + self._margin
        self.end = base + pages * PAGE

    def data(self) -> bytes:
        """The bytes as they are now."""
        return self._memory[self._margin : self._margin + len(self.tensor.data)]

    def result(self) -> Tensor:
        """The tensor as it is now."""
        return Tensor(self.tensor.dtype, self.tensor.shape, self.data())

    def changed(self) -> bool:
        """Whether a byte differs from what was put in."""
        return self.data() != bytes(self.tensor.data)

    def written_in_front(self) -> bool:
        """Whether the margin before the buffer was written to."""
        return self._memory[: self._margin] != bytes([POISON]) * self._margin

    @property
    def region(self) -> Region:
        """Where it lies, for telling of a fault."""
        return Region(self.name, self.base, self.address, self.end, ITEM_SIZE[self.tensor.dtype])

    def describe(self, address: int) -> str | None:
        """Which element of this buffer's surroundings ``address`` is; None where it is elsewhere."""
        return self.region.describe(address)


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
