"""Grading again after a change: which rows it can have touched, and the result of those beside the others."""

from __future__ import annotations

from collections.abc import Mapping

from grader.assignment import Assignment, Check, Row
from grader.definitions import REST, changed, pieces, reach
from grader.inference import scored
from grader.result import CheckResult, Result
from grader.submission import Taken

EVERYTHING = None


def touched(assignment: Assignment, before: Taken, after: Taken) -> list[str] | None:
    """The rows that a change can have touched; `EVERYTHING` where that is unclear.

    A row is touched if the function that one of its checks looks at, or one that this uses, is another than before, or
    if it rests on the whole program.
    """
    if before.files.keys() != after.files.keys() or before.problems or after.problems:
        return EVERYTHING
    names: set[str] = set()
    known: dict[str, str] = {}
    for file, blob in after.files.items():
        now = pieces(file, blob.decode("utf-8", "replace"))
        differing = changed(pieces(file, before.files[file].decode("utf-8", "replace")), now)
        if differing is None and before.files[file] != blob:
            return EVERYTHING
        names |= differing or set()
        known |= now or {}
    return _rows(assignment, names, known) if names else []


def _rows(assignment: Assignment, names: set[str], known: Mapping[str, str]) -> list[str] | None:
    used = {row.id: [_used(assignment, check, known) for check in _checks(assignment, row)] for row in assignment.rows}
    looked_at = {check.function for check in assignment.checks.values()}
    others = known.keys() - {name for each in used.values() for one in each for name in one}
    if names & reach(others, known, looked_at | {REST}):
        return EVERYTHING  # something that no check is known to use, e.g. the forward pass
    return [row.id for row in assignment.rows if _whole(assignment, row) or any(names & one for one in used[row.id])]


def _checks(assignment: Assignment, row: Row) -> list[Check]:
    """The checks of a row that look at functions, with those that may stand in for them."""
    direct = [assignment.checks[name] for name in row.checks]
    return [check for one in direct for check in (one, *(assignment.checks[name] for name in one.instead))]


def _whole(assignment: Assignment, row: Row) -> bool:
    """Whether a row rests on the whole program, which every change touches."""
    return any(assignment.checks[name].role == "whole" or assignment.checks[name].training for name in row.checks)


def _used(assignment: Assignment, check: Check, known: Mapping[str, str]) -> set[str]:
    """The definitions that a check looks at. Ours stand in place of the functions that a wiring calls."""
    if check.role == "whole" or check.training:
        return set()
    checks = assignment.checks.values()
    wirings = [one for one in checks if one.calls and one.function == check.function]
    replaced = {one.function for one in checks if one.fallback and assignment.checks[one.fallback.check] in wirings}
    return reach({check.function, *check.uses}, known, replaced | {REST})


def trusted(result: Result) -> bool:
    """Whether rows stand on their own evidence, so that those that were not touched are as they were."""
    checks = [check for row in result.rows for check in row.checks]
    return not result.problems and not any(check.inferred or check.verdict == "blocked" for check in checks)


def beside(assignment: Assignment, old: Result, new: Result) -> Result:
    """The new rows in place of the old ones, all others as they were."""
    checks: dict[str, CheckResult] = {c.id: c for r in (old, new) for row in r.rows for c in row.checks}
    made = {check.id for row in new.rows for check in row.checks}
    graded = {row.id for row in (*old.rows, *new.rows)}
    rows = scored(assignment, [row for row in assignment.rows if row.id in graded], checks)
    kept = [note for note in old.advice if note.check not in made and note.check != "build"]
    changes = {
        "rows": rows,
        "score": sum(row.points for row in rows),
        "max_score": sum(row.max_points for row in rows),
        "complete": old.complete,
        "advice": [*kept, *new.advice],
        "transcript": new.transcript or old.transcript,
    }
    return new.model_copy(update=changes)
