"""A result as plain text, for what shows text: bounded in size, and nothing of the student's is more than text."""

from __future__ import annotations

import json
from collections.abc import Iterator

from grader.report.evidence import joined_lines, upstream_words
from grader.report.kernels import TITLE, kernel_lines
from grader.report.texts import printable
from grader.result import CheckResult, Result, RowResult, words

MOST_OF_A_LINE = 500  # characters
MOST_OF_A_ROW = 6_000
MOST_OF_REMARKS = 12_000
MOST_PRINTED = 40  # lines of what a check's code printed


def clip(text: str, most: int) -> str:
    """At most so many characters of it, and how many are left out."""
    if len(text) <= most:
        return text
    told = f" … ({len(text) - most} characters left out)"
    return text[: max(0, most - len(told))] + told


def one_line(text: str, most: int = MOST_OF_A_LINE) -> str:
    """Text as one line without control characters."""
    return clip(printable(" ".join(text[: 4 * most].split("\n"))), most)


def headline(result: Result) -> str:
    """The assignment and the score, in one line."""
    withheld = sum(row.withheld for row in result.rows)
    more = f", {withheld} more points rest on checks that are not shown" if withheld else ""
    unfinished = "" if result.complete else " (not all rows were graded)"
    return f"{result.assignment}: {result.score}/{result.max_score}{more}{unfinished}"


def row_title(row: RowResult) -> str:
    """A row and its points, in one line."""
    return f"{one_line(row.title)} ({row.points}/{row.max_points})"


def blamed(row: RowResult) -> CheckResult:
    """The check that a row is shown at: the first that is known to be wrong, else the first that is not told."""
    known = [check for check in row.checks if check.verdict not in ("pass", "hidden")]
    return next(iter(known or [check for check in row.checks if check.verdict != "pass"] or row.checks))


def row_line(row: RowResult) -> str:
    """What came of a row, in one line."""
    verdict = words(row.verdict, row.inferred)
    return f"{verdict}: {one_line(row.detail)}" if row.detail else verdict


def row_text(row: RowResult, most: int = MOST_OF_A_ROW) -> str:
    """What came of a row, and what that rests on where it is not right."""
    lines = [row_line(row)]
    if row.upstream:
        return clip("\n".join([*lines, one_line(upstream_words(row))]), most)
    for check in row.checks:
        if check.verdict != "pass":
            lines += _check_lines(check)
    return clip("\n".join(lines), most)


def _check_lines(check: CheckResult) -> Iterator[str]:
    yield f"{one_line(check.title)}: {words(check.verdict, check.inferred)}"
    for explanation in check.explanations:
        yield f"  {one_line(explanation.text)}"
        if explanation.hint:
            yield f"    hint: {one_line(explanation.hint)}"
    if check.detail:
        yield f"  {one_line(check.detail)}"
    if check.calls_differ:
        yield f"  calls: {one_line(check.calls_differ)}"
    wrong = [evidence for evidence in check.evidence if not evidence.ok]
    yield from (f"  {one_line(line)}" for line in joined_lines(wrong))
    printed = check.output.strip().splitlines()
    if printed:
        yield "  it printed:"
        yield from (f"  | {one_line(line)}" for line in printed[:MOST_PRINTED])
        if len(printed) > MOST_PRINTED:
            yield f"  | … ({len(printed) - MOST_PRINTED} lines left out)"


def remarks(result: Result, most: int = MOST_OF_REMARKS) -> str:
    """What is to be said of the submission as a whole; empty where there is nothing."""
    lines = [printable(text) for text in result.problems]
    if result.submission.ignored:
        names = ", ".join(one_line(name) for name in result.submission.ignored)
        lines.append(f"changed, but not used, since the assignment provides its own: {names}")
    lines += [f"not taken as it stands: {one_line(text)}" for text in result.submission.refused]
    lines += [f"advice ({note.check}, no points): {one_line(note.text)}" for note in result.advice]
    told = _kernels(result)
    lines += [f"{TITLE}:", *(f"  {one_line(line)}" for line in told)] if told else []
    return clip("\n".join(lines), most)


def _kernels(result: Result) -> list[str]:
    """What is told of kernels, without durations: the same submission is to give the same bytes."""
    return kernel_lines(result.model_copy(update={"timing": {}}))


def dumps(content: object) -> str:
    """JSON that every reader takes: no NaN, UTF-8, a line of its own at the end."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
