"""The roster: who is in the course, from a CSV; joined to what was handed in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.batch import lists
from grader.batch.names import key, letters
from grader.errors import UsageError
from grader.report.batch import Student

# What course sites call their columns: Canvas's gradebook export, Gradescope's roster, plain lists.
COLUMNS: Mapping[str, Sequence[str]] = {
    "name": ("student", "name", "full name", "sortable name"),
    "id": ("id", "canvas id", "canvas user id", "user id"),
    "sis_id": ("sis user id", "sis id", "sid", "student id", "sis_id"),
    "login": ("sis login id", "login", "login id", "username", "email", "email address"),
    "section": ("section", "sections"),
}
FIRST_LAST = ("first name", "last name")
NO_STUDENTS = ("points possible", "student, test")


@dataclass
class Roster:
    """The students of a course, found again by whatever a download says of them."""

    students: list[Student] = field(default_factory=list)
    _by: dict[str, list[Student]] = field(default_factory=dict)

    def add(self, student: Student) -> None:
        """Adds a student."""
        self.students.append(student)
        for name in _handles(student):
            self._by.setdefault(name, []).append(student)

    def find(self, *handles: str) -> Student | None:
        """The one student that a handle belongs to: the first handle that belongs to exactly one decides."""
        for handle in handles:
            for form in (handle.casefold(), letters(handle)):
                found = self._by.get(form, []) if form else []
                if len(found) == 1:
                    return found[0]
        return None


def key_of(student: Student) -> str:
    """The name of a student's folder, and of the student in the ledger."""
    return key(student.login or student.sis_id or student.id or student.name)


def _handles(student: Student) -> set[str]:
    mail = student.login.partition("@")[0]
    plain = {student.id, student.sis_id, student.login, mail, student.name}
    return {form for text in plain if text for form in (text.casefold(), letters(text))}


def load(path: Path) -> Roster:
    """Reads a roster; comma, semicolon or tab between the columns, the first line names them.

    Raises:
        UsageError: it cannot be read, has no usable column, or names a student twice.
    """
    rows, names = lists.read(path, "--roster")
    columns = {what: next((names[n] for n in known if n in names), None) for what, known in COLUMNS.items()}
    if not rows or not (columns["name"] or columns["login"] or columns["id"] or all(n in names for n in FIRST_LAST)):
        raise UsageError(
            f"--roster: {path} has no students; its first line is to name the columns,"
            " e.g. Student,ID,SIS Login ID,Section"
        )
    return _roster(path, rows, columns, names)


def _roster(
    path: Path, rows: Iterable[Mapping[str, str]], columns: Mapping[str, str | None], names: Mapping[str, str]
) -> Roster:
    roster = Roster()
    keys: set[str] = set()
    for row in rows:
        values = {what: " ".join((row.get(column) or "").split()) if column else "" for what, column in columns.items()}
        if not values["name"] and all(n in names for n in FIRST_LAST):
            first, last = ((row.get(names[n]) or "").strip() for n in FIRST_LAST)
            values["name"] = ", ".join(part for part in (last, first) if part)
        if values["name"].casefold().strip() in NO_STUDENTS or not any(values.values()):
            continue
        student = Student(**values)
        if key_of(student) in keys:
            raise UsageError(f"--roster: {path} names a student twice: {student.login or student.id or student.name}")
        keys.add(key_of(student))
        roster.add(student)
    if not roster.students:
        raise UsageError(f"--roster: {path} has no students")
    return roster
