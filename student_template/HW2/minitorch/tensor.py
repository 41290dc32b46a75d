"""`Tensor`: an array of floats that is a variable of the computation graph."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import autodiff
from .tensor_data import Laid, TensorData, datatype, shape_broadcast
from .tensor_functions import (
    EQ,
    LT,
    Add,
    All,
    Copy,
    Exp,
    History,
    Inv,
    IsClose,
    Log,
    MatMul,
    Mul,
    Neg,
    Permute,
    PowerScalar,
    ReLU,
    Sigmoid,
    Sum,
    Tanh,
    View,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .tensor_data import Storage, UserIndex, UserShape, UserStrides
    from .tensor_ops import TensorBackend


Sizes: TypeAlias = tuple[int, ...]
TensorLike: TypeAlias = "float | int | Tensor"
Link: TypeAlias = "tuple[Tensor, Tensor]"

_ids = count(1)


class Tensor:
    """An array of float32 with a backend that computes on it and a history that autodiff follows.

    A tensor is *constant* (no history), a *leaf* (an empty history: it gathers a derivative in
    ``grad``), or the result of a function. Tensors are compared by value with ``==``, which gives a
    tensor, and are told apart as keys by identity.

    Attributes:
        backend: the operations; ``f`` is the same.
        history: how it came about; None for a constant.
        grad: the derivative gathered so far, of the same shape; None before the first.
        unique_id: a number that no other tensor has, rising with the order of creation.
    """

    __array_ufunc__ = None  # so that a NumPy scalar on the left leaves the operation to the tensor

    _tensor: TensorData
    backend: TensorBackend
    f: TensorBackend
    unique_id: int
    history: History | None = None
    grad: Tensor | None = None
    _name: str | None = None

    def __init__(
        self,
        v: TensorData,
        back: History | None = None,
        name: str | None = None,
        backend: TensorBackend | None = None,
    ) -> None:
        assert isinstance(v, TensorData), "a Tensor is made of TensorData; see minitorch.tensor"
        assert backend is not None, "a Tensor needs a backend"
        self.unique_id = next(_ids)
        self._tensor = v
        self.backend = self.f = backend
        if back is not None:
            self.history = back
        if name is not None:
            self._name = name

    @property
    def name(self) -> str:
        """The given name, or else the `unique_id`."""
        return str(self.unique_id) if self._name is None else self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = name

    def requires_grad_(self, x: bool) -> None:
        """Make it a leaf, or a constant; its history is forgotten."""
        self.history = History() if x else None

    def requires_grad(self) -> bool:
        """Whether it is part of the graph."""
        return self.history is not None

    def to_numpy(self) -> npt.NDArray[Any]:
        """A copy of the elements as an array of its shape."""
        return np.array(self._tensor.array, order="C")

    @property
    def shape(self) -> Sizes:
        """The sizes of the dimensions."""
        return self._tensor.shape

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._tensor.array.size

    @property
    def dims(self) -> int:
        """The number of dimensions."""
        return len(self._tensor.shape)

    # ---- arithmetic ------------------------------------------------------------------------------

    def _constant(self, x: float) -> Tensor:
        """A constant of shape ``[1]`` on the same backend."""
        return Tensor(TensorData.of(np.array((x,), datatype)), backend=self.backend)

    def _ensure_tensor(self, b: TensorLike) -> Tensor:
        """A number as a constant of shape ``[1]``; a tensor as it is, moved to the same backend."""
        if isinstance(b, Tensor):
            if b.backend is not self.backend:
                b._type_(self.backend)
            return b
        if isinstance(b, int | float | np.number):
            return self._constant(b)
        raise TypeError(f"a tensor and {type(b).__name__} do not combine")

    def __add__(self, b: TensorLike) -> Tensor:
        return Add.apply(self, self._ensure_tensor(b))

    def __radd__(self, b: TensorLike) -> Tensor:
        return Add.apply(self, self._ensure_tensor(b))

    def __sub__(self, b: TensorLike) -> Tensor:
        if isinstance(b, int | float):
            return Add.apply(self, self._constant(-b))
        return Add.apply(self, Neg.apply(self._ensure_tensor(b)))

    def __mul__(self, b: TensorLike) -> Tensor:
        return Mul.apply(self, self._ensure_tensor(b))

    def __rmul__(self, b: TensorLike) -> Tensor:
        return Mul.apply(self, self._ensure_tensor(b))

    def __truediv__(self, b: TensorLike) -> Tensor:
        if isinstance(b, int | float) and b != 0:
            return Mul.apply(self, self._constant(1.0 / b))
        return Mul.apply(self, Inv.apply(self._ensure_tensor(b)))

    def __rtruediv__(self, b: TensorLike) -> Tensor:
        return Mul.apply(self._ensure_tensor(b), Inv.apply(self))

    def __matmul__(self, b: Tensor) -> Tensor:
        return MatMul.apply(self, self._ensure_tensor(b))

    def __pow__(self, b: TensorLike) -> Tensor:
        exponent = self._ensure_tensor(b)
        if exponent.dims != 1:
            raise NotImplementedError("the exponent must be a number or of shape [1]")
        return PowerScalar.apply(self, exponent)

    def __neg__(self) -> Tensor:
        return Neg.apply(self)

    def __lt__(self, b: TensorLike) -> Tensor:
        return LT.apply(self, self._ensure_tensor(b))

    def __gt__(self, b: TensorLike) -> Tensor:
        return LT.apply(self._ensure_tensor(b), self)

    def __eq__(self, b: TensorLike) -> Tensor:  # type: ignore[override]
        return EQ.apply(self, self._ensure_tensor(b))

    __hash__ = object.__hash__

    def is_close(self, y: Tensor) -> Tensor:
        """1 where the elements differ by less than 0.01, else 0."""
        return IsClose.apply(self, self._ensure_tensor(y))

    def sigmoid(self) -> Tensor:
        """The logistic function of each element."""
        return Sigmoid.apply(self)

    def relu(self) -> Tensor:
        """Each element, or 0 if it is negative."""
        return ReLU.apply(self)

    def log(self) -> Tensor:
        """The natural logarithm of each element plus 1e-6."""
        return Log.apply(self)

    def exp(self) -> Tensor:
        """The exponential of each element."""
        return Exp.apply(self)

    def tanh(self) -> Tensor:
        """The hyperbolic tangent of each element."""
        return Tanh.apply(self)

    # ---- reductions ------------------------------------------------------------------------------

    def all(self, dim: int | None = None) -> Tensor:
        """1 if all elements (along ``dim``) are 1; shape ``[1]`` without ``dim``."""
        if dim is None:
            return All.apply(self._flat(), dim=0)
        return All.apply(self, dim=int(dim))

    def sum(self, dim: int | None = None) -> Tensor:
        """The sum over ``dim``, which is kept with size 1; over everything, of shape ``[1]``, without."""
        if dim is None:
            return Sum.apply(self._flat(), dim=0)
        return Sum.apply(self, dim=int(dim))

    def mean(self, dim: int | None = None) -> Tensor:
        """The mean over ``dim``, which is kept with size 1; over everything, of shape ``[1]``, without."""
        return self.sum(dim) / (self.size if dim is None else self.shape[dim])

    def var(self, dim: int | None = None) -> Tensor:
        """The mean squared distance from the mean, in the shapes of `mean`."""
        return ((self - self.mean(dim)) ** 2).mean(dim)

    def item(self) -> Any:
        """The only element, a NumPy float."""
        assert self.size == 1, f"item() of a tensor of shape {self.shape}"
        return self._tensor._storage[0]

    def _flat(self) -> Tensor:
        return self if len(self.shape) == 1 else self.contiguous().view(self.size)

    # ---- layout ----------------------------------------------------------------------------------

    def permute(self, *order: int) -> Tensor:
        """The dimensions in another order, over the same storage."""
        return Permute.apply(self, order=order)

    def view(self, *shape: int) -> Tensor:
        """The same storage under another shape of the same size; must be contiguous."""
        return View.apply(self, shape=shape)

    def contiguous(self) -> Tensor:
        """The same elements in row-major order: itself if they are."""
        return self if self._tensor.is_contiguous() else Copy.apply(self)

    def __repr__(self) -> str:
        return self._tensor.to_string()

    def __getitem__(self, key: int | UserIndex) -> Any:
        return self._tensor.get(key if isinstance(key, tuple | list) else (key,))

    def __setitem__(self, key: int | UserIndex, val: float) -> None:
        self._tensor.set(key if isinstance(key, tuple | list) else (key,), val)

    # ---- making tensors like this one ------------------------------------------------------------

    @staticmethod
    def make(
        storage: Storage | list[float],
        shape: UserShape,
        strides: UserStrides | None = None,
        backend: TensorBackend | None = None,
    ) -> Tensor:
        """A tensor over a storage; see `TensorData`."""
        return Tensor(TensorData(storage, shape, strides), backend=backend)

    def _new(self, tensor_data: TensorData) -> Tensor:
        return Tensor(tensor_data, backend=self.backend)

    def _type_(self, backend: TensorBackend) -> None:
        self.backend = self.f = backend

    def zeros(self, shape: UserShape | None = None) -> Tensor:
        """Zeros on the same backend, of this shape or another."""
        return self._new(TensorData.of(np.zeros(self.shape if shape is None else tuple(shape), datatype)))

    def detach(self) -> Tensor:
        """The same data as a constant."""
        return self._new(self._tensor)

    def tuple(self) -> Laid:
        """Storage, shape and strides."""
        return self._tensor.tuple()

    # ---- what autodiff asks of a variable --------------------------------------------------------

    def accumulate_derivative(self, x: Any) -> None:
        """Add ``x`` to ``grad``; leaves alone have one."""
        assert self.is_leaf(), "only leaves have a derivative"
        x = self.expand(self._ensure_tensor(x))
        self.grad = x.detach() if self.grad is None else self._new(self.f.add_zip(self.grad, x)._tensor)

    def is_leaf(self) -> bool:
        """Whether it was made by the user and takes part in the graph."""
        return self.history is not None and self.history.last_fn is None

    def is_constant(self) -> bool:
        """Whether it takes no part in the graph."""
        return self.history is None

    @property
    def parents(self) -> Iterable[Tensor]:
        """The arguments of the function that it is the result of."""
        assert self.history is not None, "a constant has no parents"
        return self.history.inputs

    def chain_rule(self, d_output: Any) -> Sequence[Link]:
        """The derivative of each parent, as far as it comes through this tensor.

        Args:
            d_output: the derivative of this tensor, of its shape.

        Returns:
            Each parent (constants too) with its derivative, of the parent's shape.
        """
        history = self.history
        assert history is not None, "a constant has no chain rule"
        assert history.last_fn is not None, "a leaf has no chain rule"
        assert history.ctx is not None
        derivatives = history.last_fn.backward(history.ctx, d_output)
        if not isinstance(derivatives, tuple):
            derivatives = (derivatives,)
        return [(parent, parent.expand(d)) for parent, d in zip(history.inputs, derivatives, strict=False)]

    def expand(self, other: TensorLike) -> Tensor:
        """Bring a derivative into this tensor's shape.

        What broadcasting has repeated on the way forward is summed on the way back; what a reduction has
        summed is repeated.

        Args:
            other: a tensor that broadcasts with this one, or a number.
        """
        if not isinstance(other, Tensor):
            other = self._constant(other)
        shape = self._tensor.shape
        if other._tensor.shape == shape:
            return other
        full = shape_broadcast(shape, other.shape)
        if full != other.shape:
            repeated = self.zeros(full)
            self.backend.id_map(other, repeated)
            other = repeated
        for dim, size in enumerate((1,) * (len(full) - len(shape)) + shape):
            if size != full[dim]:
                other = self.backend.add_reduce(other, dim)
        return other if other.shape == shape else other._new(other._tensor.view(shape))

    def backward(self, grad_output: Tensor | None = None) -> None:
        """Add to every leaf the derivative of this tensor by it.

        Args:
            grad_output: the derivative to begin with, of this shape; 1 for a tensor of shape ``[1]``.
        """
        if grad_output is None:
            assert self.shape == (1,), f"backward() of shape {self.shape} needs a derivative to begin with"
            grad_output = self._constant(1.0)
        autodiff.backpropagate(self, grad_output)

    def zero_grad_(self) -> None:
        """Forget the derivative."""
        self.grad = None


__all__ = ["Tensor"]
