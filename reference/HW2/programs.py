"""The computation graphs of P1's cases, written as programs (see `assignments.HW2.probes.program`)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from assignments.HW2.probes.program import Step

Float = NDArray[np.float64]
Shape = tuple[int, ...]


@dataclass
class Program:
    """A graph under construction; its methods return node numbers.

    Attributes:
        rng: draws the inputs.
        steps: the nodes so far.
        inputs: the input tensors by number.
    """

    rng: Generator
    steps: list[Step] = field(default_factory=list)
    inputs: list[Float] = field(default_factory=list)

    def _given(self, kind: str, value: Float) -> int:
        self.inputs.append(value)
        return self._put(Step(kind, (), (len(self.inputs) - 1,)))

    def _put(self, step: Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def leaf(self, *shape: int) -> int:
        """A leaf with values of size 0.3 to 1.3, of both signs."""
        return self._given("leaf", self.values(shape))

    def at(self, value: float) -> int:
        """A leaf that is one given number, of shape ``[1]``."""
        return self._given("leaf", np.array([value]))

    def constant(self, *shape: int) -> int:
        """A constant with values like a leaf's."""
        return self._given("constant", self.values(shape))

    def constant_at(self, value: float) -> int:
        """A constant that is one given number, of shape ``[1]``."""
        return self._given("constant", np.array([value]))

    def values(self, shape: Shape) -> Float:
        """Random values away from zero, where a dropped term or a kink would not show."""
        return self.rng.choice([-1.0, 1.0], shape) * self.rng.uniform(0.3, 1.3, shape)

    def op(self, operation: str, *arguments: int, settings: Shape = ()) -> int:
        """The node of an operation."""
        return self._put(Step(operation, arguments, settings))

    def table(self) -> NDArray[np.int32]:
        """The program as integers ``[nodes, WIDTH]``."""
        return np.array([step.row() for step in self.steps], np.int32)


def exponential(p: Program) -> None:
    """f = x1 + exp(1.5 x1 + 2 x2) at (3, 0.5)."""
    x1, x2 = p.at(3.0), p.at(0.5)
    scaled1 = p.op("mul", p.constant_at(1.5), x1)
    scaled2 = p.op("mul", p.constant_at(2.0), x2)
    p.op("add", x1, p.op("exp", p.op("add", scaled1, scaled2)))


def twice(p: Program) -> None:
    """A value used twice in one operation, at two levels."""
    x = p.leaf(2, 3)
    square = p.op("mul", x, x)
    p.op("add", square, square)


def diamond(p: Program) -> None:
    """Two ways from a value to the root, of lengths 1 and 2."""
    x, y = p.leaf(3), p.leaf(3)
    middle = p.op("mul", x, y)
    p.op("mul", p.op("tanh", middle), p.op("exp", p.op("neg", middle)))


def late(p: Program, left: bool) -> None:
    """A value that the root uses directly and at the end of a long way: it comes last, not second."""
    x = p.leaf(2)
    early = p.op("sigmoid", x)
    far = early
    for operation in ("tanh", "exp", "neg", "tanh"):
        far = p.op(operation, far)
    p.op("mul", *((early, far) if left else (far, early)))


def late_left(p: Program) -> None:
    """The direct use is the first argument."""
    late(p, True)


def late_right(p: Program) -> None:
    """The direct use is the second argument."""
    late(p, False)


def fan_out(p: Program) -> None:
    """One leaf used by twelve nodes, which are summed."""
    x = p.leaf(2, 2)
    total = p.op("tanh", x)
    for i in range(11):
        used = p.op("mul", x, p.constant(2, 2)) if i % 2 else p.op("sigmoid", x)
        total = p.op("add", total, used)


def constants(p: Program) -> None:
    """Constants as arguments, at the bottom, and computed from constants alone."""
    x, c = p.leaf(2, 3), p.constant(2, 3)
    folded = p.op("exp", p.op("mul", c, p.constant(2, 3)))
    p.op("add", p.op("mul", folded, p.op("tanh", x)), p.op("neg", c))


def unconnected(p: Program) -> None:
    """Leaves and nodes that the root does not depend on."""
    x, aside = p.leaf(4), p.leaf(4)
    p.op("exp", aside)
    p.op("mul", p.op("mul", x, aside), aside)
    p.op("tanh", p.op("sigmoid", x))


def chain(p: Program, length: int) -> None:
    """One node after the other; the derivative stays of size 1, however long it is."""
    node = p.leaf(2)
    for i in range(length):
        node = p.op("neg", node) if i % 2 else p.op("mul", node, p.constant_at(p.rng.uniform(0.99, 1.01)))


def diamonds(p: Program, count: int) -> None:
    """Diamonds on top of one another, each with two different ways."""
    node = p.leaf(1)
    for _ in range(count):
        node = p.op("add", p.op("tanh", node), p.op("sigmoid", node))


def ladder(p: Program, count: int) -> None:
    """Diamonds that are one value used twice: 2 · count + 1 nodes above the leaf."""
    node = p.op("neg", p.leaf(1))
    for _ in range(count):
        half = p.op("tanh", node)
        node = p.op("add", half, half)


def broadcasting(p: Program) -> None:
    """Shapes that broadcast: a row, a column, a single number, a missing dimension."""
    x, row, column, one = p.leaf(3, 4), p.leaf(1, 4), p.leaf(3, 1), p.leaf(1)
    scaled = p.op("mul", p.op("add", x, row), p.op("tanh", column))
    p.op("mul", scaled, p.op("add", one, p.leaf(4)))


def reductions(p: Program) -> None:
    """Sums over each dimension, used beside what they were summed from."""
    x = p.leaf(2, 3, 4)
    over_last = p.op("sum", p.op("mul", x, x), settings=(2,))
    over_first = p.op("sum", p.op("tanh", x), settings=(0,))
    p.op("sum", p.op("mul", over_last, over_first), settings=(1,))


def permutes(p: Program) -> None:
    """Permutations, one the inverse of none of the others, with an operation between."""
    x, y = p.leaf(2, 3, 4), p.leaf(4, 2, 3)
    turned = p.op("permute", p.op("tanh", x), settings=(2, 0, 1))
    p.op("permute", p.op("mul", turned, y), settings=(1, 2, 0))


def views(p: Program) -> None:
    """A view of a contiguous copy of a permutation."""
    x = p.leaf(2, 3, 4)
    turned = p.op("contiguous", p.op("permute", p.op("exp", x), settings=(1, 2, 0)))
    flat = p.op("view", turned, settings=(3, 8))
    p.op("mul", flat, p.leaf(3, 8))


def products(p: Program) -> None:
    """Matrix products, one with a matrix that is used twice."""
    a, b = p.leaf(3, 4), p.leaf(4, 4)
    first = p.op("matmul", a, b)
    p.op("matmul", p.op("relu", first), p.op("tanh", b))


def layers(p: Program) -> None:
    """Two layers of a network with a sigmoid and a logarithm."""
    x = p.constant(5, 3)
    hidden = p.op("relu", p.op("add", p.op("matmul", x, p.leaf(3, 4)), p.leaf(4)))
    out = p.op("sigmoid", p.op("add", p.op("matmul", hidden, p.leaf(4, 1)), p.leaf(1)))
    p.op("sum", p.op("log", p.op("view", out, settings=(5,))), settings=(0,))


def random_graph(p: Program) -> None:
    """Forty random operations on numbers of one shape; the root uses what nothing else has used."""
    loose = [p.leaf(2, 2) for _ in range(4)] + [p.constant(2, 2)]
    nodes = list(loose)
    for _ in range(40):
        operation = str(p.rng.choice(["add", "mul", "tanh", "sigmoid", "neg"]))
        count = 2 if operation in ("add", "mul") else 1
        arguments = [int(p.rng.choice(nodes[-8:])) for _ in range(count)]
        node = p.op("tanh", p.op(operation, *arguments))
        nodes.append(node)
        loose = [n for n in loose if n not in arguments] + [node]
    total = loose[0]
    for node in loose[1:]:
        total = p.op("add", total, node)


def single_leaf(p: Program) -> None:
    """The root is a leaf."""
    p.leaf(1)
