"""Which operations answer for a backend, as ``MINITORCH_BACKEND`` says.

=========  ===================================================================================
``auto``   (the default) ``CudaKernelOps`` where CUDA can be used, `NumpyOps` in its place where
           not; `NumpyOps` in place of `SimpleOps` always: the same values, hundreds of times faster
``cuda``   ``CudaKernelOps`` or an error that says what is missing; `SimpleOps` as it is
``numpy``  `NumpyOps` in place of both
``simple`` `SimpleOps` in place of both
=========  ===================================================================================

So project code names the backend that the course names and runs on a laptop unchanged. The backends
themselves are imported when they are asked for: `tensor_ops` asks while it is being imported.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .tensor_ops import TensorOps

VARIABLE = "MINITORCH_BACKEND"
NAMES = ("auto", "cuda", "numpy", "simple")


def backend_name() -> str:
    """The value of ``MINITORCH_BACKEND``, ``auto`` if it is not set.

    Raises:
        ValueError: if it is none of the four names.
    """
    name = os.environ.get(VARIABLE) or "auto"
    if name not in NAMES:
        raise ValueError(f"{VARIABLE}={name}: must be one of {', '.join(NAMES)}")
    return name


def cuda_problem() -> str | None:
    """What keeps CUDA from being used, or None if nothing does."""
    from . import cuda_kernel_ops

    return cuda_kernel_ops.problem()


def answer(ops: type[TensorOps]) -> type[TensorOps]:
    """The operations that answer where a program asks for ``ops``.

    Raises:
        RuntimeError: if CUDA is demanded and cannot be used.
    """
    from .numpy_ops import NumpyOps
    from .tensor_ops import SimpleOps

    name = backend_name()
    if ops.cuda_kernels:
        return _for_cuda(name, ops)
    if ops is SimpleOps and name in ("auto", "numpy"):
        return NumpyOps
    return ops


def _for_cuda(name: str, ops: type[TensorOps]) -> type[TensorOps]:
    from .numpy_ops import NumpyOps
    from .tensor_ops import SimpleOps

    if name == "simple":
        return SimpleOps
    if name == "numpy":
        return NumpyOps
    problem = cuda_problem()
    if problem is None:
        return ops
    if name == "cuda":
        raise RuntimeError(problem)
    _say_once(f"minitorch: no CUDA, so the NumPy backend is used. {problem}")
    return NumpyOps


@cache
def _say_once(message: str) -> None:
    print(message, file=sys.stderr)


__all__ = [
    "answer",
    "backend_name",
    "cuda_problem",
]
