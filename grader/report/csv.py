"""A table over many students: who, how many points, and the points of each row."""

from __future__ import annotations

from collections.abc import Sequence

from grader.report.batch import Line, table

KNOWN = ("student", "id", "sis_id", "login", "section")


def render(lines: Sequence[Line]) -> str:
    """The table; a column for each fact and each row that any line has, in the order in which they come up."""
    facts = list(dict.fromkeys(name for line in lines for name in line.facts))
    ids = list(dict.fromkeys(name for line in lines for name in line.points))
    rows: list[Sequence[object]] = [(*KNOWN, "score", "max_score", *facts, *ids)]
    for line in lines:
        known = line.student
        told = [line.facts.get(name, "") for name in facts]
        points = [line.points.get(name, "") for name in ids]
        rows.append(
            (known.name, known.id, known.sis_id, known.login, known.section, line.mark, line.most or "", *told, *points)
        )
    return table(rows)
