"""Stands in for ``tqdm``: no bar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


class tqdm:
    """Iterates, and takes what the real one takes."""

    def __init__(self, iterable: Iterable[Any] | None = None, *args: Any, **kwargs: Any) -> None:
        self.iterable: Iterable[Any] = () if iterable is None else iterable
        self.n = 0

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iterable)

    def __enter__(self) -> tqdm:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def update(self, n: int = 1) -> None:
        """Counts."""
        self.n += n

    def close(self) -> None:
        """Does nothing."""

    def set_description(self, *args: Any, **kwargs: Any) -> None:
        """Does nothing."""

    set_postfix = set_description
    set_postfix_str = set_description
    set_description_str = set_description

    @staticmethod
    def write(text: str, *args: Any, **kwargs: Any) -> None:
        """Prints."""
        print(text)


def trange(*args: int, **kwargs: Any) -> tqdm:
    """A bar over a range."""
    return tqdm(range(*args))


auto = notebook = None
