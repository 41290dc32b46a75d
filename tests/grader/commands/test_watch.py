"""``--watch``: each save is graded, forty times an evening, and what goes wrong in between ends nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from grader import assignment as assignments
from grader import cli
from grader.commands.watch import Watch
from grader.errors import UsageError
from grader.home import ROOT
from grader.result import Result
from tests.grader.builders import check_result, result, row_result
from tests.support import LAUNCHER

SOURCE = (ROOT / "reference" / "A2" / "train_gpt2.c").read_text()
A2 = assignments.load("A2")


class Desk:
    """A submission on a desk, and what was graded of it."""

    def __init__(self, folder: Path, asked: list[str] | None = None) -> None:
        self.file = folder / "train_gpt2.c"
        self.graded: list[list[str]] = []
        self.shown: list[tuple[Result, Result]] = []
        self.watch = Watch(A2, folder, asked or [], self.grade, lambda new, whole: self.shown.append((new, whole)))

    def grade(self, rows: list[str]) -> Result:
        self.graded.append(rows)
        wanted = [row for row in A2.rows if not rows or row.id in rows]
        made = [
            row_result("fail", id=row.id, checks=[check_result("fail", id=check) for check in row.checks])
            for row in wanted
        ]
        return result(*made, complete=not rows)

    def save(self, text: str) -> None:
        self.file.write_text(text)
        self.watch.look()


def test_forty_saves(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.save(SOURCE)
    for number in range(40):
        desk.save(SOURCE.replace("dscore[t2] * scale", f"dscore[t2] * scale * {number}.0f"))
    assert desk.graded == [[], *[["attention_backward", "adamw"]] * 40]
    new, whole = desk.shown[-1]
    assert ([row.id for row in new.rows], len(whole.rows)) == (["attention_backward", "adamw"], len(A2.rows))


def test_a_save_of_nothing_new_grades_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(tmp_path)
    desk.save(SOURCE)
    desk.save(SOURCE + "\n// a word\n")
    assert len(desk.graded) == 1
    assert "nothing that counts has changed" in capsys.readouterr().err


def test_only_what_was_asked_for_is_graded(tmp_path: Path) -> None:
    desk = Desk(tmp_path, ["attention_backward"])
    desk.save(SOURCE)
    desk.save(SOURCE.replace("dscore[t2] * scale", "dscore[t2]"))
    desk.save(SOURCE.replace("#include <math.h>", "#include <tgmath.h>"))
    desk.save(SOURCE.replace("#include <math.h>", "#include <tgmath.h>").replace("dx[c] += r *", "dx[c] -= r *"))
    assert desk.graded == [["attention_backward"]] * 3


def test_a_file_that_is_gone_for_a_moment_ends_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(tmp_path)
    desk.save(SOURCE)

    def broken(rows: list[str]) -> Result:
        raise UsageError("there is no submission")

    desk.watch.grade = broken
    desk.save(SOURCE.replace("dscore[t2] * scale", "dscore[t2]"))
    assert "there is no submission" in capsys.readouterr().err
    desk.watch.grade = desk.grade
    desk.save(SOURCE.replace("dscore[t2] * scale", "dscore[t2]"))
    assert desk.graded == [[], []], "whole at the next save"


def test_a_report_needs_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["A2", str(tmp_path), "--watch", "--json", "-"]) == 2
    assert "--watch shows each result" in capsys.readouterr().err
    assert cli.main(["A2", str(tmp_path), "--watch", "--partial"]) == 2
    assert "it does not go with --partial" in capsys.readouterr().err


def until(file: Path, text: str, count: int) -> str:
    """What a file holds once it holds some text so many times."""
    for _ in range(1200):
        held = file.read_text()
        if held.count(text) >= count:
            return held
        time.sleep(0.1)
    raise AssertionError(f"{text!r} has not come {count} times: {file.read_text()}")


def test_the_real_command_sees_saves_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    file, out, err = tmp_path / "in" / "train_gpt2.c", tmp_path / "out", tmp_path / "err"
    file.write_text(SOURCE.replace("dinp[i] += ", "dinp[i] -= "))
    options = ["--watch", "--no-second-look", "--cflags=-O0", "--only", "gelu_residual_backward"]
    report = tmp_path / "result.json"
    with out.open("w") as stdout, err.open("w") as stderr:
        command = [str(LAUNCHER), "A2", str(tmp_path / "in"), *options, "--json", str(report), "--min-score", "5"]
        process = subprocess.Popen(command, stdout=stdout, stderr=stderr, start_new_session=True)
        try:
            until(err, "waiting for the next save", 1)
            written = tmp_path / "in" / ".train_gpt2.c.swp"  # as editors save: beside it, then in its place
            written.write_text(SOURCE)
            written.replace(file)
            until(err, "waiting for the next save", 2)
        finally:
            os.kill(process.pid, signal.SIGINT)
            code = process.wait(60)
    assert code == 0, err.read_text()
    assert "score 0/10" in out.read_text()
    assert "score 10/10" in out.read_text()
    assert '"score": 10' in report.read_text()
    assert "grade: ended" in err.read_text()
