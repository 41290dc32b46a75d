"""Hostile submissions leave the machine as it was, and an honest one between them is graded as if there were none."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.hostile.clone import Clone, shortened
from tests.hostile.grading import SECRETS, Place, graded, known, laid, new_mark, usable
from tests.hostile.machine import State, lasting_changes, taking_in_orphans
from tests.hostile.test_attacks import SUBMISSIONS, Submission, left_behind
from tests.support import ROOT, Graded

A_FEW = ("A2-leftovers-right", "A2-kills-all-it-can-right", "HW2-leftovers-right")
MANY = 50
UNTRAINED = {"accuracy"}  # the row of HW2 that a batch without training leaves out


class Bench:
    """Two copies of the project, one of them with short limits, and folders that nobody else uses."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        clones = {name: Clone(folder / name) for name in ("honest", "short")}
        for assignment in ("A2", "HW2"):
            clones["short"].change(assignment, shortened)
        self.places = {name: Place(clone.launcher, str(clone.home)) for name, clone in clones.items()}
        for name in ("tmp", "cwd", "user"):
            (folder / name).mkdir()
        self.environment = {"TMPDIR": str(folder / "tmp"), "HOME": str(folder / "user")}
        self.watched = [folder / name for name in ("honest", "short", "tmp", "cwd", "user")]
        self.marks: list[str] = []

    def grade_hostile(self, submission: Submission, sandbox: str, port: int) -> None:
        """Grades it; what comes of it is another test's business."""
        mark = new_mark()
        self.marks.append(mark)
        place = self.places["short"]
        names = {**known(mark, port, place), "HOME": str(self.folder / "user"), "OTHER": str(self.folder / "cwd")}
        path = laid(submission.assignment, submission.attack, submission.base, self.folder / "hostile" / mark, names)
        options = ["--only", ",".join(submission.attack.only), "--sandbox", sandbox, *submission.attack.options]
        result = self._graded(submission.assignment, path, options, place)
        assert result.exit == 0, f"{submission.id}: {result.stderr}"
        shutil.rmtree(path.parent)

    def grade_honest(self, sandbox: str, *options: str) -> None:
        """Grades the reference in full, or the rows that the options name."""
        path = self.folder / "reference"
        shutil.copytree(ROOT / "reference" / "A2", path, dirs_exist_ok=True)
        result = self._graded("A2", path, ["--sandbox", sandbox, *options], self.places["honest"])
        assert result.result["score"] == result.result["max_score"], result.said()
        assert result.result["complete"] != bool(options)

    def _graded(self, assignment: str, path: Path, options: list[str], place: Place) -> Graded:
        cwd = self.folder / "cwd"
        return graded(assignment, path, *options, place=place, cwd=cwd, environment=self.environment)


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A folder that boxes of other users can come to; pytest's own are closed."""
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def assert_as_it_was(bench: Bench, submissions: list[Submission], sandbox: str, port: int, *honest: str) -> None:
    """Grades them all, an honest one after each, and compares the machine with what it was."""
    with taking_in_orphans():
        bench.grade_honest(sandbox, *honest)  # what is made once, and kept, is made now
        for submission in submissions[:1] + [s for s in submissions if s.assignment == "HW2"][:1]:
            bench.grade_hostile(submission, sandbox, port)
        before = State.now(bench.watched)
        for submission in submissions:
            bench.grade_hostile(submission, sandbox, port)
            bench.grade_honest(sandbox, *honest)
        assert lasting_changes(before, bench.watched) == []
    assert [trace for mark in bench.marks for trace in left_behind(mark)] == []


def grade_class(bench: Bench, assignment: str, submissions: list[Submission], sandbox: str, port: int) -> None:
    """Grades them all in one batch, two at a time, an honest one behind each; holds what must come of every one."""
    place, given, out = bench.places["short"], bench.folder / "class", bench.folder / "out"
    names = {**known("", port, place), "HOME": str(bench.folder / "user"), "OTHER": str(bench.folder / "cwd")}
    for number, submission in enumerate(submissions):
        mark = new_mark()
        bench.marks.append(mark)
        laid(assignment, submission.attack, submission.base, given / f"s{2 * number:03}", {**names, "MARK": mark})
        shutil.copytree(ROOT / "reference" / assignment, given / f"s{2 * number + 1:03}")
    command: list[str | Path] = [place.launcher, "batch", assignment, given, "--out", out, "--quiet", "--workers", "2"]
    done = subprocess.run(
        [*command, "--no-second-look", "--no-training", "--sandbox", sandbox],
        cwd=bench.folder / "cwd",
        env={**os.environ, **SECRETS, "GRADE_HOME": place.home, **bench.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for number, submission in enumerate(submissions):
        attack = submission.attack
        hostile, honest = (_result(out, assignment, 2 * number + more) for more in (0, 1))
        assert not honest.lost - UNTRAINED, f"behind {submission.id}: {honest.said()}"
        if not attack.options:
            lost = hostile.lost & set(attack.only)
            assert lost == set(attack.over[submission.base].lost), f"{submission.id}: {hostile.said()}"
    shutil.rmtree(out)
    shutil.rmtree(given)


def _result(out: Path, assignment: str, number: int) -> Graded:
    path = out / assignment / f"s{number:03}" / "result.json"
    return Graded(0, "", "", json.loads(path.read_bytes()))


def by_id(ids: tuple[str, ...]) -> list[Submission]:
    return [submission for submission in SUBMISSIONS if submission.id in ids]


def spread(count: int, submissions: list[Submission]) -> list[Submission]:
    """That many of the submissions, of every kind."""
    return [submissions[number * len(submissions) // count] for number in range(count)]


def test_a_few_leave_the_machine_as_it_was(tmp_path: Path, listener: socket.socket) -> None:
    if (reason := usable("bubblewrap")) is not None:
        pytest.skip(reason)
    assert len(by_id(A_FEW)) == len(A_FEW)
    port = listener.getsockname()[1]
    assert_as_it_was(Bench(tmp_path), by_id(A_FEW), "bubblewrap", port, "--only", "encoder_backward")


@pytest.mark.slow
@pytest.mark.parametrize("sandbox", ["bubblewrap", "user"])
def test_many_leave_the_machine_as_it_was(sandbox: str, open_path: Path, listener: socket.socket) -> None:
    if (reason := usable(sandbox)) is not None:
        pytest.skip(reason)
    submissions = spread(MANY, SUBMISSIONS)
    assert len({submission.id for submission in submissions}) == MANY
    assert_as_it_was(Bench(open_path), submissions, sandbox, listener.getsockname()[1])


@pytest.mark.slow
@pytest.mark.parametrize("sandbox", ["bubblewrap", "user"])
def test_one_batch_of_many_leaves_the_machine_as_it_was(sandbox: str, open_path: Path, listener: socket.socket) -> None:
    if (reason := usable(sandbox)) is not None:
        pytest.skip(reason)
    bench, port = Bench(open_path), listener.getsockname()[1]
    submissions = [s for s in SUBMISSIONS if sandbox not in s.attack.open_to]
    classes = {name: spread(MANY // 2, [s for s in submissions if s.assignment == name]) for name in ("A2", "HW2")}
    with taking_in_orphans():
        for assignment, hostile in classes.items():
            grade_class(bench, assignment, hostile[:1], sandbox, port)  # what is made once, and kept, is made now
            before = State.now(bench.watched)
            grade_class(bench, assignment, hostile, sandbox, port)
            assert lasting_changes(before, bench.watched) == []
    assert [trace for mark in bench.marks for trace in left_behind(mark)] == []


def test_what_is_left_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    before = State.now([tmp_path])
    (tmp_path / "folder" / "left").write_text("behind", encoding="utf-8")
    left = replace(before, processes=frozenset(), memory_kb=before.memory_kb - (1 << 20))
    assert State.now([tmp_path]).changes(before) == [f"file {tmp_path}/folder/left"]
    assert any(change.startswith("memory") for change in State.now([tmp_path]).changes(left))
