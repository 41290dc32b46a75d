"""The scalar functions from which every tensor operation is built.

The functions of floats also name the operations to the backends: ``CudaKernelOps`` maps each to the
number of a kernel, ``NumpyOps`` to a NumPy expression. NaN passes through all of them.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

EPS = 1e-6
"""Added to the argument of `log`, so that the logarithm of 0 is finite."""

CLOSE = 1e-2
"""Two floats nearer than this are close (`is_close`)."""


def id(x: float) -> float:
    """``x``."""
    return x


def neg(x: float) -> float:
    """``-x``."""
    return -x


def add(x: float, y: float) -> float:
    """``x + y``."""
    return x + y


def mul(x: float, y: float) -> float:
    """``x · y``."""
    return x * y


def pow(x: float, y: float) -> float:
    """``x`` to the power of ``y``."""
    return math.pow(x, y)


def lt(x: float, y: float) -> float:
    """1.0 if ``x`` is less than ``y``, else 0.0."""
    return 1.0 if x < y else 0.0


def eq(x: float, y: float) -> float:
    """1.0 if ``x`` equals ``y``, else 0.0."""
    return 1.0 if x == y else 0.0


def max(x: float, y: float) -> float:
    """The greater of the two; NaN if either is."""
    return x if x > y or x != x else y


def is_close(x: Any, y: Any) -> bool:
    """Whether two floats are nearer than `CLOSE`, or two tensors of one shape in all their elements."""
    if hasattr(x, "is_close"):
        return x.shape == getattr(y, "shape", None) and bool(x.is_close(y).all().item() == 1.0)
    return bool(abs(x - y) < CLOSE)


def sigmoid(x: float) -> float:
    """``1 / (1 + exp(-x))``, written so that the exponential never overflows."""
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)


def relu(x: float) -> float:
    """``x`` where it is positive, else 0."""
    return 0.0 if x <= 0 else x


def relu_back(x: float, d: float) -> float:
    """``d`` times the derivative of `relu` at ``x``, which is taken as 0 at 0."""
    return 0.0 if x <= 0 else d


def log(x: float) -> float:
    """The natural logarithm of ``x + EPS``."""
    return math.log(x + EPS)


def log_back(x: float, d: float) -> float:
    """``d`` times the derivative of `log` at ``x``."""
    return d / (x + EPS)


def exp(x: float) -> float:
    """The exponential of ``x``."""
    return math.exp(x)


def tanh(x: float) -> float:
    """The hyperbolic tangent of ``x``."""
    return math.tanh(x)


def inv(x: float) -> float:
    """``1 / x``."""
    return 1.0 / x


def inv_back(x: float, d: float) -> float:
    """``d`` times the derivative of `inv` at ``x``."""
    return -(1.0 / (x * x)) * d


# ---- lists ---------------------------------------------------------------------------------------


def map(fn: Callable[[float], float]) -> Callable[[Iterable[float]], list[float]]:
    """Lift ``fn`` to lists: apply it to each element."""

    def mapped(ls: Iterable[float]) -> list[float]:
        return [fn(x) for x in ls]

    return mapped


def zipWith(
    fn: Callable[[float, float], float],
) -> Callable[[Iterable[float], Iterable[float]], list[float]]:
    """Lift ``fn`` to pairs of equally long lists."""

    def zipped(ls1: Iterable[float], ls2: Iterable[float]) -> list[float]:
        return [fn(x, y) for x, y in zip(ls1, ls2, strict=True)]

    return zipped


def reduce(fn: Callable[[float, float], float], start: float) -> Callable[[Iterable[float]], float]:
    """Fold lists with ``fn`` from the left, beginning at ``start``."""

    def reduced(ls: Iterable[float]) -> float:
        value = start
        for x in ls:
            value = fn(value, x)
        return value

    return reduced


def negList(ls: Iterable[float]) -> list[float]:
    """Each element negated."""
    return map(neg)(ls)


def addLists(ls1: Iterable[float], ls2: Iterable[float]) -> list[float]:
    """The sums of the elements of two equally long lists."""
    return zipWith(add)(ls1, ls2)


def sum(ls: Iterable[float]) -> float:
    """The sum of a list; 0 for the empty one."""
    return reduce(add, 0.0)(ls)


def prod(ls: Iterable[float]) -> float:
    """The product of a list; 1 for the empty one."""
    return reduce(mul, 1.0)(ls)
