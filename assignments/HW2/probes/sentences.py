"""The sentences as the network's first layer sees them; used by the training run and, outside, by the judge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Split:
    """Sentences and their labels."""

    sentences: list[str]
    labels: list[int]


def read_split(path: str) -> Split:
    """A TSV file with a header and the columns sentence and label."""
    with open(path, encoding="utf-8") as file:
        rows = [line.rsplit("\t", 1) for line in file.read().splitlines()[1:] if line]
    return Split([text for text, _ in rows], [int(label) for _, label in rows])


def read_vectors(words: str, vectors: str) -> dict[str, Float]:
    """The vector of each word: a word a line, and a row of the array each."""
    with open(words, encoding="utf-8") as file:
        names = file.read().splitlines()
    return dict(zip(names, np.load(vectors).astype(np.float64), strict=True))


def unknown(dim: int) -> Float:
    """The small vector of every word that has none; the same for all, so that the judge knows it too."""
    return np.array([0.05 * math.sin(i + 1) for i in range(dim)])


def longest(*splits: Split) -> int:
    """The number of words of the longest sentence, to which the course's code pads."""
    return max(len(sentence.split()) for split in splits for sentence in split.sentences)


def means(sentences: Sequence[str], vectors: Mapping[str, Float], length: int) -> Float:
    """The mean embedding ``[sentences, dim]`` of sentences padded with zeros to ``length`` words."""
    dim = len(next(iter(vectors.values())))
    other = unknown(dim)
    sums = [sum((vectors.get(word, other) for word in s.split()), np.zeros(dim)) for s in sentences]
    return np.array(sums) / length
