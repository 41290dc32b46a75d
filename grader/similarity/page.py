"""The pairs as a page: a table, and both sides of the most alike with what they share marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.report.html import page
from grader.similarity.pairs import Alike, Text

MOST_SHOWN = 30  # pairs side by side
CONTEXT = 3  # lines around what is shared
LONGEST_SIDE = 30_000  # characters


@dataclass(frozen=True)
class Piece:
    """A piece of a file, shared or not."""

    text: str
    shared: bool


@dataclass(frozen=True)
class Side:
    """One side of a pair, for one file."""

    who: str
    file: str
    pieces: Sequence[Piece]


def text(
    assignment: str, class_: Mapping[str, Mapping[str, Text]], pairs: Sequence[Alike], names: Mapping[str, str]
) -> str:
    """The page; ``names``: key → name."""
    shown = [(pair, list(_sides(class_, pair))) for pair in pairs[:MOST_SHOWN]]
    return page("similarity.html.j2", assignment=assignment, pairs=pairs, shown=shown, names=names, of=len(class_))


def _sides(class_: Mapping[str, Mapping[str, Text]], pair: Alike) -> Iterator[tuple[Side, Side]]:
    for name, (spans_a, spans_b) in pair.files.items():
        yield (
            Side(pair.a, name, _pieces(class_[pair.a][name].text, spans_a)),
            Side(pair.b, name, _pieces(class_[pair.b][name].text, spans_b)),
        )


def _pieces(text: str, spans: Sequence[tuple[int, int]]) -> list[Piece]:
    """What is shared, with some lines around it; what lies further off is left out."""
    pieces: list[Piece] = []
    end = used = 0
    for start, stop in spans:
        before = text[end:start]
        if before:
            pieces.append(Piece(_shortened(before, bool(pieces)), False))
        pieces.append(Piece(text[start:stop], True))
        end, used = stop, used + stop - start
        if used > LONGEST_SIDE:
            return [*pieces, Piece("\n… (cut here)", False)]
    after = text[end:]
    return [*pieces, Piece("\n".join(after.split("\n")[: CONTEXT + 1]), False)] if after else pieces


def _shortened(text: str, within: bool) -> str:
    lines = text.split("\n")
    if len(lines) <= 2 * CONTEXT + 2:
        return text
    head = [*lines[: CONTEXT + 1], "⋯"] if within else ["⋯"]
    return "\n".join([*head, *lines[-CONTEXT - 1 :]])
