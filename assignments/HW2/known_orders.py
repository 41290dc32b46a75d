"""What known mistakes of ``topological_sort`` return: told from the order itself, since many orders are right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assignments.HW2.probes.program import steps
from grader.cases import Array
from grader.compare import order_problem

ONE_WAY = ("first-parent", "last-parent")
NO_ORDER = np.array([-7])  # equals nothing that a probe hands back
Order = list[int]


@dataclass(frozen=True)
class Walks:
    """A graph and its right orders.

    Attributes:
        parents: of each node, constants among them.
        rows: the edges, and each required node twice, as the fixture set has them.
    """

    parents: Sequence[Sequence[int]]
    rows: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, program: Array, rows: Array) -> Walks:
        """From a program's table and the expected tensor."""
        parents = [step.arguments for step in steps(program.tolist())]
        return cls(parents, [(int(a), int(b)) for a, b in rows.reshape(-1, 2)])

    @property
    def root(self) -> int:
        """The last node."""
        return len(self.parents) - 1

    @cached_property
    def required(self) -> frozenset[int]:
        """The nodes that belong in the order."""
        return frozenset(a for a, b in self.rows if a == b)

    @property
    def longest(self) -> int:
        """The length at which the probe stops to read."""
        return 4 * len(self.parents) + 4

    def right(self, order: Order, nodes: frozenset[int] | None = None) -> bool:
        """Whether an order is right, for all nodes or for some of them."""
        kept = self.required if nodes is None else nodes
        return not order_problem(order, [(a, b) for a, b in self.rows if a in kept and b in kept])

    def kept(self, node: int, turn: int = 1) -> list[int]:
        """A node's parents without constants, from the first (1) or from the last (-1)."""
        return [p for p in self.parents[node] if p in self.required][::turn]

    def followed(self, pick: int) -> frozenset[int]:
        """The nodes that are met when one parent of each is followed."""
        found, node = {self.root}, self.root
        while self.parents[node] and (node := self.parents[node][pick]) in self.required:
            found.add(node)
        return frozenset(found)

    def breadth_first(self, turn: int) -> Order:
        """The order of a queue."""
        found = [self.root]
        for node in found:
            found += [p for p in dict.fromkeys(self.kept(node, turn)) if p not in found]
        return found

    def preorder(self, turn: int) -> Order:
        """The order of meeting in a walk into the depth."""
        found: Order = []
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.append(node)
                waiting += self.kept(node, turn)[::-1]
        return found

    def to_the_first_leaf(self, turn: int) -> Order:
        """The path that a walk goes before it puts anything in."""
        found = [self.root]
        while kept := self.kept(found[-1], turn):
            found.append(kept[0])
        return found


def _once(order: Order) -> Order:
    """Each node where it comes last."""
    return list(dict.fromkeys(order[::-1]))[::-1]


def _again(walks: Walks, order: Order) -> bool:
    repeats = len(set(order)) < len(order) and set(order) <= walks.required
    return repeats and (len(order) == walks.longest or walks.right(_once(order)))


def _with_constants(walks: Walks, order: Order) -> bool:
    extra = {node for node in order if node not in walks.required}
    return bool(extra) and min(extra) >= 0 and walks.right([node for node in order if node in walks.required])


def _one_parent(pick: int) -> Callable[[Walks, Order], bool]:
    return lambda walks, order: walks.right(order, walks.followed(pick))


def _leaves(walks: Walks) -> frozenset[int]:
    return frozenset(node for node in walks.required if not walks.parents[node])


LOOKS: Mapping[str, Callable[[Walks, Order], bool]] = {
    "reversed": lambda w, order: w.right(order[::-1]),
    "by-creation": lambda w, order: order == sorted(w.required),
    "without-visited": _again,
    "breadth-first": lambda w, order: order in (w.breadth_first(1), w.breadth_first(-1)),
    "preorder": lambda w, order: order in (w.preorder(1), w.preorder(-1)),
    "with-constants": _with_constants,
    "without-root": lambda w, order: w.right([w.root, *order]),
    "without-leaves": lambda w, order: w.right(order, w.required - _leaves(w)),
    "root-alone": lambda w, order: order == [w.root],
    "empty": lambda w, order: not order,
    "first-parent": _one_parent(0),
    "last-parent": _one_parent(-1),
    "membership-by-value": lambda w, order: order in (w.to_the_first_leaf(1), w.to_the_first_leaf(-1)),
}


def faults(program: Array, right: Mapping[str, Array], got: Mapping[str, Array]) -> dict[str, dict[str, Array]]:
    """By fault what it gives in a case: the order that was handed back, where that is of its kind.

    Args:
        program: the case's table.
        right: ``order`` and ``again`` as the fixture set has them.
        got: the same as they were handed back, and how often tensors were ``compared`` by ``==``.
    """
    walks = {name: Walks.of(program, rows) for name, rows in right.items()}
    orders = {name: [int(node) for node in got[name].reshape(-1)] for name in right if name in got}
    wrong = [name for name, order in orders.items() if not walks[name].right(order)]
    by_value = bool(got.get("compared", np.zeros(1)).any())
    others = ONE_WAY if by_value else ("membership-by-value",)  # the walk alone does not tell these apart
    alike = len(wrong) != 1  # what is done wrong in one of two calls alone is no mistake of the walk
    found: dict[str, dict[str, Array]] = {}
    for fault, looks in LOOKS.items():
        seen = alike and fault not in others
        found[f"sort-{fault}"] = {n: got[n] if seen and looks(walks[n], orders[n]) else NO_ORDER for n in wrong}
    found["sort-kept-visited"] = {"again": np.zeros(0, np.int64)}
    return found
