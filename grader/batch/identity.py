"""One student, one key: a batch with a roster and a batch without it know the same student by different names."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from grader.assignment import known_ids
from grader.batch.find import Findings, HandedIn
from grader.batch.ledger import Ledger
from grader.batch.ledger.records import put_students, students
from grader.batch.roster import Roster, key_of
from grader.errors import InfrastructureError
from grader.report.batch import Student


def settle(ledger: Ledger, out: Path, findings: Findings, roster: Roster | None) -> None:
    """Gives everyone who handed in one key, and puts the roster's students into the ledger.

    Raises:
        InfrastructureError: a folder of reports cannot be renamed, or the ledger cannot be written.
    """
    if roster is None:
        _as_known(findings, ledger)
        return
    keyed = {key_of(student): student for student in roster.students}
    put_students(ledger, keyed.items())
    _rename(ledger, out, findings, {key: student for key, student in students(ledger) if key not in keyed})


def _as_known(findings: Findings, ledger: Ledger) -> None:
    """Without a roster: whoever is in the ledger by the same number or login keeps the key that is there."""
    known = students(ledger)
    keys = {key for key, _ in known}
    by = {
        (field, value.casefold()): (key, student)
        for field in ("login", "sis_id", "id")
        for key, student in known
        if (value := getattr(student, field))
    }

    def named(one: HandedIn) -> HandedIn:
        said = [(field, getattr(one.student, field).casefold()) for field in ("id", "sis_id", "login")]
        found = next((by[handle] for handle in said if handle in by), None)
        return one if found is None or one.key in keys else replace(one, key=found[0], student=found[1])

    findings.submissions = [named(one) for one in findings.submissions]
    findings.superseded = [named(one) for one in findings.superseded]


def _rename(ledger: Ledger, out: Path, findings: Findings, others: dict[str, Student]) -> None:
    """What the ledger keeps of a student under the name that a download gave goes to the roster's key.

    Submissions, runs and a TA's word move, and the folders of reports. ``others``: who is under no key of the roster.
    """
    for one in [*findings.superseded, *findings.submissions]:
        before = others.get(one.formerly)
        if before is None or not _same(before, one.student):
            continue
        _move_folders(out, one.formerly, one.key)  # first: were we stopped here, the next batch goes on
        with ledger.writing() as connection:
            _move(connection, one.formerly, one.key)
        del others[one.formerly]


def _same(known: Student, student: Student) -> bool:
    """Whether nothing that is known of one speaks against its being the other."""
    numbers = [(known.id, student.id), (known.sis_id, student.sis_id), (known.login, student.login)]
    return all(not was or was.casefold() == now.casefold() for was, now in numbers)


def _move_folders(out: Path, old: str, new: str) -> None:
    for assignment in known_ids():
        folder, target = out / assignment / old, out / assignment / new
        try:
            if folder.is_dir() and target.exists():
                shutil.rmtree(folder)  # the newer reports stand
            elif folder.is_dir():
                folder.rename(target)
        except OSError as error:
            raise InfrastructureError(f"{folder} cannot become {target}: {error.strerror}") from error


def _move(connection: sqlite3.Connection, old: str, new: str) -> None:
    """All that the ledger has of one key, to the other; what both handed in is one submission with all its runs."""
    query = "SELECT id, assignment, digest FROM submissions WHERE student = ?"
    theirs: Mapping[tuple[str, str], int] = {
        (r["assignment"], r["digest"]): r["id"] for r in connection.execute(query, (new,))
    }
    ours: Sequence[sqlite3.Row] = connection.execute(query, (old,)).fetchall()
    for row in ours:
        twin = theirs.get((row["assignment"], row["digest"]))
        if twin is None:
            connection.execute("UPDATE submissions SET student = ? WHERE id = ?", (new, row["id"]))
        else:
            connection.execute("UPDATE runs SET submission = ? WHERE submission = ?", (twin, row["id"]))
            connection.execute("DELETE FROM submissions WHERE id = ?", (row["id"],))
    connection.execute("UPDATE overrides SET student = ? WHERE student = ?", (new, old))
    connection.execute("DELETE FROM late_days WHERE student = ?", (old,))  # they are worked out anew
    connection.execute("DELETE FROM students WHERE key = ?", (old,))
