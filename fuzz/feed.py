"""Random bytes taken apart: numbers, choices, texts, and what is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Choice = TypeVar("Choice")


class Feed:
    """Hands out the bytes of a blob from the front; zeros when it is used up."""

    def __init__(self, blob: bytes) -> None:
        self.blob = blob

    def take(self, count: int) -> bytes:
        """The next bytes, at most ``count``."""
        taken, self.blob = self.blob[:count], self.blob[count:]
        return taken

    def number(self, most: int) -> int:
        """A number from 0 to ``most``."""
        size = (most.bit_length() + 7) // 8
        return int.from_bytes(self.take(size).ljust(size, b"\0"), "little") % (most + 1)

    def choice(self, choices: Sequence[Choice]) -> Choice:
        """One of these."""
        return choices[self.number(len(choices) - 1)]

    def piece(self) -> bytes:
        """Some of the next bytes; how many is said in front of them."""
        return self.take(self.number(255))

    def rest(self) -> bytes:
        """All that is left."""
        return self.take(len(self.blob))
