"""Tensor files as NumPy arrays, on the sandbox's side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from assignments.common.probe_io import Tensor, read_tensors, write_tensors

Array = npt.NDArray[Any]

KINDS = {"F32": np.float32, "F64": np.float64, "I32": np.int32, "I64": np.int64}
NAMES = {np.dtype(kind): name for name, kind in KINDS.items()}


def read(path: str) -> dict[str, Array]:
    """The arrays of a tensor file; copies that may be written to."""
    return {name: _array(tensor) for name, tensor in read_tensors(path).items()}


def _array(tensor: Tensor) -> Array:
    return np.frombuffer(bytes(tensor.data), KINDS[tensor.dtype]).reshape(tensor.shape).copy()


def write(path: str, arrays: Mapping[str, Any]) -> None:
    """Writes arrays (or numbers, or nested lists of them) as a tensor file; floats and integers of any size."""
    write_tensors(path, {name: _tensor(value) for name, value in arrays.items()})


def _tensor(value: object) -> Tensor:
    array = np.asarray(value)
    if array.dtype not in NAMES:
        array = array.astype(np.int64 if array.dtype.kind in "biu" else np.float64)
    return Tensor(NAMES[array.dtype], list(array.shape), np.ascontiguousarray(array).tobytes())
