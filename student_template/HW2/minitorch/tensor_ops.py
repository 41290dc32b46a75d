"""What a backend is made of, and the plainest one, `SimpleOps`: loops over the elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from . import operators
from .tensor_data import MAX_DIMS, broadcast_index, index_to_position, shape_broadcast, to_index

if TYPE_CHECKING:
    from .tensor import Tensor
    from .tensor_data import Index, Laid, Shape, Storage, Strides

MAX_START = -1e9
"""Where the maximum over a dimension begins."""


class MapProto(Protocol):
    """A function of a tensor, element by element, into ``out`` if one is given."""

    def __call__(self, x: Tensor, out: Tensor | None = ..., /) -> Tensor:
        """Apply the function."""
        ...


class TensorOps:
    """The higher-order operations that a backend provides."""

    cuda = False
    cuda_kernels = False

    @staticmethod
    def map(fn: Callable[[float], float]) -> MapProto:
        """Lift a function of one float to tensors."""
        raise NotImplementedError

    @staticmethod
    def cmap(fn: Callable[[float], float]) -> Callable[[Tensor, Tensor], Tensor] | None:
        """Lift a function of one float to a pair of tensors, source and target; optional."""
        return None

    @staticmethod
    def zip(fn: Callable[[float, float], float]) -> Callable[[Tensor, Tensor], Tensor]:
        """Lift a function of two floats to tensors that broadcast."""
        raise NotImplementedError

    @staticmethod
    def reduce(fn: Callable[[float, float], float], start: float = 0.0) -> Callable[[Tensor, int], Tensor]:
        """Fold a tensor along one dimension, which is kept with size 1."""
        raise NotImplementedError

    @staticmethod
    def matrix_multiply(a: Tensor, b: Tensor) -> Tensor:
        """``[..., M, N]`` times ``[..., N, P]``."""
        raise NotImplementedError


class TensorBackend:
    """The tensor functions by name, made from the operations ``ops``.

    Which operations really answer is decided by ``MINITORCH_BACKEND``; see `minitorch.backends`.
    """

    def __init__(self, ops: type[TensorOps]) -> None:
        from .backends import answer

        ops = answer(ops)
        self.ops = ops
        self.cuda = ops.cuda

        self.neg_map = ops.map(operators.neg)
        self.sigmoid_map = ops.map(operators.sigmoid)
        self.relu_map = ops.map(operators.relu)
        self.log_map = ops.map(operators.log)
        self.exp_map = ops.map(operators.exp)
        self.tanh_map = ops.map(operators.tanh)
        self.id_map = ops.map(operators.id)
        self.id_cmap = ops.cmap(operators.id)
        self.inv_map = ops.map(operators.inv)

        self.add_zip = ops.zip(operators.add)
        self.mul_zip = ops.zip(operators.mul)
        self.lt_zip = ops.zip(operators.lt)
        self.eq_zip = ops.zip(operators.eq)
        self.is_close_zip = ops.zip(operators.is_close)
        self.relu_back_zip = ops.zip(operators.relu_back)
        self.log_back_zip = ops.zip(operators.log_back)
        self.inv_back_zip = ops.zip(operators.inv_back)
        self.pow_scalar_zip = ops.zip(operators.pow)

        self.add_reduce = ops.reduce(operators.add, 0.0)
        self.mul_reduce = ops.reduce(operators.mul, 1.0)
        self.max_reduce = ops.reduce(operators.max, MAX_START)
        self.matrix_multiply = ops.matrix_multiply


class SimpleOps(TensorOps):
    """The operations as plain loops: slow, and easy to follow."""

    @staticmethod
    def map(fn: Callable[[float], float]) -> MapProto:
        """``out[i, j] = fn(a[i, j])``; ``a`` may broadcast to ``out``."""
        loop = tensor_map(fn)

        def apply(a: Tensor, out: Tensor | None = None) -> Tensor:
            if out is None:
                out = _empty(a.shape, a)
            loop(*out.tuple(), *a.tuple())
            return out

        return apply

    @staticmethod
    def zip(fn: Callable[[float, float], float]) -> Callable[[Tensor, Tensor], Tensor]:
        """``out[i, j] = fn(a[i, j], b[i, j])``, with ``a`` and ``b`` broadcast to each other."""
        loop = tensor_zip(fn)

        def apply(a: Tensor, b: Tensor) -> Tensor:
            out = _empty(shape_broadcast(a.shape, b.shape), a, b)
            loop(*out.tuple(), *a.tuple(), *b.tuple())
            return out

        return apply

    @staticmethod
    def reduce(fn: Callable[[float, float], float], start: float = 0.0) -> Callable[[Tensor, int], Tensor]:
        """``out[i, 0] = fn(… fn(fn(start, a[i, 0]), a[i, 1]) …)`` along dimension ``dim``."""
        loop = tensor_reduce(fn)

        def apply(a: Tensor, dim: int) -> Tensor:
            shape = list(a.shape)
            shape[dim] = 1
            out = _empty(shape, a)
            out._tensor._storage[:] = start
            loop(*out.tuple(), *a.tuple(), dim)
            return out

        return apply

    @staticmethod
    def matrix_multiply(a: Tensor, b: Tensor) -> Tensor:
        """``out[..., i, j]`` is the sum over ``k`` of ``a[..., i, k] * b[..., k, j]``."""
        check_matmul_shapes(a.shape, b.shape)
        batch = shape_broadcast(a.shape[:-2], b.shape[:-2])
        out = _empty((*batch, a.shape[-2], b.shape[-1]), a, b)
        _matmul_loop(out.tuple(), a.tuple(), b.tuple())
        return out


def check_matmul_shapes(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """Refuse shapes that have no matrix product.

    Raises:
        ValueError: with both shapes.
    """
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-2]:
        raise ValueError(f"cannot multiply matrices of shapes {a} and {b}")


def _empty(shape: Any, *like: Tensor) -> Tensor:
    """A tensor for the result, as precise as its inputs."""
    from .tensor_data import TensorData

    dtype = np.result_type(*(t._tensor.array for t in like))
    return like[0]._new(TensorData.of(np.zeros(tuple(shape), dtype)))


# ---- the loops -----------------------------------------------------------------------------------


def tensor_map(
    fn: Callable[[float], float],
) -> Callable[[Storage, Shape, Strides, Storage, Shape, Strides], None]:
    """The loop of `SimpleOps.map`: storage, shape, strides of the result, then of the input."""

    def loop(
        out: Storage,
        out_shape: Shape,
        out_strides: Strides,
        in_storage: Storage,
        in_shape: Shape,
        in_strides: Strides,
    ) -> None:
        out_index: Index = np.zeros(MAX_DIMS, np.int32)
        in_index: Index = np.zeros(MAX_DIMS, np.int32)
        for ordinal in range(len(out)):
            to_index(ordinal, out_shape, out_index)
            broadcast_index(out_index, out_shape, in_shape, in_index)
            o = index_to_position(out_index, out_strides)
            i = index_to_position(in_index, in_strides)
            out[o] = fn(in_storage[i])

    return loop


def tensor_zip(
    fn: Callable[[float, float], float],
) -> Callable[[Storage, Shape, Strides, Storage, Shape, Strides, Storage, Shape, Strides], None]:
    """The loop of `SimpleOps.zip`: storage, shape, strides of the result, then of both inputs."""

    def loop(
        out: Storage,
        out_shape: Shape,
        out_strides: Strides,
        a_storage: Storage,
        a_shape: Shape,
        a_strides: Strides,
        b_storage: Storage,
        b_shape: Shape,
        b_strides: Strides,
    ) -> None:
        out_index: Index = np.zeros(MAX_DIMS, np.int32)
        a_index: Index = np.zeros(MAX_DIMS, np.int32)
        b_index: Index = np.zeros(MAX_DIMS, np.int32)
        for ordinal in range(len(out)):
            to_index(ordinal, out_shape, out_index)
            broadcast_index(out_index, out_shape, a_shape, a_index)
            broadcast_index(out_index, out_shape, b_shape, b_index)
            o = index_to_position(out_index, out_strides)
            i = index_to_position(a_index, a_strides)
            j = index_to_position(b_index, b_strides)
            out[o] = fn(a_storage[i], b_storage[j])

    return loop


def tensor_reduce(
    fn: Callable[[float, float], float],
) -> Callable[[Storage, Shape, Strides, Storage, Shape, Strides, int], None]:
    """The loop of `SimpleOps.reduce`: the result holds the start value when it is called."""

    def loop(
        out: Storage,
        out_shape: Shape,
        out_strides: Strides,
        a_storage: Storage,
        a_shape: Shape,
        a_strides: Strides,
        reduce_dim: int,
    ) -> None:
        index: Index = np.zeros(len(out_shape), np.int32)
        for ordinal in range(len(out)):
            to_index(ordinal, out_shape, index)
            o = index_to_position(index, out_strides)
            for step in range(a_shape[reduce_dim]):
                index[reduce_dim] = step
                i = index_to_position(index, a_strides)
                out[o] = fn(out[o], a_storage[i])

    return loop


def _matmul_loop(out: Laid, a: Laid, b: Laid) -> None:
    out_index, a_index, b_index = (np.zeros(len(x[1]), np.int32) for x in (out, a, b))
    for ordinal in range(len(out[0])):
        to_index(ordinal, out[1], out_index)
        broadcast_index(out_index, out[1], a[1], a_index)
        broadcast_index(out_index, out[1], b[1], b_index)
        a_index[-2], b_index[-1] = out_index[-2], out_index[-1]
        total = 0.0
        for k in range(a[1][-1]):
            a_index[-1] = b_index[-2] = k
            total += a[0][index_to_position(a_index, a[2])] * b[0][index_to_position(b_index, b[2])]
        out[0][index_to_position(out_index, out[2])] = total


SimpleBackend = TensorBackend(SimpleOps)
"""The backend of tensors that are made without naming one."""


__all__ = [
    "MapProto",
    "SimpleBackend",
    "SimpleOps",
    "TensorBackend",
    "TensorOps",
    "tensor_map",
    "tensor_reduce",
    "tensor_zip",
]
