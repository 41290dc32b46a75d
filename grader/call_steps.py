"""Two records of calls beside one another, step by step: what was made, what is right, and how they differ.

Calls that are the same are found first, in order; then those that were made at another place; what is left between
them is aligned by function, so that the fewest arguments differ.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from grader.calls import Call
from grader.result import StepKind

ALL_WRONG, LEFT_OUT = 1000, 600  # what a pair costs all of whose arguments differ, and a call without a partner
_LAYER = re.compile(r"\[l=(\d+)\]$")


@dataclass(frozen=True)
class Step:
    """One step: a call that was made, one that is right, or both. Places count from 0."""

    kind: StepKind
    made: Call | None
    right: Call | None
    made_at: int | None = None
    right_at: int | None = None

    @property
    def call(self) -> Call:
        """The right call, or the one that was made where there is none."""
        found = self.right or self.made
        assert found is not None
        return found

    @property
    def wrong(self) -> list[str]:
        """The arguments that differ."""
        if self.made is None or self.right is None:
            return []
        made, right = arguments(self.made), arguments(self.right)
        return [name for name, value in right.items() if made.get(name) != value]

    @property
    def layer(self) -> int | None:
        """The layer that it belongs to."""
        return layer_of(self.call)


def arguments(call: Call) -> dict[str, str | int]:
    """The arguments of a call that may be anything: it comes from the sandbox."""
    found = call.get("args")
    items = found.items() if isinstance(found, dict) else ()
    return {str(name)[:40]: value if type(value) is int else str(value)[:80] for name, value in items}


def function_of(call: Call) -> str:
    """The function's name."""
    return str(call.get("function"))[:80]


def layer_of(call: Call) -> int | None:
    """The layer of most of a call's pointers; None where most have none."""
    pointers = [value for value in arguments(call).values() if isinstance(value, str)]
    layers = Counter(int(found[1]) for value in pointers if (found := _LAYER.search(value)))
    if not layers:
        return None
    layer, count = layers.most_common(1)[0]
    return layer if 2 * count > len(pointers) else None


def steps(made: Sequence[Call], right: Sequence[Call]) -> list[Step]:
    """Both records, aligned, in the order of the calls made; what is not made stands where it should be."""
    keys = [[_key(call) for call in calls] for calls in (made, right)]
    blocks = SequenceMatcher(a=keys[0], b=keys[1], autojunk=False).get_matching_blocks()
    same = {a + i: b + i for a, b, size in blocks for i in range(size)}
    moved = _moved(keys[0], keys[1], same)
    found: list[Step] = []
    at = beside = 0
    for a, b in [*same.items(), (len(made), len(right))]:
        gap = [i for i in range(at, a) if i not in moved], [j for j in range(beside, b) if j not in moved.values()]
        aligned = list(_aligned(made, right, *gap))
        aligned += [Step("moved", made[i], right[moved[i]], i, moved[i]) for i in range(at, a) if i in moved]
        found += sorted(aligned, key=_place)
        if a < len(made) and b < len(right):
            found.append(Step("same", made[a], right[b], a, b))
        at, beside = a + 1, b + 1
    return found


def _key(call: Call) -> tuple[str, tuple[tuple[str, str], ...]]:
    return function_of(call), tuple(sorted((name, repr(value)) for name, value in arguments(call).items()))


def _place(step: Step) -> tuple[int, int]:
    """Calls made in their order; a call that is not made, by its place among the right ones, in front."""
    return (step.made_at if step.made_at is not None else -1, step.right_at if step.right_at is not None else -1)


def _moved(made: Sequence[object], right: Sequence[object], same: dict[int, int]) -> dict[int, int]:
    """Calls that were made as they should be, at another place: made → right."""
    free = [j for j in range(len(right)) if j not in same.values()]
    moved: dict[int, int] = {}
    for i, key in enumerate(made):
        partner = next((j for j in free if right[j] == key), None) if i not in same else None
        if partner is not None:
            moved[i] = partner
            free.remove(partner)
    return moved


def _aligned(made: Sequence[Call], right: Sequence[Call], mine: list[int], theirs: list[int]) -> Iterator[Step]:
    """The cheapest alignment of two short runs of calls."""
    costs = _costs(made, right, mine, theirs)
    i, j = len(mine), len(theirs)
    found: list[Step] = []
    while i or j:
        if i and j and costs[i][j] == costs[i - 1][j - 1] + _differing(made[mine[i - 1]], right[theirs[j - 1]]):
            i, j = i - 1, j - 1
            found.append(Step("changed", made[mine[i]], right[theirs[j]], mine[i], theirs[j]))
        elif i and costs[i][j] == costs[i - 1][j] + LEFT_OUT:
            i -= 1
            found.append(Step("extra", made[mine[i]], None, mine[i]))
        else:
            j -= 1
            found.append(Step("missing", None, right[theirs[j]], None, theirs[j]))
    yield from reversed(found)


def _costs(made: Sequence[Call], right: Sequence[Call], mine: list[int], theirs: list[int]) -> list[list[int]]:
    costs = [[LEFT_OUT * (i + j) for j in range(len(theirs) + 1)] for i in range(len(mine) + 1)]
    for i, a in enumerate(mine, start=1):
        for j, b in enumerate(theirs, start=1):
            beside = costs[i - 1][j - 1] + _differing(made[a], right[b])
            costs[i][j] = min(beside, costs[i - 1][j] + LEFT_OUT, costs[i][j - 1] + LEFT_OUT)
    return costs


def _differing(mine: Call, theirs: Call) -> int:
    """The share of arguments that differ; more than two gaps cost where the functions do."""
    if function_of(mine) != function_of(theirs):
        return 3 * LEFT_OUT
    made, right = arguments(mine), arguments(theirs)
    return ALL_WRONG * sum(made.get(name) != value for name, value in right.items()) // max(len(right), 1)
