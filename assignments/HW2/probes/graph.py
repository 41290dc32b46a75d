"""A program carried out in MiniTorch, its nodes known by number, and the calls of each node's backward counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from assignments.common.arrays import Array
from assignments.HW2.probes import load
from assignments.HW2.probes.program import Step, steps

METHODS = ("exp", "log", "sigmoid", "relu", "tanh")


class Graph:
    """The nodes of a program as tensors.

    Attributes:
        framework: the module ``minitorch``.
        nodes: a tensor for each row of the program.
        calls: how often each node's backward has run.
        adjoints: the sum of what it was given; None before the first call.
    """

    def __init__(
        self,
        framework: Any,
        table: Sequence[Sequence[int]],
        inputs: Mapping[str, Array],
        leaves: Mapping[int, Any] | None = None,
    ) -> None:
        self.framework = framework
        self.backend = load.backend(framework)
        self.inputs = inputs
        self.steps = steps(table)
        self.nodes: list[Any] = []
        for step in self.steps:
            shared = (leaves or {}).get(len(self.nodes))
            self.nodes.append(self._node(step) if shared is None else shared)
        self.calls = [0] * len(self.nodes)
        self.adjoints: list[Array | None] = [None] * len(self.nodes)

    @property
    def root(self) -> Any:
        """The final result."""
        return self.nodes[-1]

    def tensor(self, array: Array, leaf: bool = False) -> Any:
        """An array as a tensor of the framework."""
        return self.framework.tensor(array.tolist(), backend=self.backend, requires_grad=leaf)

    def _node(self, step: Step) -> Any:
        name = step.operation
        if name in ("leaf", "constant"):
            return self.tensor(self.inputs[f"x{step.settings[0]}"], leaf=name == "leaf")
        a, *rest = (self.nodes[i] for i in step.arguments)
        if name in METHODS:
            return getattr(a, name)()
        return self._other(name, a, rest, step.settings)

    def _other(self, name: str, a: Any, rest: list[Any], settings: tuple[int, ...]) -> Any:
        if name == "add":
            return a + rest[0]
        if name == "mul":
            return a * rest[0]
        if name == "matmul":
            return a @ rest[0]
        if name == "neg":
            return -a
        if name == "inv":
            return self.framework.tensor_functions.Inv.apply(a)
        if name == "sum":
            return a.sum(settings[0])
        if name == "contiguous":
            return a.contiguous()
        return getattr(a, name)(*settings)  # permute and view

    def leaves(self) -> dict[int, Any]:
        """The leaves by number."""
        return {i: self.nodes[i] for i, step in enumerate(self.steps) if step.operation == "leaf"}

    def numbers(self, tensors: Sequence[Any]) -> list[int]:
        """The number of each tensor; -1 for one that is not in the graph."""
        known = {node.unique_id: i for i, node in enumerate(self.nodes)}
        return [known.get(tensor.unique_id, -1) for tensor in tensors]

    def count_comparisons(self) -> list[None]:
        """From now on an entry for each time that tensors are compared by ``==``."""
        made: list[None] = []
        original = self.framework.Tensor.__eq__

        def equal(a: Any, b: Any) -> Any:
            made.append(None)
            return original(a, b)

        self.framework.Tensor.__eq__ = equal
        return made

    def watch(self) -> None:
        """From now on counts the calls of each node's backward, by whatever way they are made."""
        for i, node in enumerate(self.nodes):
            if node.history is not None and node.history.last_fn is not None:
                node.history.last_fn = self._watched(i, node.history.last_fn)

    def _watched(self, i: int, function: Any) -> Any:
        def backward(ctx: Any, d_output: Any) -> Any:
            self.calls[i] += 1
            given = np.asarray(d_output.to_numpy() if hasattr(d_output, "to_numpy") else d_output, np.float64)
            known = self.adjoints[i]
            self.adjoints[i] = given if known is None else known + given
            return function.backward(ctx, d_output)

        return type(function.__name__, (function,), {"backward": staticmethod(backward)})

    def gradients(self) -> dict[str, Any]:
        """``x<k>``: the derivative of each leaf that has one; ``has_grad`` [nodes]: which nodes have one."""
        found: dict[str, Any] = {
            f"x{self.steps[i].settings[0]}": leaf.grad.to_numpy()
            for i, leaf in self.leaves().items()
            if leaf.grad is not None
        }
        found["has_grad"] = np.array([node.grad is not None for node in self.nodes], np.int64)
        return found
