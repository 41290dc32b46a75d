"""What students may not see yet, taken out of a result: once, on the result, before any writer is given it.

What is left of a check that is not shown is its name and its kind. The rows and the total are worked out again from
the other checks alone, so that no points, no sentence and no second tell how it went; such a result says no more
than that of a grading that leaves the check out (which is what a student's own run does).

What tells of the fixtures' values is taken out too where these are not public.
"""

from __future__ import annotations

from collections.abc import Collection

from grader.assignment import Assignment, Check
from grader.inference import scored
from grader.result import CheckResult, Result, Visibility

PUBLIC = "public"  # the fixture set whose values anyone may see
VALUES = ("index", "got", "expected", "absolute", "relative", "allowed", "before", "picture")  # of an evidence


def seen(visibility: Visibility, after_due: bool) -> bool:
    """Whether students see what came of such a check."""
    return visibility == "visible" or (visibility == "after_due" and after_due)


def untold(check_id: str, check: Check) -> CheckResult:
    """All that is said of a check that students do not see."""
    return CheckResult(
        id=check_id,
        title=check.title,
        function=check.function,
        role=check.role,
        verdict="hidden",
        inferred=False,
        detail="",
        evidence=[],
        visibility=check.visibility,
    )


def for_students(result: Result, assignment: Assignment, after_due: bool) -> Result:
    """The result as students may see it."""
    checks = {check.id: check for row in result.rows for check in row.checks}
    hidden = {name for name, check in checks.items() if not seen(check.visibility, after_due)}
    if not hidden and result.sets == [PUBLIC]:
        return result
    told = {
        name: check if (check.evidence_of or result.fixtures.set) == PUBLIC else _without_values(check)
        for name, check in checks.items()
    }
    told |= {name: untold(name, assignment.checks[name]) for name in hidden}
    rows = scored(assignment, [assignment.row(row.id) for row in result.rows], told)
    unseen = {name for name, check in assignment.checks.items() if not seen(check.visibility, after_due)}
    changes = {
        "rows": rows,
        "score": sum(row.points for row in rows),
        "max_score": sum(row.max_points for row in rows),
        "advice": [note for note in result.advice if note.check not in unseen],
        "transcript": result.transcript if PUBLIC in result.sets else "",
        "options": result.options and result.options.model_copy(update={"staff": False}),
        "provenance": result.provenance and result.provenance.model_copy(update={"seeds": _seeds(result, unseen)}),
        "timing": {} if hidden else result.timing,  # the total would tell how long the hidden ones took
    }
    return result.model_copy(update=changes)


def _seeds(result: Result, unseen: Collection[str]) -> dict[str, int]:
    """The seeds of the cases that students may know of."""
    known = result.provenance.seeds if result.provenance else {}
    return {case: seed for case, seed in known.items() if case.split("/")[0] not in unseen}


def _without_values(check: CheckResult) -> CheckResult:
    """Without the fixtures' values, and without what the code printed: it may have printed its inputs."""
    evidence = [one.model_copy(update={**dict.fromkeys(VALUES), "place": ""}) for one in check.evidence]
    return check.model_copy(update={"evidence": evidence, "series": [], "output": ""})
