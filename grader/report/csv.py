"""A table over many results: who, how many points, and the points of each row."""

from __future__ import annotations

from collections.abc import Sequence

from grader.report.batch import Entry, table
from grader.result import Result

KNOWN = ("student", "id", "sis_id", "login", "section")
FACTS = ("score", "max_score", "complete", "sandbox", "fixtures", "problem")


def render(entries: Sequence[Entry]) -> str:
    """The table; a column for each row that any result has, in the order in which they come up."""
    ids = list(dict.fromkeys(row.id for _, result in entries if result for row in result.rows))
    rows: list[Sequence[object]] = [(*KNOWN, *FACTS, *ids)]
    for student, result in entries:
        known = (student.name, student.id, student.sis_id, student.login, student.section)
        rows.append((*known, *(_facts(result, ids) if result else [""] * (len(FACTS) + len(ids)))))
    return table(rows)


def _facts(result: Result, ids: Sequence[str]) -> list[object]:
    points = {row.id: row.points for row in result.rows}
    problem = result.problems[0].splitlines()[0] if result.problems and result.problems[0] else ""
    facts = [result.score, result.max_score, str(result.complete).lower(), result.sandbox, result.fixtures.digest]
    return [*facts, problem, *(points.get(name, "") for name in ids)]
