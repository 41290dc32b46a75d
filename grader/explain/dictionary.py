"""Looking a wrong tensor up in the fault dictionary: one known mistake, or two at once.

A mistake explains a tensor if the tensor equals the mistake's within its limit in every case, those in which the
mistake changes nothing among them. One that explains all tensors of a check, the right ones too, goes before two that
do, and these before mistakes that explain one tensor each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from grader.explain.observed import EQUALITIES, CaseSeen, Float, Observed
from grader.fault_tensors import Pair, sample
from grader.fixtures import FaultText

LEAST_FOR_TWO = 8  # elements of a tensor: any few numbers are the sum of some two changes
MOST_IN_PART = 2  # mistakes in single outputs that are named where more is wrong than they explain
MOST_NAMED = 3  # mistakes that give the same tensors


@dataclass(frozen=True)
class Match:
    """A mistake, or two at once, that some tensors equal; ``alike``: others that give the same."""

    faults: tuple[FaultText, ...]
    tensors: tuple[str, ...]
    whole: bool
    alike: tuple[tuple[FaultText, ...], ...] = ()


class Lookup:
    """The dictionary's part for one check, beside what was handed back."""

    def __init__(self, observed: Observed) -> None:
        self.observed = observed
        self.faults = observed.dictionary.of_check(observed.owner)
        self.additive: list[Pair] = [(i, j) for i, j in observed.dictionary.additive.get(observed.owner, [])]

    def matches(self) -> list[Match]:
        """The fewest mistakes that explain the wrong tensors, as far as the dictionary knows them."""
        wrong = list(self.observed.wrong)
        if not wrong or not self.faults:
            return []
        for candidates in (self._singles(), self._pairs()):
            explained = [(faults, self._explained(faults)) for faults in candidates]
            if whole := [faults for faults, tensors in explained if tensors is not None and set(tensors) == set(wrong)]:
                return [self._match(whole, wrong, True)]
        found = list(self._tensor_by_tensor(wrong))
        covered = {tensor for match in found for tensor in match.tensors}
        return found if len(found) <= MOST_IN_PART or covered == set(wrong) else []

    def _match(self, found: Sequence[tuple[int, ...]], tensors: Sequence[str], whole: bool) -> Match:
        alone = len(found[0]) == 1  # of two at once there are many that give the same
        texts = [tuple(self.faults[n] for n in numbers) for numbers in found[: MOST_NAMED if alone else 1]]
        return Match(texts[0], tuple(tensors), whole, tuple(texts[1:]))

    def _singles(self) -> Iterator[tuple[int, ...]]:
        return ((n,) for n in range(len(self.faults)))

    def _pairs(self) -> Iterator[tuple[int, ...]]:
        stored = {pair for case in self.observed.cases.values() for own in case.stored.pairs.values() for pair in own}
        yield from sorted({*stored, *self.additive})

    def _explained(self, numbers: tuple[int, ...]) -> list[str] | None:
        """The wrong tensors that it explains; None where a tensor speaks against it."""
        found = []
        for tensor in self.observed.tensors():
            if not self._agrees(numbers, tensor):
                return None
            if tensor in self.observed.wrong:
                found.append(tensor)
        return found

    def _tensor_by_tensor(self, wrong: Sequence[str]) -> Iterator[Match]:
        """Mistakes in single outputs; one that explains several tensors is named once."""
        left = list(wrong)
        for candidates in (list(self._singles()), list(self._pairs())):
            while left:
                covers = [(n, [t for t in left if self._agrees(n, t)]) for n in candidates]
                covers = [(n, own) for n, own in covers if own and self._plausible(n)]
                if not covers:
                    break
                _, tensors = max(covers, key=lambda cover: (len(cover[1]), self._agreeing(cover[0])))
                alike = sorted((n for n, own in covers if own == tensors), key=self._agreeing, reverse=True)
                alike = [n for n in alike if self._agreeing(n) == self._agreeing(alike[0])]
                yield self._match(alike, tensors, False)
                left = [tensor for tensor in left if tensor not in tensors]

    def _plausible(self, numbers: tuple[int, ...]) -> bool:
        """Whether at least half of the tensors that the mistakes change are as they leave them."""
        ids = [self.faults[n].id for n in numbers]
        changed = {t for case in self.observed.cases.values() for i in ids for t in case.stored.single.get(i, {})}
        changed &= self.observed.limits.keys()  # tensors that give context alone are not judged
        return 2 * sum(self._agrees(numbers, tensor) for tensor in changed) >= len(changed)

    def _agreeing(self, numbers: tuple[int, ...]) -> int:
        """How many tensors, right ones among them, are as the mistakes leave them."""
        return sum(self._agrees(numbers, tensor) for tensor in self.observed.tensors())

    # -- one tensor ---------------------------------------------------------------------------------------

    def _agrees(self, numbers: tuple[int, ...], tensor: str) -> bool:
        """Whether a tensor is in all cases what the mistakes give."""
        cases = [case for case in self.observed.cases.values() if tensor in case.expected]
        if len(numbers) == 1:
            return all(self._is_one(self.faults[numbers[0]].id, tensor, case) for case in cases)
        pair = (numbers[0], numbers[1])
        if self.observed.limits[tensor].scale not in EQUALITIES:
            return False
        if tensor in self.observed.wrong and sum(case.expected[tensor].size for case in cases) < LEAST_FOR_TWO:
            return False
        if pair in self.additive:
            return all(self._is_sum(pair, tensor, case) for case in cases)
        return self._is_pair(pair, tensor, cases)

    def _right(self, tensor: str, case: CaseSeen) -> bool:
        return case.id not in self.observed.wrong.get(tensor, []) and tensor in case.got

    def _is_one(self, fault: str, tensor: str, case: CaseSeen) -> bool:
        value = case.stored.single.get(fault, {}).get(tensor)
        if value is None:
            return self._right(tensor, case)
        return self.observed.same(tensor, case.got.get(tensor), value, case.expected[tensor])

    def _is_sum(self, pair: Pair, tensor: str, case: CaseSeen) -> bool:
        right = case.expected[tensor].astype(np.float64)
        parts = [case.stored.single.get(self.faults[n].id, {}).get(tensor) for n in pair]
        changed = [part.astype(np.float64) for part in parts if part is not None]
        if not changed:
            return self._right(tensor, case)
        if any(part.shape != right.shape for part in changed):
            return False
        total: Float = right + sum(part - right for part in changed)
        return self.observed.same(tensor, case.got.get(tensor), total, right)

    def _is_pair(self, pair: Pair, tensor: str, cases: Sequence[CaseSeen]) -> bool:
        """By the samples that are kept of two at once, in the cases for which they are."""
        kept = [case for case in cases if any(pair in own for own in case.stored.pairs.values())]
        for case in kept:
            value = case.stored.pairs.get(tensor, {}).get(pair)
            if value is None and not self._right(tensor, case):
                return False
            if value is not None:
                got = case.got.get(tensor)
                if got is None or got.shape != case.expected[tensor].shape:
                    return False
                kept_of, right = sample(got.size), case.expected[tensor].reshape(-1)
                if not self.observed.same(tensor, got.reshape(-1)[kept_of], value, right[kept_of]):
                    return False
        return bool(kept)
