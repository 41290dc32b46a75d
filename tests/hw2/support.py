"""Grading HW2 as a user does, without the training run unless it is asked for."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from tests.support import Graded, run_command


def grade_hw2(*args: str | Path, training: bool = False) -> Graded:
    """Runs ``./grade HW2`` and reads the JSON that it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.json"
        left_out = [] if training else ["--no-training"]
        done = run_command("HW2", *args, *left_out, "--quiet", "--json", path)
        result = json.loads(path.read_bytes()) if path.exists() else {}
    return Graded(done.exit, done.stdout, done.stderr, result)
