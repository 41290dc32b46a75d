"""Known submissions of A2, for the tests: see `grader.known`."""

from __future__ import annotations

from pathlib import Path

from grader.known.c import Mistake, Patch, Variant, region
from grader.known.entries import folder, load

__all__ = ["HERE", "REFERENCE", "SOLVED", "SOURCE", "Mistake", "Patch", "Variant", "load", "region", "write"]

HERE, SOURCE = folder("A2"), "train_gpt2.c"
REFERENCE = HERE / SOURCE
SOLVED = REFERENCE.read_text(encoding="utf-8")


def write(folder: Path, source: str | bytes) -> Path:
    """A submission: a folder with this ``train_gpt2.c``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SOURCE).write_bytes(source.encode() if isinstance(source, str) else source)
    return folder
