"""A number as a variable: the protocol of `minitorch.autodiff.Variable`, and nothing more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from assignments.common.arrays import Array
from assignments.HW2.probes.program import steps

_numbers = count(1)


@dataclass(eq=False)
class Scalar:
    """A number in a computation graph.

    Attributes:
        value: the number.
        inputs: what it was computed from, with the derivative by each.
        constant: whether it takes no part in differentiation.
        derivative: what a leaf has gathered.
    """

    value: float
    inputs: list[tuple[Scalar, float]] = field(default_factory=list)
    constant: bool = False
    derivative: float | None = None
    unique_id: int = field(default_factory=lambda: next(_numbers))

    def accumulate_derivative(self, x: float) -> None:
        """Adds to the derivative."""
        self.derivative = (self.derivative or 0.0) + x

    def is_leaf(self) -> bool:
        """Whether it was given."""
        return not self.inputs and not self.constant

    def is_constant(self) -> bool:
        """Whether it takes no part."""
        return self.constant

    @property
    def parents(self) -> list[Scalar]:
        """What it was computed from."""
        return [parent for parent, _ in self.inputs]

    def chain_rule(self, d_output: float) -> list[tuple[Scalar, float]]:
        """The part of each parent's derivative that comes through it."""
        return [(parent, slope * d_output) for parent, slope in self.inputs]


def _made(operation: str, a: list[Scalar]) -> Scalar:
    if operation == "add":
        return Scalar(a[0].value + a[1].value, [(a[0], 1.0), (a[1], 1.0)])
    if operation == "mul":
        return Scalar(a[0].value * a[1].value, [(a[0], a[1].value), (a[1], a[0].value)])
    assert operation == "exp", operation
    value = math.exp(a[0].value)
    return Scalar(value, [(a[0], value)])


def scalar_program(table: Sequence[Sequence[int]], inputs: Mapping[str, Array]) -> tuple[Scalar, dict[int, Scalar]]:
    """The root of a program of additions, products and exponentials of numbers, and its leaves by input."""
    nodes: list[Scalar] = []
    leaves: dict[int, Scalar] = {}
    for step in steps(table):
        if step.operation in ("leaf", "constant"):
            number = step.settings[0]
            node = Scalar(float(inputs[f"x{number}"].item()), constant=step.operation == "constant")
            if step.operation == "leaf":
                leaves[number] = node
        else:
            node = _made(step.operation, [nodes[i] for i in step.arguments])
        nodes.append(node)
    return nodes[-1], leaves
