"""The ledger: every run is kept, the gradebook is a view, several may write, and a killed writer leaves it whole."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.batch import gradebook, ledger
from grader.batch.find import HandedIn
from grader.batch.late import Policy
from grader.batch.ledger import FILE, MIGRATIONS, Ledger
from grader.batch.ledger.records import (
    Run,
    put_late_days,
    put_override,
    put_run,
    put_students,
    put_submission,
    put_times,
)
from grader.errors import InfrastructureError, UsageError
from grader.home import ROOT
from grader.report.batch import Student
from grader.result import Result
from tests.grader.builders import result, row_result

NOW = datetime(2026, 10, 2, 12, tzinfo=UTC)
ANN = HandedIn("ann", Student("Last, Ann", "7", login="ann"), [Path("ann.zip")], "ann.zip")


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    found = Ledger(tmp_path / FILE)
    put_students(found, [("ann", ANN.student)])
    return found


def submit(book: Ledger, one: HandedIn = ANN, digest: str = "d", place: int = 1) -> int:
    with book.writing() as connection:
        return put_submission(connection, "A2", one, digest, place)


def grade(book: Ledger, submission: int, of: Result | None, message: str = "") -> int:
    return put_run(book, Run(submission, "w", NOW, 1.0, of, message))


def marks(book: Ledger) -> list[str]:
    return [line.mark for line in gradebook.lines(book, "A2")]


GOOD = result(row_result(), row_result("fail", id="second", points=3))  # 13 of 20
BETTER = result(row_result(), row_result(id="second"))


def test_the_newest_submission_counts_and_every_run_is_kept(book: Ledger) -> None:
    first = submit(book)
    grade(book, first, BETTER)
    second = submit(book, digest="e", place=2)
    grade(book, second, GOOD)
    assert marks(book) == ["13"]
    assert len(book.rows("SELECT * FROM runs")) == 2
    assert submit(book, place=3) == first  # handed in again, unchanged: it is the newest now
    assert marks(book) == ["20"]


def test_an_error_of_the_grader_is_no_zero_and_hides_no_earlier_score(book: Ledger) -> None:
    submission = submit(book)
    grade(book, submission, None, "disk full")
    (line,) = gradebook.lines(book, "A2")
    assert (line.mark, line.facts["status"]) == ("", "no score: disk full")
    grade(book, submission, GOOD)
    grade(book, submission, None, "disk full")
    assert marks(book) == ["13"]


def test_a_ta_s_word_goes_before_the_grader_s_and_can_be_taken_back(book: Ledger) -> None:
    submission = submit(book)
    grade(book, submission, GOOD)
    put_override(book, "A2", "ann", "second", 9, "a TA", "partial credit", NOW)
    assert marks(book) == ["19"]
    put_override(book, "A2", "ann", "", 5, "a TA", "copied", NOW)
    assert marks(book) == ["5"]
    put_override(book, "A2", "ann", "", None, "a TA", "not copied", NOW)
    assert marks(book) == ["19"]
    grade(book, submission, BETTER)
    assert marks(book) == ["19"]  # it stands, whatever runs come
    assert len(book.rows("SELECT * FROM overrides")) == 3


@pytest.mark.parametrize(
    ("student", "row", "points", "who", "why"),
    [
        ("bob", "", 1, "a TA", "x"),
        ("ann", "none", 1, "a TA", "x"),
        ("ann", "", None, "a TA", "x"),
        ("ann", "", 1, " ", "x"),
        ("ann", "", 1, "a TA", ""),
    ],
)
def test_an_override_of_nothing_is_refused(
    book: Ledger, student: str, row: str, points: int | None, who: str, why: str
) -> None:
    grade(book, submit(book), GOOD)
    with pytest.raises(UsageError):
        put_override(book, "A2", student, row, points, who, why, NOW)


def test_late_days_and_excuses_reach_the_gradebook(book: Ledger) -> None:
    grade(book, submit(book), GOOD)
    policy = {"timezone": "UTC", "due": {"A2": datetime(2026, 10, 1)}, "free_days": 1, "percent_per_day": 20}
    assert put_times(book, "A2", {"ANN": NOW, "nobody": NOW}) == ["nobody"]
    put_late_days(book, Policy.model_validate(policy))
    assert marks(book) == ["10.4"]
    (line,) = gradebook.lines(book, "A2")
    assert (line.facts["before_late"], line.facts["days_late"], line.facts["free_days"]) == (13, 2, 1)
    excused = {**policy, "excused": [{"student": "7", "assignment": "A2"}]}
    put_late_days(book, Policy.model_validate(excused))
    assert marks(book) == ["EX"]


def test_what_is_known_of_a_student_is_not_lost(book: Ledger) -> None:
    put_students(book, [("ann", Student("", section="2"))])
    (row,) = book.rows("SELECT * FROM students")
    assert (row["name"], row["site_id"], row["section"]) == ("Last, Ann", "7", "2")


def test_tables_and_feedback_are_the_same_bytes_each_time(book: Ledger, tmp_path: Path) -> None:
    grade(book, submit(book), GOOD)
    (tmp_path / "A2" / "ann").mkdir(parents=True)
    (tmp_path / "A2" / "ann" / "report.html").write_text("page")
    once = [
        p.read_bytes()
        for p in (
            *gradebook.write_tables(book, "A2", tmp_path, "A2 (1)"),
            gradebook.write_feedback(book, "A2", tmp_path),
        )
    ]
    again = [
        p.read_bytes()
        for p in (
            *gradebook.write_tables(book, "A2", tmp_path, "A2 (1)"),
            gradebook.write_feedback(book, "A2", tmp_path),
        )
    ]
    assert once == again


def test_a_ledger_of_a_later_version_is_left_alone(book: Ledger) -> None:
    book.connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    book.close()
    with pytest.raises(InfrastructureError, match="later version"):
        Ledger(book.path)


def test_what_is_no_ledger_is_told(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database" * 100)
    with pytest.raises(InfrastructureError, match="cannot be used"):
        Ledger(tmp_path / FILE)
    with pytest.raises(UsageError, match="no ledger"):
        Ledger(tmp_path / "none.sqlite", create=False)


def test_a_failed_migration_leaves_no_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "001_broken.sql"
    broken.write_text("CREATE TABLE a (x);\nCREATE TABLE a (x);\n")
    monkeypatch.setattr(ledger, "MIGRATIONS", [broken])
    with pytest.raises(InfrastructureError):
        Ledger(tmp_path / FILE)
    assert sqlite3.connect(tmp_path / FILE).execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0


WRITER = """
import sys
from pathlib import Path
from grader.batch.ledger import Ledger
from grader.batch.ledger.records import Run, put_run
from grader.result import Result
from datetime import datetime, timezone
book = Ledger(Path(sys.argv[1]))
result = Result.model_validate_json(Path(sys.argv[2]).read_bytes())
print("ready", flush=True)
for _ in range(int(sys.argv[3])):
    put_run(book, Run(1, "w", datetime.now(timezone.utc), 1.0, result))
"""


def writer(book: Ledger, of: Path, times: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(book.path), str(of), str(times)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def stored(tmp_path: Path) -> Path:
    path = tmp_path / "result.json"
    path.write_text(GOOD.model_dump_json(by_alias=True))
    return path


def test_several_may_write_at_once(book: Ledger, tmp_path: Path) -> None:
    submit(book)
    writers = [writer(book, stored(tmp_path), 20) for _ in range(3)]
    assert [w.wait() for w in writers] == [0, 0, 0]
    assert book.rows("SELECT count(*) FROM runs")[0][0] == 60
    assert book.rows("SELECT count(*) FROM row_results")[0][0] == 120
    for one in writers:
        assert one.stdout is not None
        one.stdout.close()


def test_a_killed_writer_leaves_whole_runs(book: Ledger, tmp_path: Path) -> None:
    submit(book)
    one = writer(book, stored(tmp_path), 100_000)
    assert one.stdout is not None
    assert one.stdout.readline() == "ready\n"
    while not book.rows("SELECT count(*) FROM runs")[0][0]:
        time.sleep(0.01)
    one.send_signal(signal.SIGKILL)
    one.wait()
    one.stdout.close()
    again = Ledger(book.path)
    assert again.rows("PRAGMA integrity_check")[0][0] == "ok"
    runs, rows = (again.rows(f"SELECT count(*) FROM {t}")[0][0] for t in ("runs", "row_results"))
    assert runs > 0
    assert rows == 2 * runs
    assert grade(again, 1, replace_score(BETTER)) == runs + 1


def replace_score(of: Result) -> Result:
    return of.model_copy(update={"problems": ["x"]})


def test_the_submission_of_another_student_is_another(book: Ledger) -> None:
    put_students(book, [("bob", Student("Last, Bob"))])
    bob = replace(ANN, key="bob", student=Student("Last, Bob"))
    assert submit(book) != submit(book, bob)
