"""What a mutation study found: in numbers, on a terminal, as JSON and in ``docs/mutation-study.md``."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from grader.assignment import Assignment
from grader.mutation import notes
from grader.mutation.outcome import Outcome

SCHEMA = "tensorgrade/mutation/1"
EVERY = 25  # outcomes between two lines of progress, where there is no terminal
Cells = tuple[str, int, int, int, int, int, int, str]


@dataclass(frozen=True)
class Summary:
    """A study's outcomes, counted.

    Attributes:
        assignment: whose reference was mutated.
        outcomes: of all mutants.
        command: what made them.
        basis: what they rest on: hashes of the fixture set, and of all that decides a verdict.
    """

    assignment: Assignment
    outcomes: Sequence[Outcome]
    command: str
    basis: str

    @cached_property
    def notes(self) -> notes.Notes:
        """What is known of those that cost nothing."""
        return notes.load(self.assignment)

    def of(self, state: str, region: str | None = None) -> list[Outcome]:
        """The outcomes of a state: ``argued`` are those that survived and are known to be right."""
        found = [o for o in self.outcomes if region in (None, o.region)]
        if state in ("survived", "argued"):
            looked_at = state == "argued"
            return [o for o in found if o.state == "survived" and bool(self.notes.why(o.id)) == looked_at]
        return [o for o in found if o.state == state]

    @property
    def survivors(self) -> list[Outcome]:
        """Those that cost nothing and are not known to be right."""
        return self.of("survived")

    @property
    def astray(self) -> list[Outcome]:
        """Those that were killed and did not cost exactly their own row."""
        return [o for o in self.of("killed") if not o.exact]

    def cells(self, region: str | None) -> Cells:
        """A line of the table: a region's numbers, or those of all."""
        states = ("build failed", "killed", "equivalent", "argued", "survived")
        failed, killed, equivalent, argued, survived = (len(self.of(state, region)) for state in states)
        exact = sum(o.exact for o in self.of("killed", region))
        mutants = killed + equivalent + argued + survived
        return (region or "all", failed, mutants, killed, equivalent, argued, survived, _share(exact, killed))

    @property
    def regions(self) -> list[str]:
        """The regions in the order of the file."""
        return list(dict.fromkeys(o.region for o in self.outcomes))


HEADINGS = ("function", "no program", "mutants", "killed", "equivalent", "argued", "survived", "exactly its row")


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


# ---- while it runs -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def progress(total: int, known: Sequence[Outcome], quiet: bool) -> Iterator[Callable[[Outcome], None]]:
    """A bar on standard error, or a line now and then where that is no terminal."""
    counts = dict.fromkeys(("killed", "survived", "equivalent", "build failed"), 0)
    for outcome in known:
        counts[outcome.state] += 1
    if quiet or not sys.stderr.isatty():
        yield _lines(counts, total, quiet)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(_counted(counts), total=total, completed=len(known))

        def tell(outcome: Outcome) -> None:
            counts[outcome.state] += 1
            bar.update(task, advance=1, description=_counted(counts))

        yield tell


def _lines(counts: dict[str, int], total: int, quiet: bool) -> Callable[[Outcome], None]:
    def tell(outcome: Outcome) -> None:
        counts[outcome.state] += 1
        done = sum(counts.values())
        if not quiet and (done % EVERY == 0 or done == total):
            print(f"{done}/{total}: {_counted(counts)}", file=sys.stderr, flush=True)

    return tell


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {state}" for state, count in counts.items())


# ---- on a terminal -----------------------------------------------------------------------------------------


def show(summary: Summary) -> None:
    """Prints the table, the survivors with their diffs, and where points went astray."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
    table = Table(title=f"{summary.assignment.id}: mutants of the reference", title_justify="left")
    for number, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if number else "left", overflow="fold")
    for region in summary.regions:
        table.add_row(*map(str, summary.cells(region)))
    table.add_section()
    table.add_row(*map(str, summary.cells(None)))
    console.print(table)
    for outcome in summary.survivors:
        console.print(_told(outcome, f"survived: {outcome.differs}"), markup=False, soft_wrap=True)
    for outcome in summary.astray:
        console.print(_told(outcome, went(outcome)), markup=False, soft_wrap=True)


def _told(outcome: Outcome, what: str) -> str:
    return f"\n{outcome.id} (line {outcome.line}): {what}\n{outcome.diff}"


def went(outcome: Outcome) -> str:
    """Where the points of one that went astray went."""
    lost = ", ".join(f"{row} -{points}" for row, points in outcome.lost.items())
    return f"{outcome.row} was to be lost; lost: {lost}"


# ---- as JSON -----------------------------------------------------------------------------------------------


def record(summary: Summary) -> dict[str, Any]:
    """The study as JSON holds it."""
    numbers = [dict(zip(HEADINGS, summary.cells(region), strict=True)) for region in [*summary.regions, None]]
    outcomes = [{**o.model_dump(), "why": summary.notes.why(o.id)} for o in summary.outcomes]
    return {
        "schema": SCHEMA,
        "assignment": summary.assignment.id,
        "basis": summary.basis,
        "table": numbers,
        "mutants": outcomes,
    }


def as_json(summary: Summary) -> str:
    """The study as JSON text."""
    return json.dumps(record(summary), indent=1) + "\n"
