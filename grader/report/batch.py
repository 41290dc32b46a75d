"""Gradebooks: tables over the results of many students."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from grader.result import Result

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_PARTED = re.compile(r";(?=[\s\"]*[=+\-@])")


@dataclass(frozen=True)
class Student:
    """Whom a result belongs to, as the course site knows them; empty: not known.

    Attributes:
        name: in the course site's own form, e.g. "Last, First".
        id: the course site's number.
        sis_id: the student information system's.
        login: the login.
        section: the section.
    """

    name: str
    id: str = ""
    sis_id: str = ""
    login: str = ""
    section: str = ""


@dataclass(frozen=True)
class Line:
    """A student's line in a gradebook.

    Attributes:
        student: whose it is.
        mark: the score as it is to stand there; empty: there is none; ``EX``: excused.
        most: the most points.
        facts: further columns.
        points: the points of each row.
    """

    student: Student
    mark: str
    most: int = 0
    facts: Mapping[str, object] = field(default_factory=dict)
    points: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, student: Student, result: Result | None) -> Self:
        """The line of one result; None: there is no score, since the grader itself failed."""
        if result is None:
            return cls(student, "")
        problem = result.problems[0].splitlines()[0] if result.problems and result.problems[0] else ""
        facts = {"complete": str(result.complete).lower(), "sandbox": result.sandbox, "problem": problem}
        points = {row.id: row.points for row in result.rows}
        return cls(student, str(result.score), result.max_score, facts, points)


def cell(text: object) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe stands before what begins like one.

    What stands behind a semicolon begins a cell for a spreadsheet that parts cells there.
    """
    found = "".join(c if c.isprintable() else " " for c in str(text))
    found = _PARTED.sub(";'", found)
    return f"'{found}" if found.startswith(_FORMULA) else found


def _written(text: str) -> str:
    """A cell as it stands in the file; in quotes where any spreadsheet could part it."""
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',;"') else text


def table(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV."""
    return "".join(",".join(_written(cell(value)) for value in row) + "\n" for row in rows)
