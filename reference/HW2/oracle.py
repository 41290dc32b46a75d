"""HW2's oracle: what right code makes of a case, in PyTorch's float64 and by its autograd.

MiniTorch's logarithm adds 1e-6 to its argument, so the oracle's does. Where a right answer is not one number
(an order, random initial values, a loss at the edge of the logarithm) the expected tensor says what is right in
the terms of `grader.tolerances.Limit`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from assignments.HW2.data import known
from assignments.HW2.formulas import LOG_EPS, loss_bounds
from assignments.HW2.probes.program import Step, steps
from grader.cases import Array, Case
from grader.fixtures import Call
from grader.home import ROOT

Tensors = dict[str, Tensor]
Float = NDArray[np.float64]

CORPUS = ROOT / "fixtures" / "HW2" / "corpus"
INITIAL = 0.05  # RParam draws uniformly from -0.05 to 0.05


def expected(case: Case) -> dict[str, Array]:
    """The expected tensors of a case, float64 or int64, by name.

    Raises:
        KeyError: the oracle does not know the case's check.
    """
    outputs = ORACLES[case.check](case)
    return {name: value.detach().numpy().copy() for name, value in outputs.items()}


def expected_calls(params: object) -> list[Call]:
    """No check of HW2 records calls.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("HW2 records no calls")


def given_tensors(case: Case) -> Tensors:
    """The inputs as float64 or int64 tensors."""
    return {name: _wide(torch.from_numpy(np.array(value))) for name, value in case.inputs.items()}


def _wide(value: Tensor) -> Tensor:
    return value.double() if value.is_floating_point() else value.long()


def _backward(root: Tensor, derivative: Tensor | None = None, retain_graph: bool = False) -> None:
    torch.autograd.backward([root], None if derivative is None else [derivative], retain_graph=retain_graph)


# ---- P1 ----------------------------------------------------------------------------------------------------


class Graph:
    """A program carried out by PyTorch.

    Attributes:
        steps: its steps.
        nodes: a tensor for each.
    """

    def __init__(self, table: Array, given: Tensors, leaves: dict[str, Tensor] | None = None) -> None:
        self.steps = steps(table.tolist())
        self.leaves: dict[str, Tensor] = dict(leaves or {})
        self.nodes: list[Tensor] = []
        for step in self.steps:
            node = self._node(step, given)
            if node.requires_grad and not node.is_leaf:
                node.retain_grad()
            self.nodes.append(node)

    def _node(self, step: Step, given: Tensors) -> Tensor:
        if step.operation == "constant":
            return given[f"x{step.settings[0]}"]
        if step.operation == "leaf":
            name = f"x{step.settings[0]}"
            return self.leaves.setdefault(name, given[name].clone().requires_grad_())
        return APPLY[step.operation]([self.nodes[i] for i in step.arguments], step.settings)

    def reached(self) -> list[int]:
        """The nodes that the root depends on and that are no constants, the root among them."""
        found, waiting = set(), [len(self.nodes) - 1]
        while waiting:
            node = waiting.pop()
            if node not in found and self.nodes[node].requires_grad:
                found.add(node)
                waiting += self.steps[node].arguments
        return sorted(found)

    def gradients(self) -> Tensors:
        """The derivative of each leaf that has one, and which nodes have one in MiniTorch: these leaves."""
        found = {name: leaf.grad for name, leaf in self.leaves.items() if leaf.grad is not None}
        has = [s.operation == "leaf" and f"x{s.settings[0]}" in found for s in self.steps]
        return {**found, "has_grad": torch.tensor(has).long()}


APPLY: dict[str, Callable[[Sequence[Tensor], tuple[int, ...]], Tensor]] = {
    "add": lambda a, s: a[0] + a[1],
    "mul": lambda a, s: a[0] * a[1],
    "neg": lambda a, s: -a[0],
    "exp": lambda a, s: a[0].exp(),
    "log": lambda a, s: (a[0] + LOG_EPS).log(),
    "sigmoid": lambda a, s: a[0].sigmoid(),
    "relu": lambda a, s: a[0].relu(),
    "tanh": lambda a, s: a[0].tanh(),
    "inv": lambda a, s: 1 / a[0],
    "matmul": lambda a, s: a[0] @ a[1],
    "sum": lambda a, s: a[0].sum(s[0], keepdim=True),
    "permute": lambda a, s: a[0].permute(s),
    "view": lambda a, s: a[0].reshape(s),
    "contiguous": lambda a, s: a[0].contiguous().clone(),
}


def topological_sort(case: Case) -> Tensors:
    """``order`` and ``again`` [edges + nodes, 2]: the edges, and each required node twice (see `Limit`)."""
    given = given_tensors(case)
    graph = Graph(given["program"].numpy(), given)
    reached = graph.reached()
    rows = [(node, node) for node in reached]
    rows += [(node, a) for node in reached for a in graph.steps[node].arguments if a in reached]
    return {"order": torch.tensor(rows), "again": torch.tensor(rows)}


def gradients(case: Case) -> Tensors:
    """``x<k>``: the derivative of each leaf; ``adjoints`` [nodes]: of each node that is no leaf, where asked for."""
    given = given_tensors(case)
    graph = Graph(given["program"].numpy(), given)
    _backward(graph.nodes[-1], given["deriv"])
    found = graph.gradients()
    if "adjoints" in case.params:
        inner = [n.grad if not n.is_leaf else None for n in graph.nodes]
        found["adjoints"] = torch.stack([torch.zeros(()).double() if g is None else g.sum() for g in inner])
    return found


def accumulation(case: Case) -> Tensors:
    """The sum of two calls' derivatives."""
    given = given_tensors(case)
    graph = Graph(given["program"].numpy(), given)
    _backward(graph.nodes[-1], given["deriv"], retain_graph=True)
    if case.params["fresh"]:
        graph = Graph(given["second"].numpy(), given, graph.leaves)
    _backward(graph.nodes[-1], given["deriv2"])
    return graph.gradients()


def chain_rule_once(case: Case) -> Tensors:
    """``calls`` [nodes]: 1 for each node that the root depends on and that is no leaf."""
    given = given_tensors(case)
    graph = Graph(given["program"].numpy(), given)
    reached = set(graph.reached())
    return {"calls": torch.tensor([int(i in reached and not n.is_leaf) for i, n in enumerate(graph.nodes)])}


def leaves_alone(case: Case) -> Tensors:
    """The derivatives of the leaves, and nothing else."""
    return {name: value for name, value in gradients(case).items() if name != "has_grad"}


def of_one(case: Case) -> Tensors:
    """The derivatives by the leaves of a number, begun with 1."""
    given = given_tensors(case)
    graph = Graph(given["program"].numpy(), given)
    _backward(graph.nodes[-1])
    return {name: leaf.grad for name, leaf in graph.leaves.items() if leaf.grad is not None}


# ---- P2 ----------------------------------------------------------------------------------------------------


def uniform(*shape: int) -> Tensor:
    """An even sample of what RParam draws from."""
    size = int(np.prod(shape))
    return torch.from_numpy(np.linspace(-INITIAL, INITIAL, size).reshape(shape))


def linear_init(case: Case) -> Tensors:
    """``weights`` [in_size, out_size] and ``bias`` [out_size], spread as RParam spreads them."""
    in_size, out_size = int(case.params["in_size"]), int(case.params["out_size"])
    return {"weights": uniform(in_size, out_size), "bias": uniform(out_size)}


def linear_forward(case: Case) -> Tensors:
    """``y`` [batch, out_size] = x · weights + bias, and the derivatives of ``(y · dy).sum()``."""
    given = given_tensors(case)
    leaves = {name: given[name].requires_grad_() for name in ("x", "weights", "bias")}
    y = F.linear(given["x"], given["weights"].T, given["bias"])
    return {"y": y, **_derivatives(y, given["dy"], leaves)}


def _derivatives(out: Tensor, derivative: Tensor, leaves: Tensors) -> Tensors:
    """``d<name>`` of each leaf."""
    grads = torch.autograd.grad(out, list(leaves.values()), derivative)
    return {f"d{name}": grad for name, grad in zip(leaves, grads, strict=True)}


def network_init(case: Case) -> Tensors:
    """The four parameters by shape; ``w1`` is large enough for its spread to be judged, the others for their size."""
    dim, hidden = int(case.params["embedding_dim"]), int(case.params["hidden_dim"])
    small = {"b1": torch.zeros(hidden), "w2": torch.zeros(hidden, 1), "b2": torch.zeros(1)}
    return {"w1": uniform(dim, hidden), **{name: value.double() for name, value in small.items()}}


def network(given: Tensors) -> Tensor:
    """The probability of each sentence ``[batch]``, without dropout."""
    hidden = F.relu(given["embeddings"].mean(1) @ given["w1"] + given["b1"])
    return torch.sigmoid(hidden @ given["w2"] + given["b2"]).squeeze(1)


def network_forward(case: Case) -> Tensors:
    """``out`` [batch], and the derivatives of ``(out · dout).sum()`` by the parameters."""
    given = given_tensors(case)
    leaves = {name: given[name].requires_grad_() for name in ("w1", "b1", "w2", "b2")}
    out = network(given)
    return {"out": out, **_derivatives(out, given["dout"], leaves)}


def network_dropout(case: Case) -> Tensors:
    """``evaluation`` [batch]: what the network gives with dropout off; the rest is derived from the output."""
    return {"evaluation": network(given_tensors(case))}


# ---- P3 ----------------------------------------------------------------------------------------------------


def cross_entropy(out: Tensor, y: Tensor) -> Tensor:
    """The mean binary cross entropy, with what MiniTorch's logarithm adds."""
    return -(y * (out + LOG_EPS).log() + (1 - y) * (1 - out + LOG_EPS).log()).mean()


def loss(case: Case) -> Tensors:
    """``loss`` [1], and ``dout`` [batch], its derivative."""
    given = given_tensors(case)
    out = given["out"].requires_grad_()
    value = cross_entropy(out, given["y"])
    _backward(value)
    assert out.grad is not None
    return {"loss": value.reshape(1), "dout": out.grad}


def loss_extremes(case: Case) -> Tensors:
    """``loss`` [1, 2]: the least and the greatest value of a right loss at outputs of 0, 1 and next to them."""
    out, y = (case.inputs[name].astype(np.float64) for name in ("out", "y"))
    return {"loss": torch.from_numpy(loss_bounds(out, y)).reshape(1, 2)}


def training_loop(case: Case) -> Tensors:
    """Nothing in advance: what is right of a loop follows from the parameters that the student's hands over."""
    return {"nothing": torch.zeros(1).double()}


def accuracy(case: Case) -> Tensors:
    """What the judge needs to compute accuracies: mean embeddings and labels, the held-out ones too."""
    return {name: torch.from_numpy(value) for name, value in known(CORPUS).items()}


ORACLES: dict[str, Callable[[Case], Tensors]] = {
    "topological_sort": topological_sort,
    "gradients": gradients,
    "accumulation": accumulation,
    "chain_rule_once": chain_rule_once,
    "deep": leaves_alone,
    "leaf_root": leaves_alone,
    "scalar_variable": of_one,
    "linear_init": linear_init,
    "linear_forward": linear_forward,
    "network_init": network_init,
    "network_forward": network_forward,
    "network_dropout": network_dropout,
    "loss": loss,
    "loss_extremes": loss_extremes,
    "loss_extremes_in_loop": training_loop,
    "training_loop": training_loop,
    "validation_loop": training_loop,
    "accuracy": accuracy,
}
