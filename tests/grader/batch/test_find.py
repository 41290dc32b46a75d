"""What was handed in: whose it is, which of several counts."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.batch import find
from grader.batch.roster import Roster, load
from grader.errors import UsageError
from grader.report.batch import Student


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")


def roster(tmp_path: Path, text: str) -> Roster:
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    return load(path)


def test_a_folder_archive_or_file_for_each_student(tmp_path: Path) -> None:
    touch(tmp_path, "ann/train_gpt2.c", "bob.zip", "cid.c", ".DS_Store", "__MACOSX/x")
    found = find.find(tmp_path, None).submissions
    assert [(one.key, [p.name for p in one.paths]) for one in found] == [
        ("ann", ["ann"]),
        ("bob", ["bob.zip"]),
        ("cid", ["cid.c"]),
    ]


def test_canvas_files_of_one_student_belong_together(tmp_path: Path) -> None:
    touch(tmp_path, "annlast_7_100_autodiff.py", "annlast_7_101_run_sentiment.py", "boblast_LATE_8_102_hw.zip")
    ann, bob = find.find(tmp_path, None).submissions
    assert (ann.key, len(ann.paths), ann.late) == ("7", 2, False)
    assert (bob.key, len(bob.paths), bob.late) == ("8", 1, True)


def test_the_newest_version_counts_and_the_others_are_told(tmp_path: Path) -> None:
    touch(tmp_path, "annlast_7_100_hw.zip", "annlast_7_200_hw-1.zip", "annlast_7_300_hw-2.zip")
    findings = find.find(tmp_path, None)
    assert [one.label for one in findings.submissions] == ["annlast_7_300_hw-2.zip"]
    assert "2 earlier submissions are left out" in findings.notes[0]
    every = find.find(tmp_path, None, every=True)
    assert [one.paths[0].name for one in every.submissions] == [
        "annlast_7_100_hw.zip",
        "annlast_7_200_hw-1.zip",
        "annlast_7_300_hw-2.zip",
    ]


def test_an_unchanged_file_of_a_newer_version_is_kept(tmp_path: Path) -> None:
    touch(
        tmp_path,
        "a_7_100_autodiff.py",
        "a_7_101_run_sentiment.py",
        "a_7_200_autodiff-1.py",
        "a_7_201_run_sentiment-1.py",
    )
    (one,) = find.find(tmp_path, None).submissions
    assert [p.name for p in one.paths] == ["a_7_200_autodiff-1.py", "a_7_201_run_sentiment-1.py"]


GRADESCOPE = """
submission_1:
  :submitters:
  - :name: Ann Last
    :sid: s1
    :email: ann@x.edu
  - :name: Bob Last
    :sid: s2
    :email: bob@x.edu
  :created_at: 2026-10-01 23:59:00.5 Z
submission_9:
  :submitters: []
"""


def test_gradescope_says_who_and_when_and_a_group_shares(tmp_path: Path) -> None:
    export = tmp_path / "assignment_5_export"
    touch(export, "submission_1/train_gpt2.c")
    (export / find.GRADESCOPE).write_text(GRADESCOPE)
    ann, bob = find.find(tmp_path, None).submissions
    assert (ann.key, bob.key) == ("ann@x.edu", "bob@x.edu")
    assert ann.student == Student("Ann Last", sis_id="s1", login="ann@x.edu")
    assert ann.at == datetime(2026, 10, 1, 23, 59, 0, 500000, tzinfo=UTC)
    assert ann.paths == bob.paths


def test_gradescope_s_metadata_leads_nowhere_else(tmp_path: Path) -> None:
    export = tmp_path / "export"
    touch(export, "submission_1/train_gpt2.c", "submission_1/deeper/train_gpt2.c")
    person = '{":submitters": [{":name": P, ":email": p@x.edu}]}'
    odd = ["..", ".", "", "/", "../export", "submission_1/deeper", "submission_1\\\\deeper", str(tmp_path), "a\\0"]
    (export / find.GRADESCOPE).write_text(GRADESCOPE + "".join(f'"{name}": {person}\n' for name in odd))
    found = find.find(export, None)
    assert {one.label for one in found.submissions} == {"submission_1"}
    assert len(found.notes) == len(odd)
    assert f"{find.GRADESCOPE}: `..` is no name of a folder, and is left out" in found.notes


@pytest.mark.parametrize("text", ["[1, 2]", "{a", "!!python/object/apply:os.system [id]"])
def test_metadata_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / find.GRADESCOPE).write_text(text)
    with pytest.raises(UsageError):
        find.find(tmp_path, None)


def test_the_roster_gives_names_and_misses_whom(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    touch(folder, "lastann_7_100_hw.zip", "bob.zip", "stranger.zip")
    known = roster(
        tmp_path,
        "Student,ID,SIS User ID,SIS Login ID,Section,A2 (1)\n    Points Possible,,,,,100\n"
        '"Last, Ann",7,s1,ann,1,\n"Last, Bob",8,s2,bob@x.edu,1,\n"Last, Cid",9,s3,cid,1,\n"Student, Test",99,,t,1,\n',
    )
    findings = find.find(folder, known)
    assert {one.key: one.student.name for one in findings.submissions} == {
        "ann": "Last, Ann",
        "bob@x.edu": "Last, Bob",
        "stranger": "stranger",
    }
    assert findings.notes == [
        "stranger.zip: nobody on the roster has this name or number",
        "1 of the roster handed in nothing: Last, Cid",
    ]


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "Student,ID\n", "Student,ID\nx,1\nx,1\n"])
def test_a_roster_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="--roster"):
        roster(tmp_path, text)


def test_first_and_last_name_and_semicolons(tmp_path: Path) -> None:
    found = roster(tmp_path, "\ufeffFirst Name;Last Name;Email;SID\nAnn;Last;ann@x.edu;s1\n")
    assert found.students == [Student("Last, Ann", sis_id="s1", login="ann@x.edu")]
    assert found.find("S1") == found.find("ann") == found.students[0]
    assert found.find("nobody", "") is None


def test_an_empty_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no submissions"):
        find.find(tmp_path, None)
