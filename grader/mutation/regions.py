"""The marked regions of an assignment's reference, the rows that they are about, and all their mutants."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from grader.assignment import Assignment
from grader.errors import InfrastructureError, UsageError
from grader.home import ROOT
from grader.mutation.changes import Mutant, Region, Span, mutants
from grader.template import solutions


def reference_file(assignment: Assignment, name: str) -> Path:
    """The solved file of that name."""
    return ROOT / "reference" / assignment.id / name


def regions(assignment: Assignment) -> list[Region]:
    """The regions of all solved files, in the order of the text."""
    return [region for name in assignment.submission.files for region in _in_file(assignment, name)]


def row_of(assignment: Assignment, region: Region) -> str:
    """The id of the row that a region is about.

    Raises:
        InfrastructureError: there is none.
    """
    for row in assignment.rows:
        if region.name in row.solves:
            return row.id
    for row in assignment.rows:
        if any(assignment.checks[check].function == region.name for check in row.checks):
            return row.id
    raise InfrastructureError(f"no row of {assignment.id} is about {region.name}; say so in a row's `solves`")


def all_mutants(assignment: Assignment, only: str | None = None) -> list[Mutant]:
    """Every mutant of the reference, or of one function's regions.

    Raises:
        UsageError: there is no such function among the regions.
    """
    known = regions(assignment)
    wanted = [region for region in known if only in (None, region.name, region.name.partition("#")[0])]
    if not wanted:
        names = ", ".join(region.name for region in known)
        raise UsageError(f"{assignment.id} has no solution in `{only}`; there are: {names}")
    return [mutant for region in wanted for mutant in _of_region(assignment, region)]


def _of_region(assignment: Assignment, region: Region) -> Iterator[Mutant]:
    source = reference_file(assignment, region.file).read_bytes()
    if assignment.submission.language == "c":
        from grader.mutation import c as language
    else:
        from grader.mutation import python as language  # type: ignore[no-redef]
    return mutants(source, region, language.changes(source, region))


def _functions(assignment: Assignment, source: bytes) -> list[tuple[str, Span]]:
    if assignment.submission.language == "c":
        from grader.mutation.c import functions
    else:
        from grader.mutation.python import functions
    return functions(source)


def _in_file(assignment: Assignment, name: str) -> Iterator[Region]:
    path = reference_file(assignment, name)
    source = path.read_bytes()
    functions = _functions(assignment, source)
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    counts: dict[str, int] = {}
    found = []
    for lines in solutions(source.decode(), str(path)):
        start, end = starts[lines.start + 1], starts[lines.stop - 1]
        around = [function for function, (first, last) in functions if first <= start < last]
        if not around:
            raise InfrastructureError(f"{path}:{lines.start + 1}: the solution lies in no function")
        function = around[-1]
        counts[function] = counts.get(function, 0) + 1
        found.append((function, counts[function], start, end))
    for function, number, start, end in found:
        yield Region(name, f"{function}#{number}" if counts[function] > 1 else function, start, end)
