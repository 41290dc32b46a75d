"""Points in the unit square in two classes, to try a network on."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

Point = tuple[float, float]


@dataclass
class Graph:
    """A set of labelled points.

    Attributes:
        N: the number of points.
        X: the points.
        y: the class of each, 0 or 1.
    """

    N: int
    X: list[Point]
    y: list[int]


def make_pts(N: int) -> list[Point]:
    """``N`` random points in the unit square."""
    return [(random.random(), random.random()) for _ in range(N)]


def _labelled(N: int, rule: Callable[[float, float], bool]) -> Graph:
    points = make_pts(N)
    return Graph(N, points, [int(rule(*point)) for point in points])


def simple(N: int) -> Graph:
    """Class 1 in the left half."""
    return _labelled(N, lambda x, y: x < 0.5)


def diag(N: int) -> Graph:
    """Class 1 below a diagonal."""
    return _labelled(N, lambda x, y: x + y < 0.5)


def split(N: int) -> Graph:
    """Class 1 near the left and the right edge."""
    return _labelled(N, lambda x, y: x < 0.2 or x > 0.8)


def xor(N: int) -> Graph:
    """Class 1 in two opposite quarters."""
    return _labelled(N, lambda x, y: (x < 0.5) != (y < 0.5))


def circle(N: int) -> Graph:
    """Class 1 outside a circle around the centre."""
    return _labelled(N, lambda x, y: (x - 0.5) ** 2 + (y - 0.5) ** 2 > 0.1)


def spiral(N: int) -> Graph:
    """Two spirals wound into each other, one for each class."""
    half = N // 2
    angles = [10.0 * i / half for i in range(5, 5 + half)]
    arm = [(t * math.cos(t) / 20, t * math.sin(t) / 20) for t in angles]
    first = [(0.5 + a, 0.5 + b) for a, b in arm]
    second = [(0.5 + b, 0.5 - a) for a, b in arm]
    return Graph(2 * half, first + [(1 - x, y) for x, y in second], [0] * half + [1] * half)


datasets: dict[str, Callable[[int], Graph]] = {
    "Simple": simple,
    "Diag": diag,
    "Split": split,
    "Xor": xor,
    "Circle": circle,
    "Spiral": spiral,
}
