"""Gradescope's ``results.json``: a test for each row.

https://gradescope-autograders.readthedocs.io/en/latest/specs/ says what it may hold. Gradescope hides by itself what
students may not see yet, and wants the true score all the same: of a row that rests on hidden checks, the points that
these decide are a test of their own, hidden from students until the due date or for good.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from grader.report.plain import dumps, headline, one_line, remarks, row_text
from grader.report.target import put
from grader.result import Result, RowResult, words

Shown = Literal["visible", "after_due_date", "hidden"]


def write(result: Result, told: Result, target: str) -> None:
    """Writes it; ``told`` is the result as students may see it."""
    put(render(result, told), target)


def render(result: Result, told: Result) -> str:
    """The result as Gradescope reads it."""
    content: dict[str, Any] = {
        "score": result.score,
        "output": "\n".join(text for text in (headline(told), remarks(told)) if text),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "stdout_visibility": "hidden",  # the same once more, and with it what students may not see
        "tests": [test for pair in zip(result.rows, told.rows, strict=True) for test in _tests(*pair)],
        "extra_data": {
            "schema": result.schema_,
            "grader": result.grader,
            "fixtures": result.fixtures.digest,
            "sandbox": result.sandbox,
            "complete": result.complete,
        },
    }
    if "total" in told.timing:
        content["execution_time"] = round(told.timing["total"])
    return dumps(content)


def _tests(row: RowResult, told: RowResult) -> Iterator[dict[str, Any]]:
    """What is seen of a row, and what is not."""
    seen = {**_test(told, "visible", told.verdict == "pass"), "output": row_text(told)}
    if row.max_points == told.max_points:
        yield {**seen, "score": row.points, "max_score": row.max_points}
        return
    if told.max_points:
        seen |= {"score": told.points, "max_score": told.max_points}
    yield seen
    until: Shown = "hidden" if any(check.visibility == "hidden" for check in row.checks) else "after_due_date"
    points, most = row.points - told.points, row.max_points - told.max_points
    yield {**_test(row, until, points == most), "output": _unseen(row, until), "score": points, "max_score": most}


def _test(row: RowResult, shown: Shown, passed: bool) -> dict[str, Any]:
    return {
        "name": one_line(row.title),
        "status": "passed" if passed else "failed",
        "visibility": shown,
        "tags": [row.verdict],
        "extra_data": {"row": row.id},
    }


def _unseen(row: RowResult, until: Shown) -> str:
    """All that is known where students never see it; where they will, the verdicts alone."""
    if until == "hidden":
        return row_text(row)
    return "\n".join(f"{check.title}: {words(check.verdict, check.inferred)}" for check in row.checks)
