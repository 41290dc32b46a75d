"""What is written into the ledger: students, submissions, runs, a TA's word, late days."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from grader.batch.find import HandedIn
from grader.batch.late import Lateness, Policy, Submitted, judge
from grader.batch.ledger import Ledger
from grader.errors import UsageError
from grader.report.batch import Student
from grader.result import CheckResult, Result


@dataclass(frozen=True)
class Run:
    """What came of grading one submission once.

    Attributes:
        submission: its id in the ledger.
        work: hash of all that decides the result.
        started_at: when it began.
        seconds: how long it took.
        result: None where the grader failed.
        message: why it failed.
    """

    submission: int
    work: str
    started_at: datetime
    seconds: float
    result: Result | None
    message: str = ""


def utc(moment: datetime) -> str:
    """A moment as the ledger keeps it."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def put_students(ledger: Ledger, students: Iterable[tuple[str, Student]]) -> None:
    """Adds students, or brings what is known of them up to date; nothing known is lost for something empty."""
    with ledger.writing() as connection:
        for key, student in students:
            connection.execute(
                "INSERT INTO students(key, name, site_id, sis_id, login, section) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT(key) DO UPDATE SET"
                " name = CASE excluded.name WHEN '' THEN name ELSE excluded.name END,"
                " site_id = CASE excluded.site_id WHEN '' THEN site_id ELSE excluded.site_id END,"
                " sis_id = CASE excluded.sis_id WHEN '' THEN sis_id ELSE excluded.sis_id END,"
                " login = CASE excluded.login WHEN '' THEN login ELSE excluded.login END,"
                " section = CASE excluded.section WHEN '' THEN section ELSE excluded.section END",
                (key, student.name, student.id, student.sis_id, student.login, student.section),
            )


def put_submission(
    connection: sqlite3.Connection, assignment: str, one: HandedIn, digest: str, place: int, newest: bool = False
) -> int:
    """The id of a submission, which is added where it is new.

    ``newest``: it counts, whatever the student handed in before, and whichever order the outcomes came in.
    """
    at = utc(one.at) if one.at else None
    known = "SELECT digest, place FROM submissions WHERE assignment = ? AND student = ? ORDER BY place DESC, id DESC"
    last = connection.execute(f"{known} LIMIT 1", (assignment, one.key)).fetchone()
    if newest and last:
        place = max(place, last["place"] + (last["digest"] != digest))
    connection.execute(
        "INSERT INTO submissions(assignment, student, digest, label, place, submitted_at, late_mark)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT(assignment, student, digest) DO UPDATE SET"
        " label = excluded.label, place = excluded.place,"
        " submitted_at = coalesce(excluded.submitted_at, submitted_at), late_mark = excluded.late_mark"
        " WHERE excluded.place >= place",
        (assignment, one.key, digest, one.label, place, at, int(one.late)),
    )
    query = "SELECT id FROM submissions WHERE assignment = ? AND student = ? AND digest = ?"
    return int(connection.execute(query, (assignment, one.key, digest)).fetchone()[0])


def put_run(ledger: Ledger, run: Run) -> int:
    """Adds a run with its rows and checks; returns its id."""
    result = run.result
    facts: tuple[object, ...] = (None, None, None, "", "", "", "", "")
    if result is not None:
        facts = (result.score, result.max_score, int(result.complete), result.grader, result.sandbox)
        facts += (result.fixtures.set, result.fixtures.digest, "\n".join(result.problems))
    with ledger.writing() as connection:
        cursor = connection.execute(
            "INSERT INTO runs(submission, work, started_at, seconds, status, message, score, max_score, complete,"
            " grader, sandbox, fixture_set, fixtures, problems) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                run.submission,
                run.work,
                utc(run.started_at),
                round(run.seconds, 3),
                "graded" if result else "failed",
                run.message,
                *facts,
            ),
        )
        number = int(cursor.lastrowid or 0)
        if result is not None:
            _put_rows(connection, number, result)
    return number


def _put_rows(connection: sqlite3.Connection, run: int, result: Result) -> None:
    connection.executemany(
        "INSERT INTO row_results VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (run, place, row.id, row.title, row.points, row.max_points, row.verdict, row.detail)
            for place, row in enumerate(result.rows)
        ],
    )
    connection.executemany(
        "INSERT INTO check_results VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (run, row.id, check.id, check.verdict, *_why(check), result.timing.get(check.id))
            for row in result.rows
            for check in row.checks
        ],
    )


def _why(check: CheckResult) -> tuple[str, str]:
    """The first sentence on why it failed, and the fault's id."""
    first = check.explanations[0] if check.explanations else None
    return (first.text if first else "" if check.passed else check.detail, (first.fault or "") if first else "")


def put_override(
    ledger: Ledger, assignment: str, student: str, row: str, points: int | None, who: str, why: str, at: datetime
) -> None:
    """Keeps a TA's word; None takes the last one back.

    Raises:
        UsageError: there is no such student, row, or no word to take back; or who or why is not said.
    """
    if not who.strip() or not why.strip():
        raise UsageError("an override says who decides it and why: --who and --why")
    found = ledger.rows("SELECT run FROM gradebook WHERE assignment = ? AND student = ?", assignment, student)
    if not found:
        raise UsageError(f"the ledger has no submission of {student} for {assignment}")
    if row and not ledger.rows("SELECT 1 FROM row_results WHERE run = ? AND row = ?", found[0]["run"], row):
        raise UsageError(f"{student} has no row {row} in {assignment}")
    standing = "SELECT 1 FROM standing_overrides WHERE assignment = ? AND student = ? AND row = ?"
    if points is None and not ledger.rows(standing, assignment, student, row):
        raise UsageError(f"there is no override of {row or 'the total'} of {student} to take back")
    with ledger.writing() as connection:
        connection.execute(
            "INSERT INTO overrides(assignment, student, row, points, who, why, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (assignment, student, row, points, who, why, utc(at)),
        )


def put_times(ledger: Ledger, assignment: str, times: Mapping[str, datetime]) -> list[str]:
    """Keeps when students handed in, by any name they are known by; returns those that nobody is known by."""
    unknown = []
    with ledger.writing() as connection:
        for handle, at in times.items():
            found = known_as(ledger, handle)
            changed = 0
            if len(found) == 1:
                changed = connection.execute(
                    "UPDATE submissions SET submitted_at = ? WHERE assignment = ? AND student = ?"
                    " AND id IN (SELECT submission FROM counting)",
                    (utc(at), assignment, found[0]["key"]),
                ).rowcount
            if not changed:
                unknown.append(handle)
    return unknown


def known_as(ledger: Ledger, handle: str) -> list[sqlite3.Row]:
    """The students of a key, else those of a name, number or login."""
    exact = ledger.rows("SELECT * FROM students WHERE key = ?", handle)
    query = "SELECT * FROM students WHERE ?1 <> '' AND ?1 COLLATE NOCASE IN (key, name, site_id, sis_id, login)"
    return exact or ledger.rows(query, handle)


def put_late_days(ledger: Ledger, policy: Policy) -> Mapping[tuple[str, str], Lateness]:
    """Works out the late days of everyone, over all assignments of the ledger, and keeps them."""
    of_student: dict[str, list[sqlite3.Row]] = {}
    for row in ledger.rows("SELECT * FROM counting JOIN students ON key = student ORDER BY student, assignment"):
        of_student.setdefault(row["student"], []).append(row)
    found: dict[tuple[str, str], Lateness] = {}
    for student, rows in of_student.items():
        handles = [rows[0][name] for name in ("key", "name", "site_id", "sis_id", "login")]
        for assignment, lateness in judge(policy, handles, [_submitted(row) for row in rows]).items():
            found[assignment, student] = lateness
    for excused in policy.excused:  # also those who handed in nothing
        for row in known_as(ledger, excused.student):
            found.setdefault((excused.assignment, row["key"]), Lateness(excused=True))
    with ledger.writing() as connection:
        connection.execute("DELETE FROM late_days")
        connection.executemany(
            "INSERT INTO late_days(assignment, student, days, free, percent, excused, note)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(*who, x.days, x.free, str(x.percent), int(x.excused), x.note) for who, x in found.items()],
        )
    return found


def unknown_in(ledger: Ledger, policy: Policy) -> list[str]:
    """Whom the policy names, and nobody of the ledger is called; and assignments that are not due at any time."""
    named = {one.student for one in policy.extensions} | {one.student for one in policy.excused}
    people = sorted(name for name in named if not known_as(ledger, name))
    return [*people, *sorted({one.assignment for one in policy.extensions} - policy.due.keys())]


def _submitted(row: sqlite3.Row) -> Submitted:
    at = datetime.fromisoformat(row["submitted_at"]) if row["submitted_at"] else None
    return Submitted(row["assignment"], at, bool(row["late_mark"]))


def final(row: sqlite3.Row) -> Decimal | None:
    """The score of a line of the gradebook after the late penalty; None: there is none yet."""
    if row["score"] is None:
        return None
    return Lateness(percent=Decimal(row["percent"])).after(row["score"])


def students(ledger: Ledger) -> Sequence[tuple[str, Student]]:
    """All students of the ledger, by key."""
    rows = ledger.rows("SELECT * FROM students ORDER BY name COLLATE NOCASE, key")
    return [(r["key"], Student(r["name"], r["site_id"], r["sis_id"], r["login"], r["section"])) for r in rows]
