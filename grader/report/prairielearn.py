"""PrairieLearn's ``results.json``: a test for each row, the score as a share of 1.

https://prairielearn.readthedocs.io/en/latest/externalGrading/ says what it may hold. A submission of which nothing can
be judged is not gradable: it costs no attempt.
"""

from __future__ import annotations

from typing import Any

from grader.report.plain import dumps, headline, one_line, remarks, row_line, row_text
from grader.report.target import put
from grader.result import Result, RowResult

MOST_CHARACTERS = 200_000  # of the rows' texts together; the file may be 1 MB, and a character takes up to 4 bytes


def write(result: Result, target: str) -> None:
    """Writes it."""
    put(render(result), target)


def render(result: Result) -> str:
    """The result as PrairieLearn reads it."""
    gradable = not (result.problems and all(row.verdict == "blocked" for row in result.rows))
    content: dict[str, Any] = {
        "gradable": gradable,
        "score": result.score / result.max_score if result.max_score else 0.0,
        "message": headline(result),
        "output": remarks(result),
    }
    if not gradable:
        content["format_errors"] = [one_line(result.problems[0])]
    share = MOST_CHARACTERS // max(1, len(result.rows))
    return dumps({**content, "tests": [_test(row, share) for row in result.rows]})


def _test(row: RowResult, most: int) -> dict[str, Any]:
    test: dict[str, Any] = {
        "name": one_line(row.title),
        "points": row.points,
        "max_points": row.max_points,
        "message": row_line(row),
    }
    return {**test, "output": row_text(row, most)} if row.verdict != "pass" else test
