"""Machines for the tests of CUDA, and grading on them in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import cli
from grader.cuda import machine, speed
from grader.cuda.look import Look
from tests.cuda.machine import Machine, with_gpu
from tests.support import Graded

Grade = Callable[..., Graded]


@pytest.fixture
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with a GPU, as far as the grader can tell."""
    return with_gpu(tmp_path / "machine", monkeypatch)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No epoch is timed: that takes seconds, and one test does it."""
    monkeypatch.setattr(speed, "measure", lambda *_: {})


@pytest.fixture
def no_gpu(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a GPU, wherever the tests run; the execution model is left out, which has tests of its own."""
    monkeypatch.setattr(machine, "find_gpu", lambda toolkit=None: "there is no NVIDIA GPU here")
    monkeypatch.setattr(Look, "_in_model", lambda look: None)


@pytest.fixture
def grade(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Grade:
    """Grades HW2 in this process."""

    def run(*args: str | Path) -> Graded:
        path = tmp_path / "result.json"
        path.unlink(missing_ok=True)
        code = cli.main(["HW2", *map(str, args), "--no-training", "--quiet", "--json", str(path)])
        out, err = capsys.readouterr()
        return Graded(code, out, err, json.loads(path.read_bytes()) if path.exists() else {})

    return run
