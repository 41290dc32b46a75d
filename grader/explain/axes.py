"""A tensor's axes by name, those that divide into others divided."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.assignment import Assignment, AxisDetails

Params = Mapping[str, int | float]


@dataclass(frozen=True)
class Axes:
    """The axes of one tensor of one case.

    Attributes:
        names: empty where the assignment does not name them.
        shape: their sizes, whose product is the tensor's size.
        details: what is known of each.
        params: the case's scalars.
    """

    names: tuple[str, ...]
    shape: tuple[int, ...]
    details: tuple[AxisDetails, ...]
    params: Params

    def index(self, name: str) -> int | None:
        """The place of the axis of that name."""
        return self.names.index(name) if name in self.names else None


def axes_of(assignment: Assignment, check: str, tensor: str, shape: Sequence[int], params: Params) -> Axes:
    """The named axes of a tensor, divided as far as they divide; nameless where the names do not fit its shape."""
    names = assignment.axes.get(f"{check}.{tensor}") or assignment.axes.get(tensor, [])
    if len(names) != len(shape):
        return Axes(("",) * len(shape), tuple(shape), (AxisDetails(),) * len(shape), params)
    found: list[tuple[str, int]] = []
    for name, size in zip(names, shape, strict=True):
        found += _divided(assignment, name, size, params)
    details = tuple(assignment.axis_details.get(name, AxisDetails()) for name, _ in found)
    return Axes(tuple(name for name, _ in found), tuple(size for _, size in found), details, params)


def _divided(assignment: Assignment, name: str, size: int, params: Params) -> list[tuple[str, int]]:
    """The axes that an axis of this size divides into; itself where it does not, or not evenly."""
    parts = assignment.axis_details.get(name, AxisDetails()).split
    sizes = [_known_size(assignment.axis_details.get(part, AxisDetails()), params) for part in parts]
    known = math.prod(n for n in sizes if n)
    if not parts or sizes.count(None) > 1 or known == 0 or size % known:
        return [(name, size)]
    divided = [(part, n or size // known) for part, n in zip(parts, sizes, strict=True)]
    return divided if math.prod(n for _, n in divided) == size else [(name, size)]


def _known_size(details: AxisDetails, params: Params) -> int | None:
    return len(details.names) or (int(params[details.size]) if details.size in params else None)
