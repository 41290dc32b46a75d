"""Nested lists to arrays, without converting the same numbers twice.

A training loop turns the same sentences, lists of lists of floats, into a tensor in every epoch. Most
of its time would go into reading those lists. So the array made of each sentence is remembered with a
copy of what it was made of; it is used again only while the lists still hold the very same numbers,
which Python compares by identity, many times faster than it converts them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

LIMIT = 16 * 1024 * 1024
"""How many numbers are remembered (64 MiB of float32) before all are forgotten."""

PLAIN = frozenset({int, float, bool, np.float32, np.float64})
"""Numbers that nothing can change in place."""


class _Block:
    """A list of rows as it was when it was converted.

    Attributes:
        rows: the row objects in order; holding them keeps their identities from being used again.
        distinct: each row object once (padding is often one row many times).
        copies: what each of these held.
        array: the numbers, ``[rows, columns]``.
    """

    __slots__ = ("array", "block", "copies", "distinct", "rows")

    def __init__(self, block: list[Any], array: npt.NDArray[np.float32]) -> None:
        self.block = block
        self.rows = list(block)
        self.distinct = list({id(row): row for row in block}.values())
        self.copies = [list(row) for row in self.distinct]
        self.array = array

    def unchanged(self) -> bool:
        try:
            return self.block == self.rows and self.distinct == self.copies
        except ValueError:  # a number was replaced by an array
            return False


class Blocks:
    """The remembered arrays, by the identity of the list that each was made of."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit
        self._known: dict[int, _Block] = {}
        self._numbers = 0

    def array(self, block: list[Any]) -> npt.NDArray[np.float32]:
        """The numbers of a list of lists, ``[rows, columns]``; not to be written to."""
        known = self._known.get(id(block))
        if known is not None:
            if known.unchanged():
                return known.array
            self._forget(block)
        array = np.array(block, dtype=np.float32)
        if array.ndim == 2 and _immutable(block):
            self._remember(block, array)
        return array

    def _remember(self, block: list[Any], array: npt.NDArray[np.float32]) -> None:
        if self._numbers + array.size > self.limit:
            self._known.clear()
            self._numbers = 0
        self._known[id(block)] = _Block(block, array)
        self._numbers += array.size

    def _forget(self, block: list[Any]) -> None:
        self._numbers -= self._known.pop(id(block)).array.size


_blocks = Blocks()


def to_array(ls: Any) -> npt.NDArray[np.float32]:
    """A new float32 array of nested lists (or tuples, or arrays) of numbers, or of one number.

    Raises:
        ValueError: if lists at the same depth differ in length.
    """
    try:
        if _is_blocks(ls):
            return np.array([_blocks.array(block) for block in ls])
        return np.array(ls, dtype=np.float32)
    except ValueError as error:
        raise ValueError(f"a tensor needs lists of equal lengths at each depth ({error})") from None


def _is_blocks(ls: Any) -> bool:
    return type(ls) is list and all(type(block) is list and block and type(block[0]) is list for block in ls)


def _immutable(block: list[Any]) -> bool:
    return all(type(row) is list and PLAIN.issuperset(map(type, row)) for row in block)
