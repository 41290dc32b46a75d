"""The JSON of ``check50 -o json``: a result for each row, its points in ``data``.

https://cs50.readthedocs.io/projects/check50/en/latest/json_specification.html says what it holds.
"""

from __future__ import annotations

from typing import Any

from grader.report.plain import dumps, one_line, remarks, row_line, row_text
from grader.report.target import put
from grader.result import Result, RowResult


def write(result: Result, target: str) -> None:
    """Writes it."""
    put(render(result), target)


def render(result: Result) -> str:
    """The result as check50 writes its own."""
    help_text = remarks(result)
    rows = [_result(row, help_text) for row in result.rows]
    return dumps({"slug": f"tensorgrade/{result.assignment}", "results": rows, "version": result.grader})


def _result(row: RowResult, help_text: str) -> dict[str, Any]:
    judged = row.verdict not in ("blocked", "hidden")
    passed = row.verdict == "pass" if judged else None
    return {
        "name": row.id,
        "description": one_line(row.title),
        "passed": passed,
        "log": row_text(row).split("\n")[1:],
        "cause": None if passed else {"rationale": row_line(row), "help": help_text or None},
        "data": {"points": row.points, "max_points": row.max_points},
        "dependency": None,
    }
