"""Mistakes of ``backpropagate`` on the oracle's graphs; PyTorch gives the derivatives of single operations."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from grader.cases import Array, Case
from grader.faults import Fault, Switches, family
from reference.HW2 import oracle
from reference.HW2.oracle import APPLY, Graph

FIRST, LAST = 1, -1  # with which parent a walk begins


def order(graph: Graph, turn: int) -> list[int]:
    """A right order: the finished nodes of a walk that takes the parents from the first (1) or the last (-1)."""
    finished: list[int] = []
    seen: set[int] = set()
    waiting = [(len(graph.nodes) - 1, False)]
    while waiting:
        node, done = waiting.pop()
        if done:
            finished.append(node)
        elif node not in seen and graph.nodes[node].requires_grad:
            seen.add(node)
            waiting.append((node, True))
            waiting += [(parent, False) for parent in graph.steps[node].arguments[::turn][::-1]]
    return finished[::-1]


def chain_rule(graph: Graph, node: int, d: Tensor) -> list[tuple[int, Tensor]]:
    """Each parent that is no constant, with its part of the derivative."""
    step = graph.steps[node]
    given = [graph.nodes[i].detach().requires_grad_() for i in step.arguments]
    result = APPLY[step.operation](given, step.settings)
    parts = torch.autograd.grad(result, given, d)
    pairs = zip(step.arguments, parts, strict=True)
    return [(parent, part) for parent, part in pairs if graph.nodes[parent].requires_grad]


class Call:
    """One call of ``backpropagate``.

    Attributes:
        on: the switches.
        leaves: what the leaves have gathered, by name.
        known: the derivatives of the nodes so far.
        adjoints: what each node's chain rule was given.
    """

    def __init__(self, on: Switches, leaves: dict[str, Tensor], known: dict[int, Tensor]) -> None:
        self.on, self.leaves, self.known = on, leaves, known
        self.adjoints: dict[int, Tensor] = {}

    def run(self, graph: Graph, deriv: Tensor) -> None:
        """Carries it out."""
        root = len(graph.nodes) - 1
        self.known[root] = torch.ones_like(deriv) if "begins-with-one" in self.on else deriv
        for node in order(graph, FIRST if "from-the-first" in self.on else LAST):
            d = self.known.get(node)
            if d is None:
                continue
            if not graph.steps[node].arguments:
                self.accumulate(f"x{graph.steps[node].settings[0]}", d)
                if "stops-at-a-leaf" in self.on:
                    return
                continue
            self.adjoints[node] = d
            parts = chain_rule(graph, node, d)
            if "one-parent" in self.on:
                parts = [part for part in parts if part[0] == graph.steps[node].arguments[0]][:1]
            for parent, part in parts:
                self.known[parent] = self.joined(self.known.get(parent), part)

    def joined(self, known: Tensor | None, part: Tensor) -> Tensor:
        """A node's derivative with one more part."""
        if known is None or "last-part" in self.on:
            return part
        if "first-part" in self.on:
            return known
        return (known + part) / 2 if "halved" in self.on else known + part

    def accumulate(self, leaf: str, d: Tensor) -> None:
        """A leaf's own derivative."""
        if "negated" in self.on:
            d = -d
        if "leaf-twice" in self.on:
            d = 2 * d
        if "summed-over" in self.on:
            d = d.sum().expand(d.shape)
        before = self.leaves.get(leaf)
        self.leaves[leaf] = d if before is None or "overwritten" in self.on else before + d


def _tensors(graph: Graph, call: Call, right: Mapping[str, Array]) -> dict[str, Array]:
    """As the oracle has them; a leaf that has received nothing keeps what is right, since it hands back nothing."""
    on, leaves = call.on, {} if "nothing-accumulated" in call.on else call.leaves
    marked = graph.reached() if "marks-all" in on else []
    has = [s.operation == "leaf" and f"x{s.settings[0]}" in leaves for s in graph.steps]
    found = {**right, **{name: value.numpy() for name, value in leaves.items() if name in right}}
    found["has_grad"] = torch.tensor([own or i in marked for i, own in enumerate(has)]).long().numpy()
    if "adjoints" in right:
        sums = [float(call.adjoints[i].sum()) if i in call.adjoints else 0.0 for i in range(len(graph.nodes))]
        found["adjoints"] = torch.tensor(sums, dtype=torch.float64).numpy()
    return found


def gradients(case: Case, on: Switches) -> Mapping[str, Array]:
    """One call; with no switch turned it is right."""
    given = oracle.given_tensors(case)
    graph = Graph(given["program"].numpy(), given)
    call = Call(on, {}, {})
    call.run(graph, given["deriv"])
    return _tensors(graph, call, oracle.expected(case))


def accumulation(case: Case, on: Switches) -> Mapping[str, Array]:
    """Two calls."""
    given = oracle.given_tensors(case)
    graph = Graph(given["program"].numpy(), given)
    first = Call(on, {}, {})
    first.run(graph, given["deriv"])
    kept = first.known if "kept-between-calls" in on and not case.params["fresh"] else {}
    if case.params["fresh"]:
        graph = Graph(given["second"].numpy(), given, graph.leaves)
        own = {i: first.leaves.get(f"x{s.settings[0]}") for i, s in enumerate(graph.steps) if s.operation == "leaf"}
        if "kept-between-calls" in on:
            kept = {i: value for i, value in own.items() if value is not None}
    second = Call(on, dict(first.leaves), kept)
    second.run(graph, given["deriv2"])
    return _tensors(graph, second, oracle.expected(case))


def calls(case: Case, on: Switches) -> Mapping[str, Array]:
    """How often the chain rule is used on each node."""
    right = oracle.expected(case)["calls"]
    return {"calls": right * 2 if "chain-rule-twice" in on else right}


PARTS = "a variable that is used twice gets two parts: what is its derivative?"
LEAF = "what is done with a leaf's derivative, and how often?"
ALL = "do all variables in the order get their turn, with all their parents?"
GRADIENTS: dict[str, tuple[str, str]] = {
    "last-part-wins=last-part": ("a part of a derivative takes the place of the parts before", PARTS),
    "last-part-wins-from-the-first=last-part+from-the-first": (
        "a part of a derivative takes the place of the parts before",
        PARTS,
    ),
    "first-part-wins=first-part": ("the first part of a derivative is kept, and the others are dropped", PARTS),
    "first-part-wins-from-the-first=first-part+from-the-first": (
        "the first part of a derivative is kept, and the others are dropped",
        PARTS,
    ),
    "halved": ("a part is averaged with those before it, not added to them", PARTS),
    "halved-from-the-first=halved+from-the-first": (
        "a part is averaged with those before it, not added to them",
        PARTS,
    ),
    "begins-with-one": ("it begins with 1, whatever derivative it is given", "what is `deriv` for?"),
    "marks-all": (
        "every variable on the way keeps a derivative, not the leaves alone",
        "which variables does the handout let accumulate?",
    ),
    "leaf-twice": ("a leaf accumulates its derivative twice", LEAF),
    "negated": ("a leaf accumulates its derivative with the wrong sign", LEAF),
    "nothing-accumulated": ("no leaf accumulates anything", LEAF),
    "summed-over": ("a leaf accumulates the sum over its derivative's elements", LEAF),
    "stops-at-a-leaf": ("it ends at the first leaf", ALL),
    "stops-at-a-leaf-from-the-first=stops-at-a-leaf+from-the-first": ("it ends at the first leaf", ALL),
    "one-parent": ("the first parent alone is given its part", ALL),
}
TWO = "what has a leaf from the call before, and what is it to have after this one?"
ACCUMULATION: dict[str, tuple[str, str]] = {
    "overwritten": ("a leaf's derivative is set, so that what it had before is lost", TWO),
    "kept-between-calls": (
        "the derivatives of an earlier call are still there in the next",
        "where is the dictionary of derivatives made, and when is it made anew?",
    ),
}
CALLS: dict[str, tuple[str, str]] = {
    "chain-rule-twice": ("the chain rule is used twice on each variable", "where is `chain_rule` called, and for what?")
}

FAULTS: list[Fault] = [
    *family("backpropagate", "gradients", "back", gradients, GRADIENTS, [key.split("=")[0] for key in GRADIENTS]),
    *family("backpropagate", "accumulation", "back", accumulation, ACCUMULATION, ["kept-between-calls"]),
    *family("backpropagate", "chain_rule_once", "back", calls, CALLS),
]
