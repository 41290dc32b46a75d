"""One student, one line in the gradebook: with the roster or without, in either order."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.batch import find, identity
from grader.batch import roster as rosters
from grader.batch import run as batches
from grader.batch.ledger import FILE, Ledger
from grader.batch.ledger.records import put_override
from grader.batch.work import RESULT
from tests.grader.batch.test_odd import A2, HIGH, LOW, Graded, put

ROSTER = 'Student,ID,SIS Login ID\n"Last, Ann",7,ann\n"Last, Bob",8,bob\n'


class Course:
    """A course's folder, in which batches are run."""

    def __init__(self, folder: Path) -> None:
        self.given, self.out, self.roster = folder / "in", folder / "out", folder / "roster.csv"
        self.roster.write_text(ROSTER)

    def batch(self, with_roster: bool) -> batches.Tally:
        roster = rosters.load(self.roster) if with_roster else None
        found = find.find(self.given, roster)
        with batches.open_ledger(self.out) as ledger:
            identity.settle(ledger, self.out, found, roster)
        return batches.run(batches.Plan(A2, self.out, found), Graded({"low": LOW, "high": HIGH}), lambda *_: None)

    def book(self) -> dict[str, int]:
        with Ledger(self.out / FILE) as ledger:
            return {row["student"]: row["score"] for row in ledger.rows("SELECT student, score FROM gradebook")}

    def folders(self) -> list[str]:
        return sorted(path.name for path in (self.out / "A2").iterdir())


def test_a_batch_without_the_roster_and_then_with_it(tmp_path: Path) -> None:
    course = Course(tmp_path)
    put(course.given, "lastann_7_100_a.c", text="high")
    put(course.given, "lastbob_8_101_a.c", text="low")
    course.batch(with_roster=False)
    assert course.book() == {"7": 10, "8": 0}
    with Ledger(course.out / FILE) as ledger:
        put_override(ledger, "A2", "8", "", 4, "a TA", "seen in office hours", datetime.now(UTC))
    tally = course.batch(with_roster=True)
    assert (tally.graded, tally.unchanged) == (0, 2), "the runs are known by the new key"
    assert course.book() == {"ann": 10, "bob": 4}
    assert course.folders() == ["ann", "bob"]
    with Ledger(course.out / FILE) as ledger:
        assert [row["key"] for row in ledger.rows("SELECT key FROM students ORDER BY key")] == ["ann", "bob"]


def test_a_batch_with_the_roster_and_then_without_it(tmp_path: Path) -> None:
    course = Course(tmp_path)
    put(course.given, "lastann_7_100_a.c", text="high")
    course.batch(with_roster=True)
    put(course.given, "lastann_7_200_a-1.c", text="low")
    put(course.given, "lastcid_9_201_a.c", text="high")
    course.batch(with_roster=False)
    assert course.book() == {"ann": 0, "9": 10}
    assert course.folders() == ["9", "ann"]


def test_what_both_keys_handed_in_is_one_submission(tmp_path: Path) -> None:
    course = Course(tmp_path)
    put(course.given, "ann.c", text="high")
    course.batch(with_roster=True)
    (course.given / "ann.c").unlink()
    put(course.given, "Ann Last.c", text="high")  # a folder's name says less than a number does: another key
    course.batch(with_roster=False)
    assert len(course.book()) == 2
    (course.given / "Ann Last.c").rename(course.given / "Last, Ann.c")
    course.batch(with_roster=False)
    assert len(course.book()) == 3
    course.batch(with_roster=True)
    assert course.book()["ann"] == 10
    assert len(course.book()) == 2
    with Ledger(course.out / FILE) as ledger:
        assert len(ledger.rows("SELECT * FROM submissions WHERE student = 'ann'")) == 1
        assert len(ledger.rows("SELECT * FROM runs")) == 3, "every run is kept"


@pytest.mark.parametrize("known", ["number", "key"])
def test_another_student_is_not_renamed(tmp_path: Path, known: str) -> None:
    course = Course(tmp_path)
    if known == "number":  # a student called 7 in the ledger who has another number
        course.roster.write_text('Student,ID,SIS User ID\n"Last, Old",70,7\n')
        put(course.given, "lastold_70_1_a.c", text="low")
        course.batch(with_roster=True)
        assert course.book() == {"7": 0}
        (course.given / "lastold_70_1_a.c").unlink()
        course.roster.write_text(ROSTER)
    else:  # the key is another's on the roster itself
        course.roster.write_text('Student,ID,SIS Login ID\n"Last, Ann",7,ann\n"Last, Bob",8,7\n')
        put(course.given, "lastbob_8_1_a.c", text="low")
        course.batch(with_roster=True)
        assert course.book() == {"7": 0}
        (course.given / "lastbob_8_1_a.c").unlink()
    put(course.given, "lastann_7_2_a.c", text="high")
    course.batch(with_roster=True)
    assert course.book() == {"7": 0, "ann": 10}
    assert (course.out / "A2" / "7" / RESULT).exists()
