"""What is known of a check that failed: per case, what was given, what is right, what came back, what mistakes give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from grader import tensorfile
from grader.assignment import Assignment, Check
from grader.cases import DOES_NOT_FIT, Array
from grader.compare import allowed_error, compare
from grader.fault_tensors import Stored
from grader.fixtures import Dictionary, FixtureCase
from grader.judge import Judged
from grader.tolerances import Limit, Tolerances

Float = NDArray[np.float64]

ELEMENTWISE = ("differs", "not finite")  # reasons after which the values can be looked at
EQUALITIES = ("max", "element", "absolute")


@dataclass(frozen=True)
class CaseSeen:
    """One case that handed tensors back.

    Attributes:
        id: its id.
        params: its sizes and other scalars.
        got: what was handed back, with the facts that follow from it.
        expected: what is right.
        stored: what the known mistakes give.
        inputs: reads what the probe was given, by name.
    """

    id: str
    params: Mapping[str, int | float]
    got: Mapping[str, Array]
    expected: Mapping[str, Array]
    stored: Stored
    inputs: Callable[[], Mapping[str, Array]]


@dataclass
class Observed:
    """A check as the explanations look at it.

    Attributes:
        check_id: its id.
        check: itself.
        assignment: whose it is.
        dictionary: the fixture set's known mistakes, in words.
        cases: those that handed tensors back.
        judged: what came of it.
        fixtures: all its cases, those too that handed nothing back.
        wrong: tensor → the cases in which it is wrong → why, in the order in which evidence is told.
        limits: tensor → its limit.
    """

    check_id: str
    check: Check
    assignment: Assignment
    dictionary: Dictionary
    judged: Judged
    fixtures: Sequence[FixtureCase]
    cases: dict[str, CaseSeen]
    wrong: dict[str, dict[str, str]] = field(default_factory=dict)
    limits: dict[str, Limit] = field(default_factory=dict)

    @property
    def owner(self) -> str:
        """The check whose cases, and known mistakes, these are."""
        return self.check.cases_of or self.check_id

    def spoken(self, tensors: Sequence[str]) -> list[str]:
        """Tensors in the words that the assignment has for them, in the order in which it has them; else by name."""
        words = {name: self.assignment.words_of(self.check_id, name).says for name in tensors}
        order = [name.rsplit(".", 1)[-1] for name in self.assignment.tensors]
        place = {name: order.index(name) if name in order else len(order) for name in tensors}
        return [words[name] or name for name in sorted(tensors, key=lambda name: place[name])]

    def hint(self, tensor: str) -> str:
        """What the assignment would have one think about where a tensor is wrong; empty: nothing in particular."""
        return self.assignment.words_of(self.check_id, tensor).hint

    def tensors(self) -> list[str]:
        """The tensors that count."""
        return list(self.limits)

    def same(self, tensor: str, got: Array | None, other: Array, right: Array) -> bool:
        """Whether a tensor is another within its limit; what is not a number in both is the same.

        The limit is that on the scale of the other or of the right one, whichever is wider: a mistake may leave next
        to nothing, which rounding does not.
        """
        limit = self.limits[tensor]
        if got is None or got.dtype.kind not in "fiu" or (limit.scale in EQUALITIES and got.shape != other.shape):
            return False
        if limit.scale in ("order", "between"):  # their right values are no values to be compared with
            return got.shape == other.shape and bool(np.array_equal(got.astype(np.float64), other.astype(np.float64)))
        if limit.scale not in EQUALITIES:
            return compare("", tensor, got, other, limit).ok
        finite = np.isfinite(other)
        if not ((np.isnan(got) == np.isnan(other)) & (np.isinf(got) == np.isinf(other))).all():
            return False
        value, wanted = (np.where(finite, side, 0.0).astype(np.float64) for side in (got, other))
        allowed = allowed_error(wanted, limit)
        if right.shape == other.shape:
            allowed = np.maximum(allowed, allowed_error(right.astype(np.float64), limit))
        return bool((np.abs(value - wanted) <= allowed).all())


def observe(
    assignment: Assignment,
    tolerances: Tolerances,
    dictionary: Dictionary,
    check_id: str,
    check: Check,
    cases: Sequence[FixtureCase],
    judged: Judged,
) -> Observed:
    """A failed check, as far as its cases handed tensors back."""
    seen = {case.id: _seen(case, judged) for case in cases if case.id in judged.tensors}
    observed = Observed(check_id, check, assignment, dictionary, judged, cases, seen)
    for comparison in judged.comparisons:
        name = comparison.tensor
        if name in check.context or comparison.case not in seen:
            continue
        observed.limits[name] = tolerances.limit(assignment.id, check_id, name, check.official)
        if not comparison.ok and name in seen[comparison.case].got:
            observed.wrong.setdefault(name, {})[comparison.case] = comparison.reason
    return observed


def _seen(case: FixtureCase, judged: Judged) -> CaseSeen:
    derived = _derived(judged, case.id)
    stored = Stored({**case.faults.single, **derived}, case.faults.pairs) if derived else case.faults
    return CaseSeen(
        id=case.id,
        params=case.entry.params,
        got=judged.tensors[case.id],
        expected=judged.expected[case.id],
        stored=stored,
        inputs=cache(lambda: tensorfile.read(case.inputs_path)),
    )


def _derived(judged: Judged, case: str) -> dict[str, dict[str, Array]]:
    """What known mistakes give that depend on what was handed back; nothing where that does not fit together."""
    compute = judged.faults.get(case)
    try:
        return {name: dict(own) for name, own in compute().items()} if compute else {}
    except DOES_NOT_FIT:
        return {}
