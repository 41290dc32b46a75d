"""Computation graphs as data: a table of integers that both MiniTorch and the oracle carry out.

A program has a row for each node: operation, first argument, second argument, and up to four settings (-1
where there is none). Arguments are the numbers of earlier rows; the last row is the root. A leaf or constant
takes the input tensor ``x<setting>``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 7

OPERATIONS = (
    "leaf",
    "constant",
    "add",
    "mul",
    "neg",
    "exp",
    "log",
    "sigmoid",
    "relu",
    "tanh",
    "inv",
    "matmul",
    "sum",
    "permute",
    "view",
    "contiguous",
)
BINARY = ("add", "mul", "matmul")


@dataclass(frozen=True)
class Step:
    """One node: what makes it, from which nodes, with which settings (dimension, order or shape)."""

    operation: str
    arguments: tuple[int, ...] = ()
    settings: tuple[int, ...] = ()

    def row(self) -> list[int]:
        """The step as integers."""
        arguments = (*self.arguments, -1, -1)[:2]
        settings = (*self.settings, -1, -1, -1, -1)[: WIDTH - 3]
        return [OPERATIONS.index(self.operation), *arguments, *settings]


def steps(table: Sequence[Sequence[int]]) -> list[Step]:
    """The steps of a table."""
    found = []
    for row in table:
        operation = OPERATIONS[int(row[0])]
        arguments = tuple(int(a) for a in row[1:3] if a >= 0)
        settings = tuple(int(s) for s in row[3:] if s >= 0)
        found.append(Step(operation, arguments, settings))
    return found
