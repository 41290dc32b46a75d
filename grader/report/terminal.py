"""The result on a terminal, in a pipe, in a CI log: the table first, then each failure."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from grader.report.evidence import joined_lines, upstream_words
from grader.report.kernels import TITLE, kernel_lines
from grader.report.texts import printable
from grader.result import CheckResult, Result, RowResult, Verdict, words

STYLES: dict[Verdict, str] = {
    "pass": "green",
    "fail": "red",
    "not_implemented": "yellow",
    "crashed": "red",
    "timed_out": "red",
    "blocked": "magenta",
    "hidden": "dim",
}
QUIET_VERDICTS = ("pass", "blocked", "not_implemented", "hidden")  # the table says it all
MOST_TENSORS = 3  # wrong ones of a check, in full
MOST_CALLS = 6
MOST_PRINTED = 12  # lines
COLUMNS = 4  # of the table
ROW_WIDTH = 30  # columns of the table, at most
EVIDENCE_WIDTH = 16  # at least
ROOMY = 90  # columns; with less, a verdict takes two lines
BORDERS = 13  # of four columns, with the room beside their texts


def render(result: Result, console: Console, verbose: bool) -> None:
    """Prints the result."""
    table = _table(result, console.width)
    console.print(table)
    for text in result.problems:
        console.print(Text(printable(text)), style="magenta", soft_wrap=True)
    for row in result.rows:
        if verbose or row.verdict not in QUIET_VERDICTS:
            _print_row(result, row, console, verbose)
        elif len(table.columns) < COLUMNS and row.verdict != "pass":
            _print(Text(f"{row.title}: {printable(row.detail)}"), console)
    _remarks(result, console)
    _kernels(result, console)
    if verbose and result.transcript:
        console.print(Text("\ntest_gpt2 would print:\n" + printable(result.transcript)), soft_wrap=True)
    _total(result, console)


# ---- the table -------------------------------------------------------------------------------------------


def _table(result: Result, width: int) -> Table:
    """The point table; every column but the last is as wide as it needs to be, which is left out where none is left."""
    table = Table(title=escape(f"{result.assignment}: {result.title}"), title_justify="left", expand=False)
    verdicts = {row.id: words(row.verdict, row.inferred) for row in result.rows}
    points = max([len("points"), len(_total_points(result)), *(len(_points(row)) for row in result.rows)])
    pieces = [word for text in verdicts.values() for word in (text.split() if width < ROOMY else [text])]
    verdict = max([len("verdict"), *map(len, pieces)])
    row = min(max([len(row.title) for row in result.rows] or [0]), ROW_WIDTH, max(width - points - verdict - 10, 12))
    evidence = width - row - points - verdict - BORDERS
    table.add_column("row", overflow="fold", width=row)
    table.add_column("points", justify="right", no_wrap=True, width=points)
    table.add_column("verdict", width=verdict)
    if evidence >= EVIDENCE_WIDTH:
        table.add_column("evidence", overflow="fold", max_width=evidence)
    for line in result.rows:
        told = Text(verdicts[line.id], style=STYLES[line.verdict])
        cells: list[Text | str] = [Text(line.title), _points(line), told, Text(printable(line.detail))]
        table.add_row(*cells[: len(table.columns)])
    table.add_section()
    table.add_row("total", _total_points(result))
    return table


def _total_points(result: Result) -> str:
    return f"{result.score}/{result.max_score}"


def _points(row: RowResult) -> str:
    """Points of how many; `?` for those that are not told."""
    told = f"{row.points}/{row.max_points}" if row.max_points or not row.withheld else ""
    return told + (f" ?/{row.withheld}" if row.withheld else "")


# ---- failures --------------------------------------------------------------------------------------------


def _print_row(result: Result, row: RowResult, console: Console, verbose: bool) -> None:
    console.print(Text(f"\n{row.title}: {words(row.verdict, row.inferred)}", style="bold"))
    if row.upstream and not verbose:
        _print(Text(f"  {printable(upstream_words(row))} (--verbose shows its own evidence)"), console)
        return
    for check in row.checks:
        if check.verdict != "pass" or verbose:
            for line in _check_lines(check, verbose):
                _print(line, console)
    if row.verdict not in QUIET_VERDICTS:
        console.print(Text(f"  again: {_again(result, [row])}", style="dim"), soft_wrap=True)


def _print(line: Text, console: Console) -> None:
    """A line, broken between words at the width; what follows stands two columns further in."""
    text = line.plain
    inner = text.lstrip(" ")
    indent = " " * (len(text) - len(inner))
    if inner.startswith("|"):  # what the code printed, as it is
        console.print(line, soft_wrap=True)
        return
    wrapped = textwrap.wrap(
        inner,
        max(console.width, 40),
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    console.print(Text("\n".join(wrapped), style=line.style), soft_wrap=True)


def _check_lines(check: CheckResult, verbose: bool) -> Iterator[Text]:
    where = f" ({printable(check.file)}:{check.line})" if check.file and check.line else ""
    sets = _by_set(check)
    yield Text(f"  {check.title}: {words(check.verdict, check.inferred)}{where}{sets}", style=STYLES[check.verdict])
    for explanation in check.explanations:
        yield Text(f"    {printable(explanation.text)}", style="bold")
        if explanation.hint:
            yield Text(f"      hint: {printable(explanation.hint)}", style="italic")
    if check.detail:
        yield Text(f"    {printable(check.detail)}")
    if verbose or not any(explanation.kind in ("calls", "fault") for explanation in check.explanations):
        yield from _call_lines(check)
    yield from _evidence_lines(check, verbose)
    printed = check.output.strip().splitlines()
    if printed:
        yield Text("    it printed:")
        yield from (Text(f"      | {printable(line)}") for line in printed[:MOST_PRINTED])
        if len(printed) > MOST_PRINTED:
            yield Text(f"      | … {len(printed) - MOST_PRINTED} more lines")


def _by_set(check: CheckResult) -> str:
    """What each of several fixture sets makes of a check, where they differ."""
    if len(set(check.verdicts.values())) < 2:
        return ""
    return f" ({', '.join(f'{name}: {words(verdict)}' for name, verdict in check.verdicts.items())})"


def _call_lines(check: CheckResult) -> Iterator[Text]:
    wrong = [step.text for step in check.call_steps if step.text]
    for text in wrong[:MOST_CALLS]:
        yield Text(f"    calls: {printable(text)}")
    if len(wrong) > MOST_CALLS:
        yield Text(f"    calls: … {len(wrong) - MOST_CALLS} more are wrong")
    if check.calls_differ and not wrong:
        yield Text(f"    calls: {printable(check.calls_differ)}")


def _evidence_lines(check: CheckResult, verbose: bool) -> Iterator[Text]:
    told = [evidence for evidence in check.evidence if verbose or not evidence.ok]
    full = told if verbose else told[:MOST_TENSORS]
    yield from (Text(f"    {line}") for line in joined_lines(full))
    if rest := [evidence.tensor for evidence in told[len(full) :]]:
        yield Text(f"    and wrong: {', '.join(rest)} (--verbose shows them)")


# ---- what is left to say ---------------------------------------------------------------------------------


def _remarks(result: Result, console: Console) -> None:
    if result.submission.ignored:
        names = ", ".join(result.submission.ignored)
        console.print(Text(f"\nchanged, but not used: the assignment provides its own {printable(names)}", style="dim"))
    for text in result.submission.refused:
        console.print(Text(f"not taken as it stands: {printable(text)}", style="dim"), soft_wrap=True)
    for note in result.advice:
        _print(Text(f"advice ({note.check}, no points): {printable(note.text)}", style="cyan"), console)


def _kernels(result: Result, console: Console) -> None:
    lines = kernel_lines(result)
    if lines:
        console.print(Text(f"\n{TITLE}:", style="bold"))
    for line in lines:
        _print(Text(f"  {printable(line)}"), console)


def _total(result: Result, console: Console) -> None:
    build = f", built with {result.build.compiler} {' '.join(result.build.flags[:1])} (serial)" if result.build else ""
    took = f", {result.timing['total']:.1f} s" if "total" in result.timing else ""
    facts = f"fixtures: {' and '.join(result.sets)}, sandbox: {result.sandbox}{build}{took}"
    console.print(Text(f"\nscore {result.score}/{result.max_score}   ({facts})"))
    if result.beside:
        alone = ", ".join(f"{result.score_under(name)} by `{name}` alone" for name in result.sets)
        console.print(Text(f"{alone}; of each check, the worse counts"))
    if withheld := sum(row.withheld for row in result.rows):
        console.print(Text(f"{withheld} more points rest on checks that are not shown"))
    if not result.complete:
        console.print(Text("not all rows were graded; the score is that of these alone"))
    failed = [row for row in result.rows if row.verdict not in QUIET_VERDICTS]
    if len(failed) > 1 and len(failed) < len(result.rows):
        console.print(Text(f"again, only what failed: {_again(result, failed)}"), soft_wrap=True)
    if failed:
        console.print(
            Text(f"what a row asks for, and what often goes wrong: ./grade explain {result.assignment} {failed[0].id}"),
            soft_wrap=True,
        )


def _again(result: Result, rows: Sequence[RowResult]) -> str:
    """The command that grades these rows once more."""
    names = ",".join(row.id for row in rows)
    return printable(f"./grade {result.assignment} {shlex.quote(result.submission.origin)} --only {names}")
