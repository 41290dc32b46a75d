"""What tests of MiniTorch are made of: functions in two forms, and a comparison that can fail."""

# ruff: noqa: ANN001, ANN205
# mypy: disable-error-code="no-untyped-def, no-untyped-call, return-value"
# (each function takes floats or tensors alike)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import operators

Named = tuple[str, Callable[..., Any]]


def assert_close(got: Any, expected: Any, tol: float = 1e-4) -> None:
    """Check that two tensors (or arrays, nested lists, numbers) have one shape and nearly equal elements.

    Args:
        got: what was computed.
        expected: what is right.
        tol: the allowed difference, absolute and as a share of the element.

    Raises:
        AssertionError: naming the first element that differs; NaN always does.
    """
    a, b = _array(got), _array(expected)
    assert a.shape == b.shape, f"the shape is {a.shape}, expected {b.shape}"
    bad = ~(np.abs(a - b) <= tol + tol * np.abs(b))
    if bad.any():
        ind = tuple(int(i) for i in np.argwhere(bad)[0])
        raise AssertionError(
            f"{int(bad.sum())} of {bad.size} elements differ, first at {ind}: {a[ind]:.6g}, expected {b[ind]:.6g}"
        )


def _array(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray(x.to_numpy() if hasattr(x, "to_numpy") else x, dtype=np.float64)


class MathTest:
    """Functions of floats (or lists of them). The name says the kind: ``…2`` takes two, ``…_red`` a list."""

    @staticmethod
    def neg(a):
        """``-a``."""
        return -a

    @staticmethod
    def addConstant(a):
        """``5 + a``."""
        return 5 + a

    @staticmethod
    def subConstant(a):
        """``a - 5``."""
        return a - 5

    @staticmethod
    def multConstant(a):
        """``5 a``."""
        return 5 * a

    @staticmethod
    def div(a):
        """``a / 5``."""
        return a / 5

    @staticmethod
    def square(a):
        """``a²``."""
        return a * a

    @staticmethod
    def cube(a):
        """``a³``."""
        return a * a * a

    @staticmethod
    def inv(a):
        """``1 / (a + 3.5)``."""
        return operators.inv(a + 3.5)

    @staticmethod
    def sig(a):
        """Sigmoid."""
        return operators.sigmoid(a)

    @staticmethod
    def log(a):
        """Log of a large number."""
        return operators.log(a + 100000)

    @staticmethod
    def relu(a):
        """ReLU, shifted."""
        return operators.relu(a + 5.5)

    @staticmethod
    def exp(a):
        """Exp of a small number."""
        return operators.exp(a - 200)

    @staticmethod
    def explog(a):
        """The sum of the last two."""
        return operators.log(a + 100000) + operators.exp(a - 200)

    @staticmethod
    def complex(a):
        """Five functions, one inside another."""
        inner = operators.relu(operators.relu(a * 10 + 7) * 6 + 5)
        return operators.log(operators.sigmoid(inner * 10)) / 50

    @staticmethod
    def add2(a, b):
        """``a + b``."""
        return a + b

    @staticmethod
    def mul2(a, b):
        """``a b``."""
        return a * b

    @staticmethod
    def div2(a, b):
        """``a / (b + 5.5)``."""
        return a / (b + 5.5)

    @staticmethod
    def gt2(a, b):
        """Whether ``a + 1.2 > b``."""
        return operators.lt(b, a + 1.2)

    @staticmethod
    def lt2(a, b):
        """Whether ``a + 1.2 < b``."""
        return operators.lt(a + 1.2, b)

    @staticmethod
    def eq2(a, b):
        """Whether ``a`` equals ``b + 5.5``."""
        return operators.eq(a, b + 5.5)

    @staticmethod
    def sum_red(a):
        """The sum."""
        return operators.sum(a)

    @staticmethod
    def mean_red(a):
        """The mean."""
        return operators.sum(a) / len(a)

    @staticmethod
    def mean_full_red(a):
        """The mean over everything."""
        return operators.sum(a) / len(a)

    @classmethod
    def _tests(cls) -> tuple[list[Named], list[Named], list[Named]]:
        """The functions with their names: of one argument, of two, of a list."""
        names = sorted(n for n in dir(MathTest) if not n.startswith("_"))
        two = [n for n in names if n.endswith("2")]
        reduced = [n for n in names if n.endswith("_red")]
        one = [n for n in names if n not in two and n not in reduced]
        return tuple([(n, getattr(cls, n)) for n in kind] for kind in (one, two, reduced))

    @classmethod
    def _comp_testing(cls) -> tuple[list[Any], list[Any], list[Any]]:
        """For each kind the functions as (name, on floats, on tensors)."""
        pairs = zip(MathTest._tests(), cls._tests(), strict=True)
        return tuple([(n, f, g) for (n, f), (_, g) in zip(a, b, strict=True)] for a, b in pairs)


class MathTestVariable(MathTest):
    """The same functions on tensors, where they are written otherwise."""

    @staticmethod
    def inv(a):
        """``1 / (a + 3.5)``."""
        return 1.0 / (a + 3.5)

    @staticmethod
    def sig(a):
        """Sigmoid."""
        return a.sigmoid()

    @staticmethod
    def log(a):
        """Log of a large number."""
        return (a + 100000).log()

    @staticmethod
    def relu(a):
        """ReLU, shifted."""
        return (a + 5.5).relu()

    @staticmethod
    def exp(a):
        """Exp of a small number."""
        return (a - 200).exp()

    @staticmethod
    def explog(a):
        """The sum of the last two."""
        return (a + 100000).log() + (a - 200).exp()

    @staticmethod
    def complex(a):
        """Five functions, one inside another."""
        return (((a * 10 + 7).relu() * 6 + 5).relu() * 10).sigmoid().log() / 50

    @staticmethod
    def gt2(a, b):
        """Where ``a + 1.2 > b``."""
        return a + 1.2 > b

    @staticmethod
    def lt2(a, b):
        """Where ``a + 1.2 < b``."""
        return a + 1.2 < b

    @staticmethod
    def eq2(a, b):
        """Where ``a`` equals ``b + 5.5``."""
        return a == (b + 5.5)

    @staticmethod
    def sum_red(a):
        """The sum over the first dimension."""
        return a.sum(0)

    @staticmethod
    def mean_red(a):
        """The mean over the first dimension."""
        return a.mean(0)

    @staticmethod
    def mean_full_red(a):
        """The mean over everything."""
        return a.mean()


__all__ = [
    "MathTest",
    "MathTestVariable",
    "assert_close",
]
