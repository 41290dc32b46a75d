"""Types and lint, over the whole project."""

from __future__ import annotations

import subprocess
import sys

from grader.home import ROOT


def run(*command: str) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types() -> None:
    run("mypy")


def test_lint() -> None:
    run("ruff", "check", "--no-cache")
