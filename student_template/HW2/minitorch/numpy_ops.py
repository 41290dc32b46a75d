"""`NumpyOps`: the operations of a backend as whole-array NumPy expressions.

The values are those of `SimpleOps` to the last digits of float32, some hundred times faster. Results
are always row-major, as the loops write them, whatever the layout of the inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import operators
from .tensor_data import IndexingError, TensorData, shape_broadcast
from .tensor_ops import MapProto, TensorOps, check_matmul_shapes

if TYPE_CHECKING:
    from .tensor import Tensor

Array = npt.NDArray[Any]


def _sigmoid(x: Array) -> Array:
    e: Array = np.exp(-np.abs(x))
    result: Array = np.divide(np.where(x < 0, e, np.float32(1)), e + 1, order="C")
    return result


def _relu(x: Array) -> Array:
    return np.maximum(x, 0, order="C")


def _log(x: Array) -> Array:
    return np.log(x + operators.EPS, order="C")


def _inv(x: Array) -> Array:
    return np.divide(1, x, order="C")


def _copy(x: Array) -> Array:
    return x.copy(order="C")


def _add(x: Array, y: Array) -> Array:
    return np.add(x, y, order="C")


def _mul(x: Array, y: Array) -> Array:
    return np.multiply(x, y, order="C")


def _pow(x: Array, y: Array) -> Array:
    return np.power(x, y, order="C")


def _lt(x: Array, y: Array) -> Array:
    return np.less(x, y).astype(np.float32, order="C")


def _eq(x: Array, y: Array) -> Array:
    return np.equal(x, y).astype(np.float32, order="C")


def _is_close(x: Array, y: Array) -> Array:
    near: Array = np.abs(x - y) < operators.CLOSE
    return near.astype(np.float32, order="C")


def _relu_back(x: Array, d: Array) -> Array:
    result: Array = np.where(x <= 0, np.float32(0), d)
    return result


def _log_back(x: Array, d: Array) -> Array:
    return np.divide(d, x + operators.EPS, order="C")


def _inv_back(x: Array, d: Array) -> Array:
    return np.multiply(-1 / (x * x), d, order="C")


MAPS: dict[Callable[[float], float], Callable[[Array], Array]] = {
    operators.id: _copy,
    operators.neg: np.negative,
    operators.sigmoid: _sigmoid,
    operators.relu: _relu,
    operators.log: _log,
    operators.exp: np.exp,
    operators.tanh: np.tanh,
    operators.inv: _inv,
}

ZIPS: dict[Callable[[float, float], float], Callable[[Array, Array], Array]] = {
    operators.add: _add,
    operators.mul: _mul,
    operators.pow: _pow,
    operators.lt: _lt,
    operators.eq: _eq,
    operators.is_close: _is_close,
    operators.relu_back: _relu_back,
    operators.log_back: _log_back,
    operators.inv_back: _inv_back,
    operators.max: np.maximum,
}

REDUCERS: dict[Callable[[float, float], float], np.ufunc] = {
    operators.add: np.add,
    operators.mul: np.multiply,
    operators.max: np.maximum,
}


class NumpyOps(TensorOps):
    """The operations on whole arrays; functions that are not in the tables run element by element."""

    @staticmethod
    def map(fn: Callable[[float], float]) -> MapProto:
        """See `TensorOps.map`."""
        array_fn = MAPS.get(fn) or _elementwise(fn, 1)

        def apply(a: Tensor, out: Tensor | None = None) -> Tensor:
            result = array_fn(a._tensor.array)
            if out is None:
                return a._new(_data(result))
            out._tensor.array[...] = result
            return out

        return apply

    @staticmethod
    def zip(fn: Callable[[float, float], float]) -> Callable[[Tensor, Tensor], Tensor]:
        """See `TensorOps.zip`."""
        array_fn = ZIPS.get(fn) or _elementwise(fn, 2)

        def apply(a: Tensor, b: Tensor) -> Tensor:
            try:
                result = array_fn(a._tensor.array, b._tensor.array)
            except ValueError:
                shape_broadcast(a.shape, b.shape)
                raise
            return a._new(_data(result))

        return apply

    @staticmethod
    def reduce(fn: Callable[[float, float], float], start: float = 0.0) -> Callable[[Tensor, int], Tensor]:
        """See `TensorOps.reduce`."""
        ufunc = REDUCERS.get(fn) or np.frompyfunc(fn, 2, 1)
        options: dict[str, Any] = {} if ufunc.identity == start else {"initial": start}

        def apply(a: Tensor, dim: int) -> Tensor:
            array = a._tensor.array
            if not -array.ndim <= dim < array.ndim:
                raise IndexingError(f"there is no dimension {dim} in the shape {a.shape}")
            return a._new(_data(ufunc.reduce(array, axis=dim, keepdims=True, **options)))

        return apply

    @staticmethod
    def matrix_multiply(a: Tensor, b: Tensor) -> Tensor:
        """See `TensorOps.matrix_multiply`."""
        try:
            return a._new(_data(np.matmul(a._tensor.array, b._tensor.array)))
        except ValueError:
            check_matmul_shapes(a.shape, b.shape)
            shape_broadcast(a.shape[:-2], b.shape[:-2])
            raise


def _data(result: Array) -> TensorData:
    """Wrap a result; NumPy gives a scalar in place of an array of no dimensions."""
    if type(result) is np.ndarray and result.dtype != object and result.flags.c_contiguous:
        return TensorData.of(result)
    dtype = np.float64 if getattr(result, "dtype", None) == np.float64 else np.float32
    return TensorData.of(np.array(result, dtype=dtype, order="C"))


def _elementwise(fn: Callable[..., float], arguments: int) -> Callable[..., Array]:
    """Any other Python function of floats, called for each element."""
    lifted = np.frompyfunc(fn, arguments, 1)

    def apply(*arrays: Array) -> Array:
        return np.asarray(lifted(*arrays), dtype=np.float32)

    return apply
