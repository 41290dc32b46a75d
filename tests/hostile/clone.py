"""A copy of the project whose data a test may change: shorter limits, damaged fixtures, an assignment that is wrong."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from tests.launcher.test_launcher import LEFT_OUT
from tests.support import ROOT, ready_home

Data = dict[str, Any]

# Long enough for an honest case on a busy machine, short for one that runs until it is stopped.
SHORT = {"case_s": 2.5, "wall_s": 20.0, "cpu_s": 5.0, "memory_mb": 1024, "file_mb": 16, "disk_mb": 32}


class Clone:
    """The copy; ``home`` is its own ``GRADE_HOME``, over this test run's environment."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        shutil.copytree(ROOT, self.root, ignore=LEFT_OUT)
        self.home = ready_home(folder / "home")

    @property
    def launcher(self) -> Path:
        """Its ``./grade``."""
        return self.root / "grade"

    def change(self, assignment: str, change: Callable[[Data], None]) -> None:
        """Changes the data of an assignment."""
        path = self.root / "assignments" / assignment / "assignment.yaml"
        data = yaml.safe_load(path.read_bytes())
        change(data)
        path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")


def shortened(data: Data) -> None:
    """Gives an assignment, and each check with limits of its own, short ones."""
    for holder in (data, *data["checks"].values()):
        if "limits" in holder:
            holder["limits"] = {**holder["limits"], **SHORT}
