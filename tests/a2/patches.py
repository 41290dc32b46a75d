"""Known submissions of A2, for the tests: see `grader.known`."""

from __future__ import annotations

from pathlib import Path

from grader.known.c import HERE, REFERENCE, SOURCE, Mistake, Patch, Variant, region
from grader.known.entries import load

__all__ = ["HERE", "REFERENCE", "SOURCE", "Mistake", "Patch", "Variant", "load", "region", "write"]


def write(folder: Path, source: str | bytes) -> Path:
    """A submission: a folder with this ``train_gpt2.c``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SOURCE).write_bytes(source.encode() if isinstance(source, str) else source)
    return folder
