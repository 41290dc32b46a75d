"""Expected tensors that depend on what was handed back, e.g. gradients at the parameters of a student's own run.

An assignment's ``derive.py`` has a function ``derive(Handed) -> Derivation``. It runs on the judging side, in
NumPy's float64, and never in the sandbox.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from grader.assignment import Assignment
from grader.cases import Array


class UnusableError(Exception):
    """What was handed back cannot be judged, and so is wrong; the message says why.

    Attributes:
        fault: the id of the known mistake that it is, where it is one.
    """

    def __init__(self, message: str, fault: str = "") -> None:
        super().__init__(message)
        self.fault = fault


@dataclass(frozen=True)
class Handed:
    """What a check's case was given and what came back.

    Attributes:
        check: id of the check.
        params: the case's scalars.
        inputs: the tensors that the probe was given.
        expected: the tensors that the fixture set keeps for the judge.
        got: the tensors that were handed back, of any shapes and values.
        options: the check's own.
        policies: the assignment's.
    """

    check: str
    params: Mapping[str, int | float]
    inputs: Mapping[str, Array]
    expected: Mapping[str, Array]
    got: Mapping[str, Array]
    options: Mapping[str, str]
    policies: Mapping[str, str]


@dataclass(frozen=True)
class Derivation:
    """What follows.

    Attributes:
        expected: the tensors to compare with, in place of the fixture set's.
        facts: tensors computed from those that were handed back, to be compared beside them.
        says: a sentence for the row, e.g. which known mistake it looks like.
        advice: sentences that cost no points.
        faults: computes what known mistakes give, by their ids in the fault dictionary; called on failure alone.
    """

    expected: Mapping[str, Array]
    facts: Mapping[str, Array] = field(default_factory=dict)
    says: str = ""
    advice: tuple[str, ...] = ()
    faults: Callable[[], Mapping[str, Mapping[str, Array]]] | None = None


def of(assignment: Assignment) -> Callable[[Handed], Derivation]:
    """The assignment's ``derive``."""
    module = importlib.import_module(f"assignments.{assignment.id}.derive")
    function: Callable[[Handed], Derivation] = module.derive
    return function
