"""Computing a fixture set's faults: which tensors each mistake gives, and what two of them give together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from grader.cases import Array, Case
from grader.compare import allowed_error, compare
from grader.errors import InfrastructureError
from grader.fault_tensors import Float, Pair, Stored, sample
from grader.faults import Fault, together
from grader.fixtures import Dictionary, FaultText
from grader.tolerances import Limit, Tolerances

Tensors = dict[str, Array]
Made = tuple[Case, Tensors]  # a case and what is right

PAIR_ELEMENTS = 5000  # two faults at once are computed on cases with outputs of at most this size,
PAIR_CASES = 2  # on so many of them
EQUALITIES = ("max", "element", "absolute")  # limits under which tensors can be added up
ADDS_UP = 0.1  # share of a limit within which two faults together are the sum of both


class CheckFaults:
    """The faults of one check on all its cases.

    Attributes:
        faults: those with a formula.
        stored: by case, what the fixture set is to hold.
        additive: pairs of faults, by number, that together do what each does alone.
    """

    def __init__(
        self, assignment_id: str, check: str, faults: Sequence[Fault], made: Sequence[Made], tolerances: Tolerances
    ) -> None:
        self.faults = faults
        self.made = made
        self._limits: dict[str, Limit] = {}
        for _, right in made:
            for name in right:
                self._limits[name] = tolerances.limit(assignment_id, check, name, official=False)
        self.wrong = [[self._wrong(fault, *one) for one in made] for fault in faults]
        unseen = [fault.id for fault, cases in zip(faults, self.wrong, strict=True) if not any(cases)]
        if unseen:
            raise InfrastructureError(f"no case of {check} tells these faults from right code: {', '.join(unseen)}")
        self.stored = {case.id: Stored() for case, _ in made}
        for fault, cases in zip(faults, self.wrong, strict=True):
            for (case, _), tensors in zip(made, cases, strict=True):
                if tensors:
                    self.stored[case.id].single[fault.id] = tensors
        self.additive: list[Pair] = []
        self._pairs()

    def _wrong(self, fault: Fault, case: Case, right: Tensors) -> Tensors:
        """The tensors of a case that the fault changes beyond their limits."""
        with np.errstate(all="ignore"):
            tensors = fault.tensors(case)
        if strange := sorted(tensors.keys() - right.keys()):
            raise InfrastructureError(
                f"fault {fault.id} computes {', '.join(strange)}, which {case.id} does not expect"
            )
        return {name: value for name, value in tensors.items() if not self._same(name, value, right[name])}

    def _same(self, name: str, value: Array, right: Array, share: float = 1.0) -> bool:
        """Whether a tensor is another within (a share of) its limit."""
        limit = self._limits[name]
        if limit.scale not in EQUALITIES:
            return compare("", name, value, right, limit).ok
        if value.shape != right.shape:
            return False
        got, wanted = value.astype(np.float64), right.astype(np.float64)
        with np.errstate(invalid="ignore"):
            return bool((np.abs(got - wanted) <= share * allowed_error(wanted, limit)).all())

    # -- two at once --------------------------------------------------------------------------------------

    def _pairs(self) -> None:
        if any(limit.scale not in EQUALITIES for limit in self._limits.values()):
            return
        small = self._small()
        for i, j in combinations(range(len(self.faults)), 2):
            both = together(self.faults[i], self.faults[j])
            if both is not None and any(both.switches == fault.switches for fault in self.faults):
                continue
            if both is not None:
                self._pair((i, j), {k: self._wrong(both, *self.made[k]) for k in small})

    def _small(self) -> list[int]:
        """The numbers of the cases that two faults at once are computed on: the largest of those that are small."""
        sizes = {i: sum(array.size for array in right.values()) for i, (_, right) in enumerate(self.made)}
        small = [i for i, size in sizes.items() if size <= PAIR_ELEMENTS]
        return sorted(small, key=lambda i: sizes[i])[-PAIR_CASES:]

    def _pair(self, pair: Pair, wrong: Mapping[int, Tensors]) -> None:
        """Keeps a pair, unless it is what one of the two gives alone, or the sum of what both give."""
        if any(self._equal(wrong, n) for n in pair) or not any(wrong.values()):
            return
        if all(self._adds_up(pair, k, tensors) for k, tensors in wrong.items()):
            self.additive.append(pair)
            return
        for k, tensors in wrong.items():
            case, _ = self.made[k]
            for name, value in tensors.items():
                flat: Float = value.astype(np.float64).reshape(-1)
                self.stored[case.id].pairs.setdefault(name, {})[pair] = flat[sample(flat.size)]

    def _equal(self, wrong: Mapping[int, Tensors], number: int) -> bool:
        """Whether a pair's tensors are those of one fault in every case."""
        for k, tensors in wrong.items():
            one = self.wrong[number][k]
            if one.keys() != tensors.keys() or not all(self._same(n, v, one[n]) for n, v in tensors.items()):
                return False
        return True

    def _adds_up(self, pair: Pair, k: int, tensors: Tensors) -> bool:
        _, right = self.made[k]
        for name, correct in right.items():
            parts = [self.wrong[number][k].get(name, correct) for number in pair]
            if any(part.shape != correct.shape for part in parts):
                return False
            total: Float = sum(part.astype(np.float64) for part in parts) - correct.astype(np.float64)
            if not self._same(name, tensors.get(name, correct), total, ADDS_UP):
                return False
        return True


def dictionary(faults: Sequence[Fault], additive: Mapping[str, Sequence[Pair]]) -> Dictionary:
    """The dictionary as the fixture set keeps it; those with a formula first, since numbers of pairs mean these."""
    ordered = sorted(faults, key=lambda fault: fault.formula is None)
    texts = [FaultText(id=f.id, row=f.row, check=f.check, says=f.says, hint=f.hint, at=f.at) for f in ordered]
    return Dictionary(faults=texts, additive={check: [list(pair) for pair in own] for check, own in additive.items()})


def of_all(
    assignment_id: str, faults: Sequence[Fault], made: Sequence[Made], tolerances: Tolerances
) -> tuple[dict[str, Stored], dict[str, list[Pair]]]:
    """The faults' tensors by case, and the additive pairs by check.

    Raises:
        InfrastructureError: a fault cannot be told from right code by any case, or computes what is not expected.
    """
    stored: dict[str, Stored] = {}
    additive: dict[str, list[Pair]] = {}
    for check in dict.fromkeys(fault.check for fault in faults if fault.formula):
        own = [fault for fault in faults if fault.check == check and fault.formula]
        found = CheckFaults(assignment_id, check, own, [one for one in made if one[0].check == check], tolerances)
        stored |= found.stored
        additive[check] = found.additive
    return stored, additive
