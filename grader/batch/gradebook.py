"""What leaves the ledger: gradebooks for course sites, and the feedback files of all students in one zip."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import zipfile
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from grader.batch.ledger import Ledger
from grader.batch.ledger.records import final
from grader.batch.run import folder_of
from grader.batch.work import REPORT
from grader.errors import InfrastructureError
from grader.report import canvas
from grader.report import csv as table
from grader.report.batch import Line, Student
from grader.report.target import put

EXCUSED = "EX"  # as Canvas writes it
EARLIEST = (1980, 1, 1, 0, 0, 0)  # of a zip's members: the same files give the same bytes


def mark(row: sqlite3.Row) -> str:
    """The score of a line of the gradebook as it is to be entered."""
    if row["excused"]:
        return EXCUSED
    score = final(row)
    return "" if score is None else _plain(score)


def _plain(score: Decimal) -> str:
    text = f"{score:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def lines(ledger: Ledger, assignment: str) -> list[Line]:
    """The gradebook of an assignment: a line for each student of the ledger, by name."""
    points: dict[str, dict[str, int]] = {}
    query = "SELECT student, row, points FROM row_points WHERE assignment = ? ORDER BY student, place"
    for row in ledger.each(query, assignment):
        points.setdefault(row["student"], {})[row["row"]] = row["points"]
    found = {row["student"]: row for row in ledger.rows("SELECT * FROM gradebook WHERE assignment = ?", assignment)}
    most = max((row["max_score"] or 0 for row in found.values()), default=0)
    students = ledger.rows("SELECT * FROM students ORDER BY name COLLATE NOCASE, key")
    query = "SELECT student FROM late_days WHERE assignment = ? AND excused"
    excused = {row["student"] for row in ledger.rows(query, assignment)}
    return [
        _line(who, found.get(who["key"]), points.get(who["key"], {}), most, who["key"] in excused) for who in students
    ]


def _line(who: sqlite3.Row, row: sqlite3.Row | None, points: dict[str, int], most: int, excused: bool) -> Line:
    student = Student(who["name"], who["site_id"], who["sis_id"], who["login"], who["section"])
    if row is None:
        return Line(student, EXCUSED if excused else "", most, {"status": "nothing handed in"}, points)
    status = "graded" if row["run"] else f"no score: {row['last_message']}" if row["last_run"] else "not graded"
    facts = {
        "status": status,
        "before_late": "" if row["score"] is None else row["score"],
        "days_late": "" if row["days"] is None else row["days"],
        "free_days": "" if row["free"] is None else row["free"],
        "late_percent": row["percent"],
        "sandbox": row["sandbox"] or "",
        "fixtures": row["fixture_set"] or "",
        "problem": (row["problems"] or "").partition("\n")[0],
        "note": row["late_note"],
    }
    return Line(student, mark(row), most, facts, points)


def write_tables(ledger: Ledger, assignment: str, out: Path, column: str) -> list[Path]:
    """Writes the gradebooks; ``column`` is the assignment's heading in Canvas.

    Raises:
        NotShownError: one cannot be written.
    """
    found = lines(ledger, assignment)
    texts = {
        out / f"{assignment}-gradebook.csv": table.render(found),
        out / f"{assignment}-canvas.csv": canvas.render(found, column),
    }
    for path, text in texts.items():
        put(text, str(path))
    return list(texts)


def write_feedback(ledger: Ledger, assignment: str, out: Path) -> Path:
    """One zip with the page of each student, under the student's key.

    Raises:
        InfrastructureError: it cannot be written.
    """
    target = out / f"{assignment}-feedback.zip"
    students: Sequence[sqlite3.Row] = ledger.rows(
        "SELECT student FROM gradebook WHERE assignment = ? AND run IS NOT NULL ORDER BY student", assignment
    )
    descriptor, part = tempfile.mkstemp(dir=out, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "w+b") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for row in students:
                page = folder_of(out, assignment, row["student"]) / REPORT
                if page.is_file():
                    member = zipfile.ZipInfo(f"{row['student']}/{REPORT}", EARLIEST)
                    member.external_attr = 0o644 << 16
                    archive.writestr(member, page.read_bytes(), zipfile.ZIP_DEFLATED)
        Path(part).chmod(0o644)
        Path(part).replace(target)
    except OSError as error:
        Path(part).unlink(missing_ok=True)
        raise InfrastructureError(f"cannot write {target}: {error.strerror}") from error
    return target
