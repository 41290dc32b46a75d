"""What the tests share: the real command, run as a user runs it, and what came of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

ROOT = Path(__file__).resolve().parent.parent
LAUNCHER = ROOT / "grade"
LONGEST_S = 300.0  # a grader that hangs fails its test, and not the whole run

Record = dict[str, Any]


@dataclass(frozen=True)
class Graded:
    """What a run of ``./grade`` left behind.

    Attributes:
        exit: its exit code.
        stdout: what it printed.
        stderr: what it said on standard error.
        result: the JSON that it wrote; empty if it wrote none.
    """

    exit: int
    stdout: str
    stderr: str
    result: Record

    @property
    def rows(self) -> dict[str, Record]:
        """The rows by id."""
        return {row["id"]: row for row in self.result["rows"]}

    @property
    def checks(self) -> dict[str, Record]:
        """The checks of all rows by id."""
        return {check["id"]: check for row in self.result["rows"] for check in row["checks"]}

    @property
    def lost(self) -> set[str]:
        """The rows that are not worth all their points."""
        return {name for name, row in self.rows.items() if row["points"] != row["max_points"]}

    @property
    def verdicts(self) -> dict[str, str]:
        """The rows' verdicts."""
        return {name: row["verdict"] for name, row in self.rows.items()}

    def said(self) -> str:
        """For an assertion's message: the score, and what each lost row says."""
        lines = [f"{row}: {self.rows[row]['verdict']}: {self.rows[row]['detail']}" for row in sorted(self.lost)]
        return "\n".join([f"score {self.result['score']}", *self.result["problems"], *lines])


def ready_home(folder: Path) -> Path:
    """This test run's own environment, under another name."""
    folder.mkdir(parents=True)
    for name in ("bin", "lib", "pyvenv.cfg"):
        (folder / name).symlink_to(Path(sys.prefix) / name)
    shutil.copyfile(ROOT / "grader" / "requirements.txt", folder / "stamp")
    return folder


def run_command(
    *args: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, longest_s: float = LONGEST_S
) -> Graded:
    """Runs ``./grade`` with these arguments and no others; ``env`` is added to the environment."""
    done = subprocess.run(
        [LAUNCHER, *args],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        timeout=longest_s,
        check=False,
    )
    stdout, stderr = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    assert "Traceback" not in stdout + stderr, stdout + stderr
    return Graded(done.returncode, stdout, stderr, {})


def grade(*args: str | Path, cwd: Path | None = None) -> Graded:
    """Grades A2 without the second look, and reads the JSON that it wrote.

    Built with -O0, unless the arguments say otherwise: half of a grading is the compiler's time, and the tests grade
    hundreds.
    """
    return grade_fully("--cflags=-O0", *args, "--no-second-look", cwd=cwd)


def grade_fully(*args: str | Path, cwd: Path | None = None) -> Graded:
    """Grades A2 with the second look, and reads the JSON that it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.json"
        done = run_command("A2", *args, "--quiet", "--json", path, cwd=cwd)
        result = json.loads(path.read_bytes()) if path.exists() else {}
    return Graded(done.exit, done.stdout, done.stderr, result)


def slow(*values: str) -> list[ParameterSet]:
    """Parameters of a test that are like the quick ones, and left to the slow run."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]
