"""Derivatives from backpropagation against derivatives from differences.

The differences are central ones, taken in float64 and at every element, so that a wrong gradient
cannot hide in rounding or behind an element that was not looked at.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import minitorch

from .tensor_data import TensorData

if TYPE_CHECKING:
    from .tensor import Tensor
    from .tensor_data import UserIndex

STEP = 1e-6
"""The step to either side. In float64 the difference is right to about 1e-9."""

TOLERANCE = 1e-3
"""The allowed error, as a share of an argument's largest derivative: float32 is nearer by far."""

FLOOR = 1e-6
"""The allowed error where all derivatives of an argument vanish."""

KINK = 1e-2
"""One-sided differences further apart than this (relative) mean that there is no derivative."""

SEED = 10
"""The state of `random` in each call, so that a random function is the same one each time."""

Array = npt.NDArray[np.float64]


def grad_check(f: Callable[..., Tensor], *vals: Tensor, tol: float = TOLERANCE) -> None:
    """Check that backpropagation through ``f`` gives its derivatives at ``vals``.

    Elements at which ``f`` has a kink or a jump within the step are left out, as it has no derivative
    there. ``f`` may be random, as long as it draws from `random`.

    Args:
        f: a function of tensors, of any result shape; the derivative is that of the result's sum.
        *vals: the arguments; their ``grad`` is set.
        tol: the allowed error, as a share of an argument's largest derivative.

    Raises:
        AssertionError: naming the argument, the index and both derivatives.
    """
    for x in vals:
        x.requires_grad_(True)
        x.zero_grad_()
    _seeded(f, vals).sum().backward()
    arrays = [x.to_numpy().astype(np.float64) for x in vals]
    for arg, x in enumerate(vals):
        assert x.grad is not None, f"argument {arg} has received no derivative"
        assert x.grad.shape == x.shape, f"the derivative of argument {arg} has the shape {x.grad.shape}"
        _compare(f, arrays, arg, x.grad.to_numpy(), tol)


def grad_central_difference(
    f: Callable[..., Tensor], *vals: Tensor, arg: int = 0, epsilon: float = STEP, ind: UserIndex
) -> float:
    """The central difference of the sum of ``f`` by one element, in float64.

    Args:
        f: a function of tensors.
        *vals: its arguments.
        arg: the number of the argument.
        epsilon: the step to either side.
        ind: the index of the element.
    """
    arrays = [x.to_numpy().astype(np.float64) for x in vals]
    above = _value(f, arrays, arg, ind, epsilon)
    below = _value(f, arrays, arg, ind, -epsilon)
    return (above - below) / (2 * epsilon)


def _compare(f: Callable[..., Tensor], arrays: list[Array], arg: int, got: npt.NDArray[Any], tol: float) -> None:
    here = _value(f, arrays, arg, None, 0.0)
    expected = np.zeros(got.shape)
    smooth = np.ones(got.shape, dtype=bool)
    for ind in np.ndindex(got.shape):
        right = (_value(f, arrays, arg, ind, STEP) - here) / STEP
        left = (here - _value(f, arrays, arg, ind, -STEP)) / STEP
        expected[ind] = (right + left) / 2
        smooth[ind] = abs(right - left) <= KINK * (1.0 + abs(float(expected[ind])))
    if not smooth.any():
        return
    limit = tol * float(np.abs(expected[smooth]).max()) + FLOOR + 1e-8 * abs(here)
    bad = smooth & ~(np.abs(got - expected) <= limit)
    if bad.any():
        ind = tuple(int(i) for i in np.argwhere(bad)[0])
        raise AssertionError(
            f"argument {arg}, index {ind}: backpropagation gives {got[ind]:.6g}, "
            f"the central difference {expected[ind]:.6g} ({int(bad.sum())} of {bad.size} elements differ)"
        )


def _value(f: Callable[..., Tensor], arrays: list[Array], arg: int, ind: Any, step: float) -> float:
    """The sum of ``f``, in float64, with one element moved by ``step``."""
    moved = [a.copy() for a in arrays]
    if ind is not None:
        moved[arg][ind] += step
    out = _seeded(f, [_double(a) for a in moved])
    return float(out._tensor.array.sum(dtype=np.float64))


def _double(array: Array) -> Tensor:
    """A constant tensor in double precision, on the backend that keeps it."""
    backend = minitorch.TensorBackend(minitorch.NumpyOps)
    return minitorch.Tensor(TensorData.of(array), backend=backend)


def _seeded(f: Callable[..., Tensor], vals: Any) -> Tensor:
    state = random.getstate()
    random.seed(SEED)
    try:
        return f(*vals)
    finally:
        random.setstate(state)
