"""Optimisers: they put new tensors into the parameters, made from the old ones and their derivatives."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .module import Parameter
from .tensor_data import TensorData

Array = npt.NDArray[Any]


class Optimizer:
    """The parameters and what is common to all ways of changing them.

    The arithmetic runs on whole arrays, whatever the backend: a tensor's storage lies on the host.
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self.parameters = parameters

    def zero_grad(self) -> None:
        """Forget the derivatives. `step` makes this needless: a new tensor has none."""
        for p in self.parameters:
            for name in ("derivative", "grad"):
                if getattr(p.value, name, None) is not None:
                    setattr(p.value, name, None)

    def step(self) -> None:
        """Change each parameter that has a derivative."""
        raise NotImplementedError

    def _with_grad(self) -> Iterator[tuple[Parameter, Array, Array]]:
        """The parameters that have a derivative, with the arrays of value and derivative."""
        for p in self.parameters:
            grad = getattr(p.value, "grad", None)
            if grad is not None:
                yield p, p.value._tensor.array, grad._tensor.array


def _put(p: Parameter, array: Array) -> None:
    p.update(p.value._new(TensorData.of(array)))


class SGD(Optimizer):
    """Plain gradient descent: ``p - lr · grad``."""

    def __init__(self, parameters: Sequence[Parameter], lr: float = 1.0) -> None:
        super().__init__(parameters)
        self.lr = lr

    def step(self) -> None:
        """Take one step down the gradient."""
        for p, value, grad in self._with_grad():
            _put(p, np.subtract(value, self.lr * grad, order="C"))


class _AdamState:
    """What Adam remembers of one parameter: running means of the derivative and of its square."""

    __slots__ = ("exp_avg", "exp_avg_sq", "step")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.step = 0
        self.exp_avg = np.zeros(shape, dtype)
        self.exp_avg_sq = np.zeros(shape, dtype)


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015), with the bias corrections in the step size."""

    def __init__(
        self,
        parameters: Sequence[Parameter],
        lr: float = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
    ) -> None:
        super().__init__(parameters)
        self.lr = lr
        self.beta1 = beta1
        self.beta2 = beta2
        self.eps = eps
        self._states: dict[int, _AdamState] = {}

    def step(self) -> None:
        """Move each parameter against its mean derivative, in units of the derivative's own size."""
        for p, value, grad in self._with_grad():
            state = self._states.get(id(p))
            if state is None:
                state = self._states[id(p)] = _AdamState(value.shape, value.dtype)
            _put(p, np.subtract(value, self._change(state, grad), order="C"))

    def _change(self, state: _AdamState, grad: Array) -> Array:
        state.step += 1
        mean, square = state.exp_avg, state.exp_avg_sq
        mean *= self.beta1
        mean += (1 - self.beta1) * grad
        square *= self.beta2
        square += (1 - self.beta2) * (grad * grad)
        corrected = math.sqrt(1 - self.beta2**state.step) / (1 - self.beta1**state.step)
        change = np.sqrt(square)
        change += self.eps
        np.divide(mean, change, out=change)
        change *= self.lr * corrected
        return change


__all__ = [
    "SGD",
    "Adam",
    "Optimizer",
]
