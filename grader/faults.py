"""The fault dictionary: known mistakes, each with the tensors that come out when it is made.

``reference/<ID>/faults.py`` holds ``FAULTS``, a list of `Fault`. A fault belongs to a row and to the check on whose
cases it is computed. ``fault.tensors(case)`` gives every output tensor of a case as the mistake would leave it, in
float64, by the same names and in the same shapes as the oracle's; those that the mistake does not touch are right.

A fault is a set of *switches* of a *formula*: ``formula(case, on)`` computes the check's tensors with the switches
in ``on`` turned; with none it computes what is right (a test holds it to the oracle). Faults of one formula can so be
made together: ``together(a, b)`` is the fault with the switches of both. A mistake with a formula of its own is
written with `alone`; it need name only the tensors that it changes. Where the expected tensors depend on what was
handed back (``derive: true``), a fault has no formula; its tensors come from ``Derivation.faults`` of the
assignment's ``derive.py``, under its id.

Who uses it:

- ``grader.fault_build`` computes the tensors for a fixture set, on its expected side;
- ``grader.explain`` looks for them in what a student's code handed back, from the fixture set alone;
- ``load("A2")`` is for whoever wants the faults themselves, e.g. calibration: ``for fault in load("A2"): for case in
  cases: if case.check == fault.check and fault.formula: tensors = fault.tensors(case)``.

Grading itself never imports this dictionary, nor anything of ``reference``: it reads the fixture set.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grader import assignment as assignments
from grader.assignment import Assignment
from grader.cases import Array, Case
from grader.errors import InfrastructureError

Switches = frozenset[str]
Formula = Callable[[Case, Switches], Mapping[str, Array]]


@dataclass(frozen=True)
class Fault:
    """A known mistake.

    Attributes:
        id: unique in its assignment: lower-case letters, digits, hyphens.
        row: the row of the point table that it costs.
        check: the check on whose cases it is computed.
        says: completes "… equals what comes out when …", e.g. "the sum over the row is left out".
        hint: what to look at or to think about; it does not give the solution away.
        at: the function that it stands in, where that is not the one which the check looks at.
        formula: computes the tensors, given the switches; None: the assignment's ``derive`` does.
        switches: those that are turned.
        paired: whether what it gives together with others of its formula is computed too; beside a mistake in
            another part of the tensors it is recognised in any case.
    """

    id: str
    row: str
    check: str
    says: str
    hint: str
    formula: Formula | None = None
    switches: Switches = frozenset()
    paired: bool = True
    at: str = ""

    def tensors(self, case: Case) -> dict[str, Array]:
        """The output tensors of a case as the mistake leaves them: float64, or int64 for whole numbers.

        A tensor that is left out is right.

        Raises:
            InfrastructureError: it has no formula.
        """
        if self.formula is None:
            raise InfrastructureError(f"fault {self.id} is computed from what was handed back, not from a case")
        return {name: _wide(value) for name, value in self.formula(case, self.switches).items()}


def _wide(value: Array) -> Array:
    return np.array(value, dtype=np.int64 if np.issubdtype(value.dtype, np.integer) else np.float64)


def alone(formula: Callable[[Case], Mapping[str, Array]]) -> Formula:
    """A formula of its own for one fault, which is made with no other."""
    return lambda case, on: formula(case)


def family(
    row: str,
    check: str,
    prefix: str,
    formula: Formula,
    known: Mapping[str, tuple[str, str]],
    rare: Collection[str] = (),
    at: str = "",
) -> list[Fault]:
    """Faults of one formula.

    Args:
        row: the row that they cost.
        check: the check on whose cases they are computed.
        prefix: begins their ids.
        formula: computes the check's tensors.
        known: what turns a switch → (says, hint). ``name`` is the fault ``<prefix>-<name>`` and turns the switch
            ``name``; ``name=a+b`` is a fault that turns the switches ``a`` and ``b``.
        rare: the names of those that are not `paired`.
        at: the function that they stand in, where that is not the one which the check looks at.
    """
    faults = []
    for key, (says, hint) in known.items():
        name, _, turned = key.partition("=")
        switches = frozenset((turned or name).split("+"))
        faults.append(Fault(f"{prefix}-{name}", row, check, says, hint, formula, switches, name not in rare, at))
    return faults


def together(first: Fault, second: Fault) -> Fault | None:
    """Both mistakes at once; None where they have no formula in common, or one of them is not `paired`."""
    if first.formula is None or first.formula is not second.formula or first.check != second.check:
        return None
    if not (first.paired and second.paired):
        return None
    switches = first.switches | second.switches
    if switches in (first.switches, second.switches):
        return None
    return replace(first, id=f"{first.id}+{second.id}", switches=switches)


def load(assignment_id: str) -> list[Fault]:
    """The dictionary of an assignment, from ``reference/<ID>/faults.py``; empty where it has none.

    Raises:
        InfrastructureError: two faults bear one id, or one names a row or check that is not there.
    """
    name = f"reference.{assignment_id}.faults"
    if importlib.util.find_spec(name) is None:
        return []
    faults: list[Fault] = list(importlib.import_module(name).FAULTS)
    if found := problems(assignments.load(assignment_id), faults):
        raise InfrastructureError("\n".join(found))
    return faults


def problems(assignment: Assignment, faults: Sequence[Fault]) -> list[str]:
    """What does not fit: ids that are there twice, rows and checks that are not there."""
    ids = [fault.id for fault in faults]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    rows = {row.id for row in assignment.rows}
    return [
        *(f"two faults bear the id {name}" for name in twice),
        *(f"fault {f.id}: there is no row {f.row}" for f in faults if f.row not in rows),
        *(f"fault {f.id}: there is no check {f.check}" for f in faults if f.check not in assignment.checks),
    ]
