"""Stands in for Hugging Face's ``datasets``: SST-2's two columns, from a local file."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import localdata  # type: ignore[import-not-found]


class Split:
    """A split with the columns ``sentence``, ``label`` and ``idx``; indexed by column, row number or slice."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows
        self.column_names = ["sentence", "label", "idx"]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return [row[key] for row in self.rows]
        if isinstance(key, slice):
            return {name: [row[name] for row in self.rows[key]] for name in self.column_names}
        return dict(self.rows[key])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(row) for row in self.rows)

    def select(self, indices: Iterable[int]) -> Split:
        """The rows of these numbers."""
        return Split([self.rows[i] for i in indices])

    def shuffle(self, seed: int | None = None, **_: Any) -> Split:
        """The rows in random order."""
        return Split(random.Random(seed).sample(self.rows, len(self.rows)))


class DatasetDict(dict[str, Split]):
    """The splits by name."""


def _read(name: str) -> Split:
    path: str = localdata.path(name)
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()[1:]
    pairs = [line.rsplit("\t", 1) for line in lines if line]
    return Split([{"sentence": text, "label": int(label), "idx": i} for i, (text, label) in enumerate(pairs)])


def load_dataset(path: str, name: str | None = None, split: str | None = None, **_: Any) -> Any:
    """SST-2, whatever it is called: its splits, or one of them."""
    if split is None:
        return DatasetDict({"train": _read("train"), "validation": _read("validation")})
    kind, part = [*split.rstrip("]").split("["), ""][:2]
    rows = _read(kind)
    if not part:
        return rows
    start, stop = [*part.split(":"), ""][:2]
    return rows.select(range(int(start or 0), min(int(stop or len(rows)), len(rows))))
