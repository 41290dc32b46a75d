"""A2's fault dictionary: known mistakes as formulas in NumPy's float64, on the oracle's cases; see `grader.faults`."""

from __future__ import annotations

from grader.faults import Fault
from reference.A2.faults import layernorm

FAULTS: list[Fault] = [*layernorm.FAULTS]
