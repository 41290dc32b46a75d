"""Known submissions of HW2, for the tests: see `grader.known`."""

from __future__ import annotations

from grader import assignment as assignments
from grader.calibration.samples import reference
from grader.known.entries import folder, load
from grader.known.python import Mistake, Patch, Right, Variant

__all__ = ["FILES", "HERE", "SOLVED", "Mistake", "Patch", "Right", "Variant", "load"]

HERE = folder("HW2")
SOLVED = reference(assignments.load("HW2"))
FILES = tuple(SOLVED)
