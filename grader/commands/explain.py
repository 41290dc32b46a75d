"""``./grade explain <ID> [ROW]``: what a row asks for, what is checked and how closely, what often goes wrong."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator

from grader import assignment as assignments
from grader import fixtures, guide, redact, tolerances
from grader.assignment import Assignment, Row
from grader.errors import EXIT_GRADED, UsageError
from grader.fixtures import FixtureSet
from grader.parsing import Parser
from grader.report.stdout import shown

WIDTH = 80
SHOWN = 1  # mistakes of one kind, without --all
MOST_CASES = 12


def run(arguments: list[str]) -> int:
    """Prints it."""
    told = "Say what a row asks for, what is checked and how closely, and what often goes wrong."
    parser = Parser(prog="grade explain", description=told)
    parser.add_argument("assignment", help=f"one of: {', '.join(assignments.known_ids())}")
    parser.add_argument("row", nargs="?", help="a row, or a function of it; none: list the rows")
    parser.add_argument("--all", action="store_true", help="every known mistake, not one of each kind")
    options = parser.parse_args(arguments)
    assignment = assignments.load(options.assignment)
    with shown():
        if options.row is None:
            lines = _table(assignment)
        else:
            lines = _explained(assignment, find(assignment, options.row), options.all)
        sys.stdout.write("\n".join(lines) + "\n")
    return EXIT_GRADED


def find(assignment: Assignment, name: str) -> Row:
    """The row of that id, or the one that rests on a check or a function of that name.

    Raises:
        UsageError: there is none.
    """
    rests = {row.id: [*row.checks, *(assignment.checks[c].function for c in row.checks)] for row in assignment.rows}
    for row in assignment.rows:
        if name == row.id or (name not in rests and name in rests[row.id]):
            return row
    known = ", ".join(row.id for row in assignment.rows)
    raise UsageError(f"{assignment.id} has no row `{name}`; its rows are: {known}")


def _table(assignment: Assignment) -> Iterator[str]:
    yield f"{assignment.id}: {assignment.title}"
    yield ""
    width = max(len(row.id) for row in assignment.rows)
    for row in assignment.rows:
        yield f"  {row.points:>3}  {row.id:<{width}}  {row.title if row.title != row.id else ''}".rstrip()
    yield f"  {assignment.total:>3}  total"
    yield ""
    yield f"More of one: ./grade explain {assignment.id} ROW"


def _explained(assignment: Assignment, row: Row, everything: bool) -> Iterator[str]:
    told = guide.of_rows(assignment)[row.id]
    public = fixtures.load(fixtures.set_folder(assignment.id, "public"))
    yield f"{assignment.id}, {row.title}: {row.points} points"
    yield ""
    yield from _wrapped(told.asks)
    yield ""
    yield from (f"    {line}" for line in told.formula.rstrip().splitlines())
    yield ""
    yield "What is checked" + (" (all or nothing):" if not row.parts and len(row.checks) > 1 else ":")
    for name in row.checks:
        yield from _check(assignment, row, name, public)
    if row.looks:
        looks = "; ".join(assignment.checks[name].title for name in row.looks)
        yield from _wrapped(f"Looked at too, for advice and no points: {looks}.")
    yield ""
    yield from _mistakes(told, guide.mistakes(row, public.dictionary.faults), everything)
    yield ""
    yield f"This row alone: ./grade {assignment.id} PATH --only {row.id}"


def _check(assignment: Assignment, row: Row, name: str, public: FixtureSet) -> Iterator[str]:
    check = assignment.checks[name]
    worth = f", {row.parts[name]} points" if row.parts else ""
    if not redact.seen(check.visibility, False):
        yield from _wrapped(f"{check.title}{worth}: not shown to students", "  ")
        return
    yield from _wrapped(f"{check.title}{worth}", "  ")
    cases = public.cases(check.cases_of or name)
    names = [case.id.split("/", 1)[1] for case in cases]
    more = f" and {len(names) - MOST_CASES} more" if len(names) > MOST_CASES else ""
    yield from _wrapped(f"cases: {', '.join(names[:MOST_CASES])}{more}", "    ")
    for words, tensors in guide.limits(assignment, name, tolerances.load()).items():
        yield from _wrapped(f"{', '.join(tensors)}: {words}", "    ")
    bounds = assignment.limits_of(check)
    yield from _wrapped(f"stopped after {bounds.case_s:g} s a case, or beyond {bounds.memory_mb} MiB", "    ")
    if check.fallback:
        yield from _wrapped(
            f"where {check.function} is not to be found under that name, {check.fallback.check} tells of it by"
            f" {', '.join(check.fallback.tensors)}",
            "    ",
        )


def _mistakes(told: guide.Guide, known: list[tuple[str, list[str]]], everything: bool) -> Iterator[str]:
    yield "What often goes wrong:"
    if not known:
        for text in told.mistakes:
            yield from _wrapped(f"- {text}", "  ")
    for hint, group in known:
        for says in group if everything else group[:SHOWN]:
            yield from _wrapped(f"- {says}", "  ")
        yield from _wrapped(f"({hint})", "      ")
    hidden = sum(len(group) - SHOWN for _, group in known)
    if hidden and not everything:
        yield from _wrapped(f"{hidden} more like these are recognised: --all", "  ")


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Lines of at most the width, the following ones two columns further in where the first stands in."""
    asked = os.environ.get("COLUMNS", "")
    width = max(int(asked), 40) if asked.isdecimal() and len(asked) < 6 else WIDTH
    further = indent + ("  " if indent else "")
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=further, break_on_hyphens=False)
