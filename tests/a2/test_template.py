"""The template as a project: what its Makefile makes and removes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.support import ROOT


def make(folder: Path, *targets: str) -> None:
    subprocess.run(["make", *targets], cwd=folder, check=True, capture_output=True)


def test_clean_leaves_the_data_and_distclean_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "A2"
    shutil.copytree(ROOT / "student_template" / "A2", folder, ignore=shutil.ignore_patterns("*.bin", "test_gpt2"))
    before = sorted(folder.rglob("*"))
    make(folder, "data")
    made = sorted(folder.rglob("*"))
    assert {path.suffix for path in set(made) - set(before)} == {".bin"}
    (folder / "test_gpt2").write_text("built")
    make(folder, "clean")
    assert sorted(folder.rglob("*")) == made
    make(folder, "distclean")
    assert sorted(folder.rglob("*")) == before
