"""Pairs of submissions that share more than the template: winnowing (Schleimer, Wilkerson, Aiken, SIGMOD 2003).

The fingerprints are copydetect's: names, comments and blanks do not count, and what the template holds is left out.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from copydetect import CodeFingerprint, compare_files

SHORTEST = 25  # characters, names shortened to one: less than that is a coincidence
WINDOW = 10  # a shared run of SHORTEST + WINDOW - 1 is always found
MOST_SHARING = 0.5  # of the class: what more than half of it shares is common knowledge, and suggests no pair
SMALL = 40  # a class in which every pair can be compared, and three who share may be half of it
MOST_TEXT = 400_000  # characters of a file that are looked at


@dataclass(frozen=True)
class Text:
    """A file of a submission: what it holds, and its fingerprint."""

    text: str
    print: Any


@dataclass(frozen=True)
class Alike:
    """Two submissions.

    Attributes:
        a: the one, by its key.
        b: the other.
        share: of the smaller one's own code, 0 to 1.
        tokens: characters, names shortened to one, that both hold.
        files: file → the spans of both (start, end), in characters.
    """

    a: str
    b: str
    share: float
    tokens: int
    files: Mapping[str, tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]]


def read(name: str, blob: bytes, template: Any = None) -> Text:  # noqa: ANN401 (copydetect has no types)
    """The fingerprint of a file, without what its template holds."""
    text = blob.decode("utf-8", "replace").replace("\r\n", "\n")[:MOST_TEXT]
    language = "c" if name.endswith(".c") else "python"
    known = None if template is None else template.print.hashes
    boilerplate = np.array([], dtype=int) if known is None else np.array(sorted(known))
    fingerprint = CodeFingerprint(
        name, SHORTEST, WINDOW, boilerplate=boilerplate, language=language, fp=io.StringIO(text)
    )
    return Text(text, fingerprint)


def candidates(class_: Mapping[str, Mapping[str, Text]]) -> list[tuple[str, str]]:
    """Pairs that share a fingerprint which not half of the class has; those that share most first."""
    holders: dict[tuple[str, int], list[str]] = {}
    for who, files in sorted(class_.items()):
        for name, found in files.items():
            for value in {int(h) for h in found.print.hashes}:
                holders.setdefault((name, value), []).append(who)
    most = len(class_) if len(class_) <= SMALL else int(MOST_SHARING * len(class_))
    shared: Counter[tuple[str, str]] = Counter()
    for whose in holders.values():
        if 1 < len(whose) <= most:
            shared.update(combinations(whose, 2))
    return [pair for pair, _ in sorted(shared.items(), key=lambda one: (-one[1], one[0]))]


def alike(class_: Mapping[str, Mapping[str, Text]], least: float, most: int) -> list[Alike]:
    """The pairs that are alike to at least that share, at most so many; the most alike first."""
    found = (compare(class_, *pair) for pair in candidates(class_)[: 20 * most])
    wanted = [one for one in found if one.share >= least]
    return sorted(wanted, key=lambda one: (-one.share, -one.tokens, one.a, one.b))[:most]


def compare(class_: Mapping[str, Mapping[str, Text]], a: str, b: str) -> Alike:
    """How much two submissions share."""
    files: dict[str, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {}
    both = of_a = of_b = 0
    for name in sorted(class_[a].keys() & class_[b].keys()):
        one, other = class_[a][name], class_[b][name]
        tokens, _, (slices_a, slices_b) = compare_files(one.print, other.print)
        both += int(tokens)
        of_a += int(one.print.token_coverage)
        of_b += int(other.print.token_coverage)
        if tokens:
            files[name] = (_spans(slices_a), _spans(slices_b))
    smaller = min(of_a, of_b)
    return Alike(a, b, min(1.0, both / smaller) if smaller else 0.0, both, files)


def _spans(slices: Iterable[Sequence[int]]) -> list[tuple[int, int]]:
    starts, ends = slices
    merged: list[tuple[int, int]] = []
    for start, end in sorted(zip((int(s) for s in starts), (int(e) for e in ends), strict=True)):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
