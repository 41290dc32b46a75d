"""A private fixture set beside the public one: does it see the same mutants?"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.mutation import document
from grader.mutation.outcome import Outcome
from grader.mutation.report import Summary, record

HEADINGS = ("function", "mutants", "killed by the public set", "killed by the private set")


@dataclass(frozen=True)
class Strength:
    """The same mutants under two sets.

    Attributes:
        public: what the public set makes of them.
        private: what the other does.
    """

    public: Summary
    private: Summary

    @property
    def differing(self) -> list[tuple[Outcome, Outcome]]:
        """The mutants that one set kills and the other does not."""
        pairs = zip(self.public.outcomes, self.private.outcomes, strict=True)
        return [(a, b) for a, b in pairs if (a.state == "killed") != (b.state == "killed")]

    @property
    def equal(self) -> bool:
        """Whether both kill the same mutants."""
        return not self.differing

    def cells(self, region: str | None) -> tuple[str, str, str, str]:
        """A line of the table: a function's numbers, or those of all."""
        _, _, mutants, killed, *_ = self.public.cells(region)
        return (region or "all", str(mutants), str(killed), str(len(self.private.of("killed", region))))

    def rows(self) -> list[tuple[str, str, str, str]]:
        """The table."""
        return [self.cells(region) for region in [*self.public.regions, None]]


def told(public: Outcome, private: Outcome) -> str:
    """What two sets make of a mutant."""
    return f"{public.id} (line {public.line}): public {public.state}, private {private.state}\n{public.diff}"


def show(strength: Strength) -> None:
    """Prints the table, and the mutants that one set alone kills."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
    title = f"{strength.public.assignment.id}: mutants of the reference, under two fixture sets"
    table = Table(title=title, title_justify="left")
    for number, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if number else "left", overflow="fold")
    *regions, everything = strength.rows()
    for row in regions:
        table.add_row(*row)
    table.add_section()
    table.add_row(*everything)
    console.print(table)
    for pair in strength.differing:
        console.print(f"\n{told(*pair)}", markup=False, soft_wrap=True)


def as_json(strength: Strength) -> str:
    """Both studies as JSON text, the private set's on top."""
    differing = [{"id": a.id, "public": a.state, "private": b.state} for a, b in strength.differing]
    both = {**record(strength.private), "public": record(strength.public), "differing": differing}
    return json.dumps(both, indent=1) + "\n"


def write(strength: Strength, path: Path) -> None:
    """Writes the assignment's part of a document.

    Raises:
        NotShownError: the file cannot be read or written.
    """
    document.put_part(f"{strength.public.assignment.id} private", lines(strength), path)


def lines(strength: Strength) -> Iterator[str]:
    """That part, in Markdown."""
    yield f"### {strength.public.assignment.id}"
    yield ""
    yield f"Made by `{strength.private.command}` (public {strength.public.basis}; private {strength.private.basis})."
    yield ""
    yield from document.table(HEADINGS, strength.rows())
    for pair in strength.differing:
        yield from ("", "```diff", told(*pair), "```")
