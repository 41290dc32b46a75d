"""`CudaKernelOps`: the operations of a backend by the CUDA kernels of ``src/combine.cu``.

The kernels are compiled into ``minitorch/cuda_kernels/combine.so`` (see the README) and called through
ctypes; PyCUDA provides the context. Nothing is loaded before the backend is asked for, and where
something is missing `minitorch.backends` decides what happens.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import operators
from .tensor_data import TensorData, shape_broadcast
from .tensor_ops import MapProto, TensorOps, check_matmul_shapes

if TYPE_CHECKING:
    from .tensor import Tensor

LIBRARY = Path(__file__).parent / "cuda_kernels" / "combine.so"
"""The compiled kernels."""

fn_map: dict[Callable[..., Any], int] = {
    operators.add: 1,
    operators.mul: 2,
    operators.id: 3,
    operators.neg: 4,
    operators.lt: 5,
    operators.eq: 6,
    operators.sigmoid: 7,
    operators.relu: 8,
    operators.relu_back: 9,
    operators.log: 10,
    operators.log_back: 11,
    operators.exp: 12,
    operators.inv: 13,
    operators.inv_back: 14,
    operators.is_close: 15,
    operators.max: 16,
    operators.pow: 17,
    operators.tanh: 18,
}
"""The number by which the kernels know each operator."""

FLOATS = np.ctypeslib.ndpointer(dtype=np.float32, ndim=1, flags="C_CONTIGUOUS")
INTS = np.ctypeslib.ndpointer(dtype=np.int32, ndim=1, flags="C_CONTIGUOUS")
INT = ctypes.c_int
TENSOR = [FLOATS, INTS, INTS]

SIGNATURES: dict[str, list[Any]] = {
    "tensorMap": [*TENSOR, INT, *TENSOR, INT, INT, INT],
    "tensorZip": [*TENSOR, INT, INT, *TENSOR, INT, INT, *TENSOR, INT, INT, INT],
    "tensorReduce": [*TENSOR, INT, *TENSOR, INT, ctypes.c_float, INT, INT],
    "MatrixMultiply": [*TENSOR, *TENSOR, *TENSOR, INT, INT, INT],
}
"""The argument types of the launchers; a tensor is its storage, shape and strides."""


@cache
def problem() -> str | None:
    """What keeps the kernels from being used, or None if nothing does."""
    try:
        importlib.import_module("pycuda.driver")
    except ModuleNotFoundError:
        return "PyCUDA is not installed: pip install pycuda, on a machine with the CUDA toolkit."
    except ImportError as error:
        return f"PyCUDA cannot load the NVIDIA driver ({error}): is there a GPU, and its driver?"
    try:
        importlib.import_module("pycuda.autoinit")
    except Exception as error:  # PyCUDA's own error type is known only after the import
        return f"The NVIDIA driver gives no GPU ({error})."
    if not LIBRARY.is_file():
        return f"The kernels are not compiled: {LIBRARY} is missing. The README says how to make it."
    return None


@cache
def library() -> ctypes.CDLL:
    """The compiled kernels with their signatures.

    Raises:
        RuntimeError: if they cannot be used, with the reason.
    """
    reason = problem()
    if reason is not None:
        raise RuntimeError(reason)
    try:
        lib = ctypes.CDLL(str(LIBRARY))
        for name, argtypes in SIGNATURES.items():
            getattr(lib, name).argtypes = argtypes
            getattr(lib, name).restype = None
    except (OSError, AttributeError) as error:
        raise RuntimeError(f"{LIBRARY} cannot be used: {error}. Compile it again.") from None
    return lib


def _laid(t: Tensor) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Storage, shape and strides as the kernels want them."""
    data = t._tensor
    return data._storage, data._shape.astype(np.int32), data._strides.astype(np.int32)


class CudaKernelOps(TensorOps):
    """The operations as kernel launches; each copies its tensors to the GPU and the result back."""

    cuda_kernels = True

    @staticmethod
    def map(fn: Callable[[float], float]) -> MapProto:
        """See `TensorOps.map`."""
        fn_id = fn_map[fn]

        def apply(a: Tensor, out: Tensor | None = None) -> Tensor:
            if out is None:
                out = a.zeros()
            a = _with_dims(a, out.dims)
            library().tensorMap(*_laid(out), out.size, *_laid(a), a.size, out.dims, fn_id)
            return out

        return apply

    @staticmethod
    def zip(fn: Callable[[float, float], float]) -> Callable[[Tensor, Tensor], Tensor]:
        """See `TensorOps.zip`."""
        fn_id = fn_map[fn]

        def apply(a: Tensor, b: Tensor) -> Tensor:
            out = a.zeros(shape_broadcast(a.shape, b.shape))
            operands = (*_laid(a), a.size, a.dims, *_laid(b), b.size, b.dims)
            library().tensorZip(*_laid(out), out.size, out.dims, *operands, fn_id)
            return out

        return apply

    @staticmethod
    def reduce(fn: Callable[[float, float], float], start: float = 0.0) -> Callable[[Tensor, int], Tensor]:
        """See `TensorOps.reduce`."""
        fn_id = fn_map[fn]

        def apply(a: Tensor, dim: int) -> Tensor:
            shape = list(a.shape)
            shape[dim] = 1
            out = a.zeros(shape)
            library().tensorReduce(*_laid(out), out.size, *_laid(a), dim % a.dims, start, a.dims, fn_id)
            return out

        return apply

    @staticmethod
    def matrix_multiply(a: Tensor, b: Tensor) -> Tensor:
        """See `TensorOps.matrix_multiply`."""
        check_matmul_shapes(a.shape, b.shape)
        batch = shape_broadcast(a.shape[:-2], b.shape[:-2])
        a3, b3 = _batched(a, batch), _batched(b, batch)
        out = a.zeros((a3.shape[0], a3.shape[1], b3.shape[2]))
        library().MatrixMultiply(*_laid(out), *_laid(a3), *_laid(b3), *out.shape)
        return out._new(out._tensor.view((*batch, *out.shape[1:])))


def _with_dims(a: Tensor, dims: int) -> Tensor:
    """The same tensor with leading dimensions of size 1 added: the map kernel knows one number of them."""
    if a.dims == dims:
        return a
    shape = (1,) * (dims - a.dims) + a.shape
    return a._new(TensorData.of(a._tensor.array.reshape(shape), a._tensor._storage))


def _batched(a: Tensor, batch: tuple[int, ...]) -> Tensor:
    """A stack of matrices ``[B, rows, columns]``, repeated where the batch dimensions broadcast."""
    matrix = a.shape[-2:]
    array = a._tensor.array
    if array.ndim == 2 and not batch:
        return a._new(TensorData.of(array.reshape((1, *matrix)), a._tensor._storage))
    repeated = np.broadcast_to(array, (*batch, *matrix)).reshape((-1, *matrix))
    return a._new(TensorData.of(np.ascontiguousarray(repeated)))
