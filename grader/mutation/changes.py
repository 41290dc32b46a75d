"""A mutant: the reference's file with one text in place of another, inside of a marked region."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Span = tuple[int, int]  # bytes of a file, the end exclusive


@dataclass(frozen=True)
class Region:
    """What stands between ``BEGIN SOLUTION`` and ``END SOLUTION``.

    Attributes:
        file: the file, by the assignment's path.
        name: the function around it, by its qualified name; ``#2`` and so on where it holds several.
        start: its first byte.
        end: the byte behind its last.
    """

    file: str
    name: str
    start: int
    end: int

    def holds(self, span: Span) -> bool:
        """Whether a span lies inside."""
        return self.start <= span[0] and span[1] <= self.end


@dataclass(frozen=True)
class Change:
    """One text for another.

    Attributes:
        kind: the operator that made it, e.g. ``comparison``.
        start: the first byte that goes.
        end: the byte behind the last that goes.
        by: what comes.
    """

    kind: str
    start: int
    end: int
    by: bytes

    def apply(self, source: bytes) -> bytes:
        """The source with the change made."""
        return source[: self.start] + self.by + source[self.end :]


@dataclass(frozen=True)
class Mutant:
    """A change to a region of the reference.

    Attributes:
        region: where it is.
        change: what it is.
        source: the whole file, mutated.
        line: the first line that it changes, counted from 1 in the file.
        before: the changed lines as they were, without indentation.
        after: and as they are.
    """

    region: Region
    change: Change
    source: bytes
    line: int
    before: str
    after: str

    @property
    def id(self) -> str:
        """Its name: the region, the operator, and a hash of what changes where in the region."""
        place = f"{self.region.name}\n{self.change.start - self.region.start}\n{self.before}\n{self.after}"
        return f"{self.region.name}/{self.change.kind}/{hashlib.sha256(place.encode()).hexdigest()[:8]}"

    def diff(self) -> str:
        """What it changes, as a diff shows it."""
        gone = [f"- {line}" for line in self.before.splitlines()]
        come = [f"+ {line}" for line in self.after.splitlines()]
        return "\n".join([*gone, *come])


def mutants(source: bytes, region: Region, changes: Iterable[Change]) -> Iterator[Mutant]:
    """The mutants of a region; of several that are the same text the first, and none that changes nothing."""
    seen = {source}
    for change in changes:
        mutated = change.apply(source)
        if region.holds((change.start, change.end)) and mutated not in seen:
            seen.add(mutated)
            yield _mutant(source, mutated, region, change)


def _mutant(source: bytes, mutated: bytes, region: Region, change: Change) -> Mutant:
    first = source.rfind(b"\n", 0, change.start) + 1
    last = source.find(b"\n", change.end)
    before = source[first:last]
    after = mutated[first : last + len(change.by) - (change.end - change.start)]
    line = source.count(b"\n", 0, change.start) + 1
    return Mutant(region, change, mutated, line, _dedented(before), _dedented(after))


def _dedented(text: bytes) -> str:
    return "\n".join(line.strip() for line in text.decode().splitlines() if line.strip())
