"""The result on a terminal, in a pipe, in a CI log: the table first, then each failure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from grader.report.texts import printable, words
from grader.result import CheckResult, Evidence, Result, RowResult, Verdict
from grader.score import describe, measured_error

STYLES: dict[Verdict, str] = {
    "pass": "green",
    "fail": "red",
    "not_implemented": "yellow",
    "crashed": "red",
    "timed_out": "red",
    "blocked": "magenta",
    "hidden": "dim",
}


def render(result: Result, console: Console, verbose: bool) -> None:
    """Prints the result."""
    console.print(_table(result))
    for text in result.problems:
        console.print(Text(printable(text)), style="magenta", soft_wrap=True)
    for row in result.rows:
        for line in _row_details(row, verbose):
            console.print(line, soft_wrap=True)
    _remarks(result, console)
    if verbose and result.transcript:
        console.print(Text("\ntest_gpt2 would print:\n" + printable(result.transcript)), soft_wrap=True)
    _total(result, console)


def _table(result: Result) -> Table:
    table = Table(title=escape(f"{result.assignment}: {result.title}"), title_justify="left", expand=False)
    table.add_column("row", overflow="fold", max_width=30)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=False, max_width=16)
    table.add_column("evidence", overflow="fold")
    for row in result.rows:
        verdict = Text(words(row.verdict, row.inferred), style=STYLES[row.verdict])
        table.add_row(Text(row.title), f"{row.points}/{row.max_points}", verdict, Text(printable(row.detail)))
    table.add_section()
    table.add_row("total", f"{result.score}/{result.max_score}", "", "")
    return table


def _row_details(row: RowResult, verbose: bool) -> Iterator[Text]:
    if row.verdict in ("pass", "blocked", "not_implemented") and not verbose:
        return
    yield Text(f"\n{row.title}: {words(row.verdict, row.inferred)}", style="bold")
    for check in row.checks:
        if check.verdict != "pass" or verbose:
            yield from _check_details(check, verbose)


def _check_details(check: CheckResult, verbose: bool) -> Iterator[Text]:
    yield Text(f"  {check.title}: {words(check.verdict, check.inferred)}", style=STYLES[check.verdict])
    for explanation in check.explanations:
        yield Text(f"    {printable(explanation.text)}", style="bold")
        if explanation.hint:
            yield Text(f"      hint: {printable(explanation.hint)}", style="italic")
    if check.detail:
        yield Text(f"    {printable(check.detail)}")
    if check.calls_differ:
        yield Text(f"    calls: {printable(check.calls_differ)}")
    for evidence in check.evidence:
        if not evidence.ok or verbose:
            yield from (Text(f"    {line}") for line in evidence_lines(evidence))
    if check.output.strip():
        yield Text("    it printed:")
        yield from (Text(f"      | {printable(line)}") for line in check.output.strip().splitlines()[:12])


def evidence_lines(evidence: Evidence) -> Iterator[str]:
    """A tensor's evidence: what is wrong, where, by how much, how widely."""
    shape = "[" + ", ".join(str(n) for n in evidence.shape) + "]"
    if evidence.ok:
        yield f"{evidence.tensor} {shape}: ok, error {measured_error(evidence)}"
        return
    yield f"{evidence.tensor} {shape}, case {evidence.case}: {describe(evidence)}"
    if evidence.expected is None:
        return
    yield (
        f"  got {_number(evidence.got)}, expected {_number(evidence.expected)}:"
        f" absolute {_number(evidence.absolute)}, relative {_number(evidence.relative)},"
        f" allowed {_number(evidence.allowed)}; {100 * evidence.wrong / max(evidence.size, 1):.0f} % of elements wrong"
    )
    if evidence.layers:
        layers = ", ".join(str(layer) for layer in evidence.layers)
        yield f"  wrong in layers {layers}; the gradient passes layer {evidence.layers[-1]} first: it begins there"


def _number(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.6g}"


def _remarks(result: Result, console: Console) -> None:
    if result.submission.ignored:
        names = ", ".join(result.submission.ignored)
        console.print(Text(f"\nchanged, but not used: the assignment provides its own {printable(names)}", style="dim"))
    for text in result.submission.refused:
        console.print(Text(f"not taken as it stands: {printable(text)}", style="dim"), soft_wrap=True)
    for note in result.advice:
        console.print(Text(f"advice ({note.check}, no points): {printable(note.text)}", style="cyan"), soft_wrap=True)


def _total(result: Result, console: Console) -> None:
    build = f", built with {result.build.compiler} {' '.join(result.build.flags[:1])} (serial)" if result.build else ""
    console.print(
        Text(
            f"\nscore {result.score}/{result.max_score}"
            f"   (fixtures: {result.fixtures.set}, sandbox: {result.sandbox}{build},"
            f" {result.timing.get('total', 0.0):.1f} s)"
        )
    )
    if not result.complete:
        console.print(Text("not all rows were graded; the score is that of these alone"))
    failed = [row.id for row in result.rows if row.verdict not in ("pass", "not_implemented", "blocked")]
    if failed and len(failed) < len(result.rows):
        again = f"./grade {result.assignment} {shlex.quote(result.submission.origin)} --only {','.join(failed)}"
        console.print(Text(f"again, only what failed: {printable(again)}"), soft_wrap=True)
