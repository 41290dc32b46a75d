"""What the tests of the network share: parameters of known, wide values, and the network in NumPy."""

import numpy as np
import numpy.typing as npt
from minitorch import Module, Parameter, tensor_from_numpy

Array = npt.NDArray[np.float64]


def shapes(module: Module) -> list[tuple[int, ...]]:
    """The shapes of the parameters, sorted."""
    return sorted(p.value.shape for p in module.parameters())


def initial_values(module: Module) -> Array:
    """All elements of all parameters."""
    return np.concatenate([p.value.to_numpy().ravel() for p in module.parameters()])


def set_parameter(module: Module, shape: tuple[int, ...], seed: int) -> Array:
    """Put normal random values into the one parameter of a shape, and return them."""
    (parameter,) = [p for p in module.parameters() if p.value.shape == shape]
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    put(parameter, values)
    return values.astype(np.float64)


def put(parameter: Parameter, values: npt.NDArray[np.float32]) -> None:
    """Give a parameter other values, on its own backend."""
    parameter.update(tensor_from_numpy(values, backend=parameter.value.backend))


def sigmoid(x: Array) -> Array:
    """The logistic function."""
    return 1 / (1 + np.exp(-x))
