"""What a class really looks like: going back to an earlier submission, odd names, lists as spreadsheets write them."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from grader.batch import download, exports, find, gradebook, late, times
from grader.batch import roster as rosters
from grader.batch import run as batches
from grader.batch.ledger import FILE, Ledger
from grader.batch.ledger.records import put_late_days, put_students, put_times, unknown_in
from grader.batch.work import REPORT, RESULT, Job, Outcome, Settings, run
from grader.commands.ledger import find_student
from grader.errors import InfrastructureError, UsageError
from grader.report.batch import Student
from grader.result import Result
from tests.grader.builders import result, row_result

NOW = "2026-10-02T12:00:00+00:00"
LOW = result(row_result("fail", points=0))
HIGH = result(row_result())
A2 = Settings.model_validate({"assignment": "A2"})
POLICY = late.Policy.model_validate(
    {
        "timezone": "UTC",
        "free_days": 0,
        "percent_per_day": 20,
        "due": {"A2": datetime(2026, 10, 1, tzinfo=UTC)},
        "excused": [{"student": "BOB", "assignment": "A2"}],
        "extensions": [{"student": "nobdy", "assignment": "A2", "days": 1}],
    }
)


class Graded:
    """Grades by what the first file says, which is its digest as well. `dies`: the worker does."""

    def __init__(self, scores: dict[str, Result], backwards: bool = False) -> None:
        self.scores, self.backwards = scores, backwards

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        for job in reversed(jobs) if self.backwards else jobs:
            text = Path(job.paths[0]).read_text()
            if text == "dies":
                yield job, Outcome(status="failed", started_at=NOW, seconds=1, message="it died")
                continue
            done = text in job.known
            if not done:
                Path(job.folder).mkdir(parents=True, exist_ok=True)
                (Path(job.folder) / RESULT).write_text(self.scores[text].model_dump_json(by_alias=True))
            status = "unchanged" if done else "graded"
            yield (
                job,
                Outcome.model_validate(
                    {"status": status, "digest": text, "work": text, "started_at": NOW, "seconds": 1}
                ),
            )


def put(folder: Path, *names: str, text: str = "x") -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def batch(tmp_path: Path, every: bool = False, backwards: bool = False) -> list[str]:
    """The marks after a batch over `tmp_path/in`."""
    out = tmp_path / "out"
    found = find.find(tmp_path / "in", None, every)
    graded = Graded({"low": LOW, "high": HIGH, "dies": LOW}, backwards)
    batches.run(batches.Plan(A2, out, found), graded, lambda *_: None)
    with Ledger(out / FILE) as book:
        return [line.mark for line in gradebook.lines(book, "A2")]


def test_a_student_who_goes_back_to_the_first_submission_has_its_score(tmp_path: Path) -> None:
    one = tmp_path / "in" / "ann.c"
    for text, mark in (("high", "10"), ("low", "0"), ("high", "10"), ("low", "0")):
        put(one.parent, one.name, text=text)
        assert batch(tmp_path) == [mark]


def test_a_worker_that_died_at_what_was_graded_costs_nothing_in_the_end(tmp_path: Path) -> None:
    for text, mark in (("high", "10"), ("dies", ""), ("high", "10")):
        put(tmp_path / "in", "ann.c", text=text)
        assert batch(tmp_path) == [mark]


@pytest.mark.parametrize("backwards", [False, True])
def test_the_newest_counts_whichever_is_graded_first(tmp_path: Path, backwards: bool) -> None:
    put(tmp_path / "in", "annlast_7_1_a.c", "annlast_7_3_a-2.c", text="high")
    put(tmp_path / "in", "annlast_7_2_a-1.c", text="low")
    assert batch(tmp_path, every=True, backwards=backwards) == ["10"]
    put(tmp_path / "in", "annlast_7_4_a-3.c", text="low")
    assert batch(tmp_path, backwards=backwards) == ["0"]  # without --all, after it
    assert batch(tmp_path, every=True, backwards=backwards) == ["0"]


def test_reports_that_are_gone_or_of_another_submission_are_made_anew(tmp_path: Path) -> None:
    settings = A2.model_copy(update={"sandbox": "limits", "second_look": False, "explain": "none"})
    folder = tmp_path / "out"
    bad = put(tmp_path, "ann.docx")
    job = Job(settings=settings, label="ann", paths=[str(bad / "ann.docx")], folder=str(folder), known=[])
    work = run(job).work
    again = job.model_copy(update={"known": [work]})
    assert run(again).status == "unchanged"
    (folder / REPORT).unlink()
    assert run(again).status == "graded"
    text = (folder / RESULT).read_text()
    (folder / RESULT).write_text(text.replace('"hashes": {}', '"hashes": {"train_gpt2.c": "of another"}'))
    assert (folder / RESULT).read_text() != text
    assert run(again).status == "graded"
    (folder / RESULT).write_text(text[:50])
    assert run(again).status == "graded"


def test_the_ledgers_folder_is_no_submission(tmp_path: Path) -> None:
    put(tmp_path, "ann/x.c", "results/ledger.sqlite")
    assert [one.key for one in find.find(tmp_path, None, out=tmp_path / "results").submissions] == ["ann"]


def test_one_students_folder_with_folders_is_one_student(tmp_path: Path) -> None:
    put(tmp_path, "ann/minitorch/autodiff.py", "ann/project/run_sentiment.py")
    assert [one.key for one in find.find(tmp_path, None).submissions] == ["ann"]


def test_odd_names_stay_with_their_student(tmp_path: Path) -> None:
    put(tmp_path, "annlast_7_100_a\n300 graded.c", "boblast_LATE_8_text.html")
    ann, bob = find.find(tmp_path, None).submissions
    assert (ann.key, ann.label) == ("7", "annlast_7_100_a\\n300 graded.c")
    assert (bob.key, bob.late) == ("8", True)


def test_a_name_that_is_no_unicode(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path / "in") + b"/ann\xff\x1b[2J\xe2\x80\xae"
    os.makedirs(folder)
    (one,) = find.find(tmp_path / "in", None).submissions
    assert one.label.isprintable()
    with Ledger(tmp_path / FILE) as book:
        put_students(book, [(one.key, one.student)])
    job = Job(settings=A2, label=one.label, paths=[str(p) for p in one.paths], folder="x", known=[])
    assert Job.of_line(job.line()) == job


def test_excused_counts_for_those_who_handed_in_nothing(tmp_path: Path) -> None:
    put(tmp_path / "in", "ann.c", text="high")
    batch(tmp_path)
    with Ledger(tmp_path / "out" / FILE) as book:
        put_students(book, [("bob", Student("Bob"))])
        put_late_days(book, POLICY)
        assert [line.mark for line in gradebook.lines(book, "A2")] == ["10", "EX"]
        assert unknown_in(book, POLICY) == ["nobdy"]


def test_a_handle_of_two_students_is_neithers(tmp_path: Path) -> None:
    put(tmp_path / "in", "ann.c", "Ann.c", text="high")
    batch(tmp_path)
    with Ledger(tmp_path / "out" / FILE) as book:
        assert find_student(book, "ann")["key"] == "ann"
        assert find_student(book, "Ann")["key"] == "Ann"
        assert put_times(book, "A2", {"ANN": datetime(2026, 10, 1, tzinfo=UTC)}) == ["ANN"]
        with pytest.raises(UsageError, match="empty"):
            find_student(book, "")
        for odd in ("\udcff", 10**30):
            with pytest.raises(UsageError, match="no ledger holds"):
                book.rows("SELECT ?", odd)


def test_the_folders_own_policy_holds_at_each_export(tmp_path: Path) -> None:
    assert exports.policy(tmp_path, None, None) is None
    text = "timezone: UTC\nfree_days: 2\npercent_per_day: 20\ndue: {A2: 2026-10-01T00:00:00}\n"
    (tmp_path / exports.LATE).write_text(text)
    found = exports.policy(tmp_path, None, tmp_path)
    assert found is not None
    assert found.free_days == 2


LISTS = [
    "Student;ID\nAnn;1\n",
    "sep=;\nStudent;ID\nAnn;1\n",
    "Student\tID\r\nAnn\t1\r\n",
    '\ufeffStudent,ID\n"\nAnn",1\n',
]


@pytest.mark.parametrize("text", LISTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_rosters_as_spreadsheets_write_them(tmp_path: Path, text: str, encoding: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes(text.lstrip("\ufeff" if encoding == "utf-16" else "").encode(encoding))
    assert rosters.load(path).students == [Student("Ann", "1")]


def test_a_roster_in_which_two_would_share_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    for text, why in (("Student,Login\nA,x\nB,x\n", "twice: x"), ("Student,ID\n" + "a" * 200_000, "no CSV")):
        path.write_text(text)
        with pytest.raises(UsageError, match=why):
            rosters.load(path)


def test_times_as_gradescope_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(
        "Name,Email,Submission Time\nA,a@x,2026-10-01 23:59:00 -0400\nB,b@x,\nC,c@x,2026-10-01 23:59:00 UTC\n"
    )
    found = times.load(path, ZoneInfo("UTC"))
    assert {who: at.astimezone(UTC).isoformat() for who, at in found.items()} == {
        "a@x": "2026-10-02T03:59:00+00:00",
        "c@x": "2026-10-01T23:59:00+00:00",
    }
    for line, why in (("a,2026-10-02\na,2026-10-03", "two times"), ("a,0001-01-01T00:00:00+05:00", "not a time")):
        path.write_text(f"login,submitted_at\n{line}\n")
        with pytest.raises(UsageError, match=why):
            times.load(path, ZoneInfo("UTC"))


def test_a_download_that_is_damaged_or_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ann/train_gpt2.c", bytes(range(256)) * 9)
    blob = bytearray(path.read_bytes())
    blob[50:90] = b"\xff" * 40
    path.write_bytes(blob)
    with pytest.raises(UsageError, match="cannot be unpacked"):
        download.unpack(path, tmp_path / "a")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a" * 300, "x")
    with pytest.raises(InfrastructureError, match="too long"):
        download.unpack(path, tmp_path / "b")


def test_the_newer_of_two_files_in_a_zip_counts(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("ann.zip", (2026, 10, 2, 0, 0, 0)), "new")
        archive.writestr(zipfile.ZipInfo("ann.tar", (2026, 10, 1, 0, 0, 0)), "old")
    download.unpack(path, tmp_path / "in")
    assert [one.label for one in find.find(tmp_path / "in", None).submissions] == ["ann.zip"]
