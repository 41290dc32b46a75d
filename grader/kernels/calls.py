"""Calls of the four functions in ``combine.cu``: their arguments as minitorch hands them over, and what is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grader.cases import Array
from grader.kernels import functions
from grader.kernels.functions import Float

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class View:
    """A tensor as minitorch keeps it: a storage, and a shape and strides that look at it.

    Attributes:
        storage: float32, one-dimensional.
        shape: of the tensor.
        strides: in elements.
    """

    storage: Floats
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def values(self) -> Float:
        """The tensor in float64."""
        strides = [4 * stride for stride in self.strides]
        return np.lib.stride_tricks.as_strided(self.storage, self.shape, strides).astype(np.float64)


@dataclass(frozen=True)
class Call:
    """A call.

    Attributes:
        function: ``tensorMap``, ``tensorZip``, ``tensorReduce`` or ``MatrixMultiply``.
        arguments: in order, each with its name; a scalar has no axes. The first is the array that is written.
        expected: the tensor that the first argument is to hold.
        says: what is called, for messages.
    """

    function: str
    arguments: Sequence[tuple[str, Array]]
    expected: Float
    says: str


def view(values: Array, order: Sequence[int] | None = None) -> View:
    """A tensor of these values; with its axes permuted where an order is given, its storage as it was."""
    plain = np.ascontiguousarray(values, dtype=np.float32)
    seen = plain if order is None else plain.transpose(order)
    return View(plain.reshape(-1), seen.shape, contiguous(plain.shape) if order is None else _permuted(plain, order))


def _permuted(plain: Floats, order: Sequence[int]) -> tuple[int, ...]:
    strides = contiguous(plain.shape)
    return tuple(strides[axis] for axis in order)


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a tensor whose elements lie in order."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def _whole(value: int) -> Array:
    return np.array(value, dtype=np.int32)


def _layout(prefix: str, shape: Sequence[int], strides: Sequence[int]) -> list[tuple[str, Array]]:
    return [(f"{prefix}_shape", np.array(shape, np.int32)), (f"{prefix}_strides", np.array(strides, np.int32))]


def _tensor(prefix: str, tensor: View) -> list[tuple[str, Array]]:
    return [(f"{prefix}_storage", tensor.storage), *_layout(prefix, tensor.shape, tensor.strides)]


def _out(shape: Sequence[int]) -> list[tuple[str, Array]]:
    """The array that is written, of zeros as minitorch hands it over."""
    return [("out", np.zeros(int(np.prod(shape)), np.float32)), *_layout("out", shape, contiguous(shape))]


def map_call(fn: int, tensor: View, shape: Sequence[int] | None = None) -> Call:
    """``tensorMap``; into a larger shape where one is given."""
    shape = tuple(shape or tensor.shape)
    size = int(np.prod(shape))
    arguments = [
        *_out(shape),
        ("out_size", _whole(size)),
        *_tensor("in", tensor),
        ("in_size", _whole(tensor.storage.size)),
        ("shape_size", _whole(len(tensor.shape))),
        ("fn_id", _whole(fn)),
    ]
    with np.errstate(all="ignore"):
        expected = np.broadcast_to(functions.ONE[fn](tensor.values), shape)
    name = functions.NAMES[fn]
    into = "" if shape == tensor.shape else f" into {list(shape)}"
    return Call("tensorMap", arguments, expected, f"{name} of {_shown(tensor)}{into}")


def zip_call(fn: int, a: View, b: View) -> Call:
    """``tensorZip``."""
    with np.errstate(all="ignore"):
        expected = functions.TWO[fn](a.values, b.values)
    arguments = [
        *_out(expected.shape),
        ("out_size", _whole(expected.size)),
        ("out_shape_size", _whole(expected.ndim)),
        *_tensor("a", a),
        ("a_size", _whole(a.storage.size)),
        ("a_shape_size", _whole(len(a.shape))),
        *_tensor("b", b),
        ("b_size", _whole(b.storage.size)),
        ("b_shape_size", _whole(len(b.shape))),
        ("fn_id", _whole(fn)),
    ]
    says = f"{functions.NAMES[fn]} of {_shown(a)} and {_shown(b)}"
    return Call("tensorZip", arguments, np.asarray(expected), says)


def reduce_call(fn: int, tensor: View, axis: int, start: float) -> Call:
    """``tensorReduce``."""
    with np.errstate(all="ignore"):
        expected = functions.REDUCE[fn](tensor.values, axis, start)
    arguments = [
        *_out(expected.shape),
        ("out_size", _whole(expected.size)),
        *_tensor("a", tensor),
        ("reduce_dim", _whole(axis)),
        ("reduce_value", np.array(start, np.float32)),
        ("shape_size", _whole(len(tensor.shape))),
        ("fn_id", _whole(fn)),
    ]
    says = f"{functions.NAMES[fn]} of {_shown(tensor)} over axis {axis} from {start:g}"
    return Call("tensorReduce", arguments, expected, says)


def multiply_call(a: View, b: View) -> Call:
    """``MatrixMultiply`` of ``[B, M, N]`` and ``[B, N, P]``."""
    with np.errstate(all="ignore"):
        expected = np.matmul(a.values, b.values)
    batch, m, p = expected.shape
    arguments = [
        *_out(expected.shape),
        *_tensor("a", a),
        *_tensor("b", b),
        ("batch", _whole(batch)),
        ("m", _whole(m)),
        ("p", _whole(p)),
    ]
    return Call("MatrixMultiply", arguments, expected, f"{_shown(a)} times {_shown(b)}")


def _shown(tensor: View) -> str:
    permuted = "" if tensor.strides == contiguous(tensor.shape) else " (permuted)"
    return f"{list(tensor.shape)}{permuted}"
