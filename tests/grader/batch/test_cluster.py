"""Grading on a cluster of two nodes, one of which is lost half-way: the gradebook is that of the local pool."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.home import ROOT
from tests.grader.batch.two_nodes import kill_node, two_nodes, why_not
from tests.support import LAUNCHER, run_command

SOLVED = (ROOT / "reference" / "A2" / "train_gpt2.c").read_text()
TEMPLATE = (ROOT / "student_template" / "A2" / "train_gpt2.c").read_text()
pytestmark = [pytest.mark.skipif(bool(why_not()), reason=why_not())]
OPTIONS = ("--no-second-look", "--quiet")


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    folder = tmp_path / "slurm"
    folder.mkdir()
    with two_nodes(folder) as environment:
        yield folder, environment


def hand_in(folder: Path, count: int) -> Path:
    """Right ones, empty ones, and some that do not compile."""
    for number in range(count):
        text = [SOLVED, TEMPLATE, TEMPLATE + "\nint x = ;\n"][number % 3]
        (folder / f"s{number:02}").mkdir(parents=True)
        (folder / f"s{number:02}" / "train_gpt2.c").write_text(text + f"\n// {number}\n")
    return folder


def gradebook(out: Path) -> str:
    return (out / "A2-canvas.csv").read_text(encoding="utf-8")


def test_a_few_through_slurm(tmp_path: Path, slurm: tuple[Path, dict[str, str]]) -> None:
    given, out = hand_in(tmp_path / "in", 3), tmp_path / "out"
    done = run_command("batch", "A2", given, "--out", out, "--executor", "slurm", *OPTIONS, env=slurm[1])
    assert done.exit == 0, done.stderr
    assert "3 graded" in done.stdout
    assert [line.rsplit(",", 1)[1] for line in gradebook(out).splitlines()[2:]] == ["100", "0", "0"]


@pytest.mark.slow
def test_a_lost_node_changes_nothing(tmp_path: Path, slurm: tuple[Path, dict[str, str]]) -> None:
    folder, environment = slurm
    given, out, local = hand_in(tmp_path / "in", 40), tmp_path / "out", tmp_path / "local"
    command: list[str | Path] = [LAUNCHER, "batch", "A2", given, "--out", out, "--executor", "slurm", *OPTIONS]
    with subprocess.Popen(command, env={**os.environ, **environment}, stderr=subprocess.PIPE) as running:
        while len(list((out / "A2").glob("*/result.json"))) < 10:
            assert running.poll() is None, running.stderr and running.stderr.read()
            time.sleep(0.5)
        kill_node(folder, "n1")
        assert running.wait() == 0, running.stderr and running.stderr.read()
    assert run_command("batch", "A2", given, "--out", local, *OPTIONS).exit == 0
    assert gradebook(out) == gradebook(local)
    assert len(gradebook(out).splitlines()) == 42
    again = run_command("batch", "A2", given, "--out", out, *OPTIONS)
    assert "0 graded, 40 unchanged" in again.stdout
