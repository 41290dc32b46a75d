"""What two versions make of saved submissions: on a terminal, and as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from pydantic import Field

from grader.report.texts import printable
from grader.result import Record, words
from grader.versions.differences import Change, Reason, RowChange, Side

SCHEMA = "tensorgrade/compare/1"


class Compared(Record):
    """The whole comparison."""

    schema_: str = Field(default=SCHEMA, serialization_alias="schema")
    assignment: str
    a: str
    b: str
    brings_a: list[str] = Field(description="what the version has of its own; the rest is the project's")
    brings_b: list[str]
    submissions: list[Change]

    @property
    def changed(self) -> list[Change]:
        """The submissions whose score changes."""
        return [change for change in self.submissions if change.changed]


def show(compared: Compared) -> None:
    """Prints the submissions that change, and why."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
    for letter, name, brings in (("A", compared.a, compared.brings_a), ("B", compared.b, compared.brings_b)):
        own = f"its own {', '.join(brings)}" if brings else "the project as it stands"
        console.print(Text(f"{letter}: {printable(name)} ({own})"), soft_wrap=True)
    told = [change for change in compared.submissions if change.changed or change.rows]
    if told:
        table = Table(title=f"{compared.assignment}: what changes", title_justify="left")
        for heading in ("submission", "A", "B", ""):
            table.add_column(heading, justify="left" if heading == "submission" else "right", overflow="fold")
        for change in told:
            difference = change.score_b - change.score_a
            table.add_row(
                Text(printable(change.submission)), str(change.score_a), str(change.score_b), f"{difference:+d}"
            )
        console.print(table)
    for change in told:
        for line in lines(change):
            console.print(Text(line), soft_wrap=True)
    console.print(Text(f"{len(compared.changed)} of {len(compared.submissions)} scores change"))


def lines(change: Change) -> Iterator[str]:
    """Why a submission's score changes."""
    yield f"\n{printable(change.submission)}: {change.score_a} in A, {change.score_b} in B"
    for row in change.rows:
        yield f"  {row.title}: {_stands(row.points_a, row)} in A, {_stands(row.points_b, row, True)} in B"
        yield from (f"    {_reason(reason)}" for reason in row.reasons)


def _stands(points: int | None, row: RowChange, second: bool = False) -> str:
    verdict = row.verdict_b if second else row.verdict_a
    return "no such row" if points is None or verdict is None else f"{points} ({words(verdict)})"


def _reason(reason: Reason) -> str:
    if not reason.tensor:
        return printable(f"{reason.check}: {reason.text}" if reason.check else reason.text)
    return f"{reason.check}, {reason.tensor}: A {_told(reason.a)}; B {_told(reason.b)}"


def _told(side: Side | None) -> str:
    """A tensor's error beside its limit."""
    if side is None:
        return "does not look at it"
    verdict = "passes" if side.ok else "fails"
    if side.error is None:
        return f"{verdict}: {side.reason or 'not finite'} (case {side.case})"
    unit = " of what is allowed" if side.of_allowed else ""
    return f"{verdict}: error {side.error:.2e}{unit}, limit {side.limit:.2e} (case {side.case})"
