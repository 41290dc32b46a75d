"""Gradebooks: tables over the results of many students."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grader.result import Result

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


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


Entry = tuple[Student, Result | None]  # None: there is no score, since the grader itself failed


def cell(text: object) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe stands before what begins like one."""
    found = "".join(c if c.isprintable() else " " for c in str(text))
    return f"'{found}" if found.startswith(_FORMULA) else found


def table(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerows([cell(value) for value in row] for row in rows)
    return file.getvalue()
