"""The differentiable functions of tensors, and the ways to make a tensor.

In what follows the *derivative* of a tensor is that of the final scalar with respect to it, and has
its shape; ``backward`` turns the derivative of a function's result into those of its arguments.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

import minitorch

from .autodiff import Context
from .nested import to_array
from .tensor_data import TensorData, datatype
from .tensor_ops import SimpleBackend, TensorBackend

if TYPE_CHECKING:
    from .tensor import Tensor
    from .tensor_data import UserShape

NO_GRAD = Context(True)
"""The context of calls without a derivative: it keeps nothing."""


@dataclass(slots=True)
class History:
    """How a tensor came about; empty for a leaf.

    Attributes:
        last_fn: the function whose result it is.
        ctx: what that function's forward pass has saved.
        inputs: the function's tensor arguments.
    """

    last_fn: type[Function] | None = None
    ctx: Context | None = None
    inputs: Sequence[Tensor] = ()


class Function:
    """A differentiable function of tensors.

    Both passes are written with the backend's operations (``t.f.add_zip`` and the like), which leave no
    trace in the graph. ``forward`` returns a new tensor; ``backward`` returns the derivative of each
    tensor argument, in order, in any shape that broadcasts with it (see `Tensor.expand`).
    """

    @classmethod
    def apply(cls, *tensors: Tensor, **settings: Any) -> Tensor:
        """Call the function and record the call, if an argument has a history.

        Args:
            *tensors: the arguments that can have a derivative: the parents in the graph.
            **settings: what has none, such as a dimension or a shape.
        """
        for t in tensors:
            if t.history is not None:
                break
        else:
            return cls.forward(NO_GRAD, *tensors, **settings)
        ctx = Context()
        out = cls.forward(ctx, *tensors, **settings)
        out.history = History(cls, ctx, tensors)
        return out

    forward: ClassVar[Callable[..., Tensor]]

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> Any:
        """The derivatives of the arguments.

        Args:
            ctx: what forward has saved.
            grad_output: the derivative of the result, of its shape.
        """
        raise NotImplementedError("this function has no derivative")


class Neg(Function):
    """``-a``."""

    @staticmethod
    def forward(ctx: Context, a: Tensor) -> Tensor:
        """Elementwise."""
        return a.f.neg_map(a)

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> Tensor:
        """``-d``."""
        return grad_output.f.neg_map(grad_output)


class Inv(Function):
    """``1 / a``."""

    @staticmethod
    def forward(ctx: Context, a: Tensor) -> Tensor:
        """Elementwise."""
        ctx.save_for_backward(a)
        return a.f.inv_map(a)

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> Tensor:
        """``-d / a²``."""
        (a,) = ctx.saved_values
        return grad_output.f.inv_back_zip(a, grad_output)


class Add(Function):
    """``a + b``."""

    @staticmethod
    def forward(ctx: Context, a: Tensor, b: Tensor) -> Tensor:
        """Elementwise, broadcast."""
        return a.f.add_zip(a, b)

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """``d`` to both."""
        return grad_output, grad_output


class Mul(Function):
    """``a · b``."""

    @staticmethod
    def forward(ctx: Context, a: Tensor, b: Tensor) -> Tensor:
        """Elementwise, broadcast."""
        ctx.save_for_backward(a, b)
        return a.f.mul_zip(a, b)

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """``b · d`` and ``a · d``."""
        a, b = ctx.saved_values
        f = grad_output.f
        return f.mul_zip(b, grad_output), f.mul_zip(a, grad_output)


class PowerScalar(Function):
    """``a`` to a power that is the same for all elements."""

    @staticmethod
    def forward(ctx: Context, a: Tensor, scalar: Tensor) -> Tensor:
        """Elementwise; ``scalar`` has the shape ``[1]``."""
        ctx.save_for_backward(a, scalar)
        return a.f.pow_scalar_zip(a, scalar)

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> tuple[Tensor, float]:
        """``scalar · a^(scalar - 1) · d`` to ``a``; the exponent counts as a constant."""
        a, scalar = ctx.saved_values
        f = grad_output.f
        less_one = f.add_zip(scalar, scalar._constant(-1.0))
        slope = f.mul_zip(scalar, f.pow_scalar_zip(a, less_one))
        return f.mul_zip(grad_output, slope), 0.0


class Tanh(Function):
    """The hyperbolic tangent."""

    @staticmethod
    def forward(ctx: Context, a: Tensor) -> Tensor:
        """Elementwise."""
        out = a.f.tanh_map(a)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> Tensor:
        """``(1 - tanh²) · d``."""
        (out,) = ctx.saved_values
        f = grad_output.f
        slope = f.add_zip(f.neg_map(f.mul_zip(out, out)), out._constant(1.0))
        return f.mul_zip(slope, grad_output)


class Sigmoid(Function):
    """The logistic function."""

    @staticmethod
    def forward(ctx: Context, a: Tensor) -> Tensor:
        """Elementwise."""
        out = a.f.sigmoid_map(a)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> Tensor:
        """``σ (1 - σ) · d``."""
        (out,) = ctx.saved_values
        f = grad_output.f
        rest = f.add_zip(f.neg_map(out), out._constant(1.0))
        return f.mul_zip(f.mul_zip(out, rest), grad_output)


class ReLU(Function):
    """``a`` where it is positive, else 0."""

    @staticmethod
    def forward(ctx: Context, a: Tensor) -> Tensor:
        """Elementwise."""
        ctx.save_for_backward(a)
        return a.f.relu_map(a)

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> Tensor:
        """``d`` where ``a`` is positive, else 0."""
        (a,) = ctx.saved_values
        return grad_output.f.relu_back_zip(a, grad_output)


class Log(Function):
    """The natural logarithm of ``a + 1e-6``."""

    @staticmethod
    def forward(ctx: Context, a: Tensor) -> Tensor:
        """Elementwise."""
        ctx.save_for_backward(a)
        return a.f.log_map(a)

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> Tensor:
        """``d / (a + 1e-6)``."""
        (a,) = ctx.saved_values
        return grad_output.f.log_back_zip(a, grad_output)


class Exp(Function):
    """The exponential."""

    @staticmethod
    def forward(ctx: Context, a: Tensor) -> Tensor:
        """Elementwise."""
        out = a.f.exp_map(a)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> Tensor:
        """``exp(a) · d``."""
        (out,) = ctx.saved_values
        return grad_output.f.mul_zip(out, grad_output)


class Sum(Function):
    """The sum over one dimension, which is kept with size 1."""

    @staticmethod
    def forward(ctx: Context, a: Tensor, dim: Tensor | int) -> Tensor:
        """``[..., N, ...]`` to ``[..., 1, ...]``."""
        return a.f.add_reduce(a, _as_int(dim))

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> Tensor:
        """``d``, broadcast over the dimension."""
        return grad_output


class All(Function):
    """The product over one dimension: 1 if all are 1, as the results of comparisons are."""

    @staticmethod
    def forward(ctx: Context, a: Tensor, dim: Tensor | int) -> Tensor:
        """``[..., N, ...]`` to ``[..., 1, ...]``."""
        return a.f.mul_reduce(a, _as_int(dim))


class _Comparison(Function):
    """A step function: its derivative is 0."""

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> tuple[float, float]:
        """0 to both."""
        return 0.0, 0.0


class LT(_Comparison):
    """1 where ``a < b``, else 0."""

    @staticmethod
    def forward(ctx: Context, a: Tensor, b: Tensor) -> Tensor:
        """Elementwise, broadcast."""
        return a.f.lt_zip(a, b)


class EQ(_Comparison):
    """1 where ``a == b``, else 0."""

    @staticmethod
    def forward(ctx: Context, a: Tensor, b: Tensor) -> Tensor:
        """Elementwise, broadcast."""
        return a.f.eq_zip(a, b)


class IsClose(_Comparison):
    """1 where ``|a - b| < 1e-2``, else 0."""

    @staticmethod
    def forward(ctx: Context, a: Tensor, b: Tensor) -> Tensor:
        """Elementwise, broadcast."""
        return a.f.is_close_zip(a, b)


class Permute(Function):
    """The dimensions in another order."""

    @staticmethod
    def forward(ctx: Context, a: Tensor, order: Tensor | Sequence[int]) -> Tensor:
        """Dimension ``i`` of the result is dimension ``order[i]`` of ``a``."""
        axes = _as_ints(order)
        ctx.save_for_backward(axes)
        return a._new(a._tensor.permute(*axes))

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> Tensor:
        """``d`` with the order undone."""
        (axes,) = ctx.saved_values
        undone = sorted(range(len(axes)), key=axes.__getitem__)
        return grad_output._new(grad_output._tensor.permute(*undone))


class View(Function):
    """The same elements under another shape."""

    @staticmethod
    def forward(ctx: Context, a: Tensor, shape: Tensor | Sequence[int]) -> Tensor:
        """``a`` must be contiguous, and the sizes equal."""
        ctx.save_for_backward(a.shape)
        return a._new(a._tensor.view(_as_ints(shape)))

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> Tensor:
        """``d`` in the old shape."""
        (original,) = ctx.saved_values
        if not grad_output._tensor.is_contiguous():
            grad_output = grad_output.f.id_map(grad_output)
        return grad_output._new(grad_output._tensor.view(original))


class Copy(Function):
    """The same elements in row-major order."""

    @staticmethod
    def forward(ctx: Context, a: Tensor) -> Tensor:
        """A contiguous copy."""
        return a.f.id_map(a)

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> Tensor:
        """``d``."""
        return grad_output


class MatMul(Function):
    """The matrix product over the last two dimensions."""

    @staticmethod
    def forward(ctx: Context, a: Tensor, b: Tensor) -> Tensor:
        """``[..., M, N]`` times ``[..., N, P]``."""
        ctx.save_for_backward(a, b)
        return a.f.matrix_multiply(a, b)

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """``d · bᵀ`` and ``aᵀ · d``."""
        a, b = ctx.saved_values
        multiply = grad_output.f.matrix_multiply
        return multiply(grad_output, _transposed(b)), multiply(_transposed(a), grad_output)


def _transposed(a: Tensor) -> Tensor:
    data = a._tensor
    return a._new(TensorData.of(data.array.swapaxes(-1, -2), data._storage))


def _as_int(x: Tensor | int) -> int:
    return x if isinstance(x, int) else int(x.item())


def _as_ints(x: Tensor | Sequence[int]) -> Sequence[int]:
    if isinstance(x, minitorch.Tensor):
        return [int(i) for i in x._tensor._storage]
    return x[0] if len(x) == 1 and isinstance(x[0], tuple | list) else x


# ---- making tensors ------------------------------------------------------------------------------


def _from_array(array: npt.NDArray[Any], backend: TensorBackend, requires_grad: bool = False) -> Tensor:
    out = minitorch.Tensor(TensorData.of(array), backend=backend)
    if requires_grad:
        out.requires_grad_(True)
    return out


def zeros(shape: UserShape, backend: TensorBackend = SimpleBackend) -> Tensor:
    """A tensor of zeros."""
    return _from_array(np.zeros(tuple(shape), datatype), backend)


def ones(shape: UserShape, backend: TensorBackend = SimpleBackend) -> Tensor:
    """A tensor of ones."""
    return _from_array(np.ones(tuple(shape), datatype), backend)


def rand(shape: UserShape, backend: TensorBackend = SimpleBackend, requires_grad: bool = False) -> Tensor:
    """A tensor of uniform random numbers in [0, 1), one ``random.random()`` each, in row-major order."""
    draw = random.random
    size = int(np.prod(shape, dtype=np.int64))
    values = np.array([draw() for _ in range(size)], dtype=datatype)
    return _from_array(values.reshape(tuple(shape)), backend, requires_grad)


def tensor(ls: Any, backend: TensorBackend = SimpleBackend, requires_grad: bool = False) -> Tensor:
    """A tensor of the numbers in nested lists, whose lengths give the shape.

    Raises:
        ValueError: if lists at the same depth differ in length.
    """
    return _from_array(to_array(ls), backend, requires_grad)


def _tensor(
    ls: Sequence[float],
    shape: UserShape,
    backend: TensorBackend = SimpleBackend,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of the given shape with the elements of a flat list."""
    out = minitorch.Tensor(TensorData(ls, shape), backend=backend)
    if requires_grad:
        out.requires_grad_(True)
    return out


def tensor_from_numpy(
    ls: npt.NDArray[Any], backend: TensorBackend = SimpleBackend, requires_grad: bool = False
) -> Tensor:
    """A tensor with a float32 copy of an array."""
    return _from_array(np.array(ls, dtype=datatype, order="C"), backend, requires_grad)


def zeros_tensor_from_numpy(shape: UserShape, backend: TensorBackend = SimpleBackend) -> Tensor:
    """See `zeros`."""
    return zeros(shape, backend)


def ones_tensor_from_numpy(shape: UserShape, backend: TensorBackend = SimpleBackend) -> Tensor:
    """See `ones`."""
    return ones(shape, backend)


from .gradcheck import grad_central_difference, grad_check  # noqa: E402  (needs the names above)

__all__ = [
    "EQ",
    "LT",
    "Add",
    "All",
    "Copy",
    "Exp",
    "Function",
    "History",
    "Inv",
    "IsClose",
    "Log",
    "MatMul",
    "Mul",
    "Neg",
    "Permute",
    "PowerScalar",
    "ReLU",
    "Sigmoid",
    "Sum",
    "Tanh",
    "View",
    "grad_central_difference",
    "grad_check",
    "ones",
    "ones_tensor_from_numpy",
    "rand",
    "tensor",
    "tensor_from_numpy",
    "zeros",
    "zeros_tensor_from_numpy",
]
