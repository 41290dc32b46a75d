"""How a tensor lies in memory: a one-dimensional storage, a shape, and strides over the storage."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

MAX_DIMS = 32
"""The most dimensions that a tensor can have."""

datatype = np.float32

Storage: TypeAlias = npt.NDArray[np.floating[Any]]
OutIndex: TypeAlias = npt.NDArray[np.integer[Any]]
Index: TypeAlias = npt.NDArray[np.integer[Any]]
Shape: TypeAlias = npt.NDArray[np.integer[Any]]
Strides: TypeAlias = npt.NDArray[np.integer[Any]]

UserIndex: TypeAlias = Sequence[int]
UserShape: TypeAlias = Sequence[int]
UserStrides: TypeAlias = Sequence[int]

Sizes: TypeAlias = tuple[int, ...]
Laid: TypeAlias = tuple[Storage, Shape, Strides]
"""How loops and kernels see a tensor."""


class IndexingError(RuntimeError):
    """An index, a shape or strides that do not fit."""


def index_to_position(index: Index, strides: Strides) -> int:
    """The place in the storage of the element at ``index``."""
    position = 0
    for i, stride in zip(index, strides, strict=False):
        position += int(i * stride)
    return position


def to_index(ordinal: int, shape: Shape, out_index: OutIndex) -> None:
    """Write into ``out_index`` the index of the element number ``ordinal`` in row-major order."""
    rest = ordinal
    for dim in range(len(shape) - 1, -1, -1):
        size = int(shape[dim])
        out_index[dim] = rest % size
        rest = rest // size


def broadcast_index(big_index: Index, big_shape: Shape, shape: Shape, out_index: OutIndex) -> None:
    """Write into ``out_index`` where the element at ``big_index`` comes from.

    Args:
        big_index: an index into the broadcast shape.
        big_shape: the broadcast shape.
        shape: the shape of the tensor that was broadcast to it.
        out_index: receives the index into that tensor: leading dimensions dropped, 0 where its size is 1.
    """
    missing = len(big_shape) - len(shape)
    for dim, size in enumerate(shape):
        out_index[dim] = big_index[dim + missing] if size > 1 else 0


def shape_broadcast(shape1: UserShape, shape2: UserShape) -> tuple[int, ...]:
    """The shape to which two shapes broadcast, by NumPy's rules.

    Raises:
        IndexingError: where two sizes differ and neither is 1.
    """
    a, b = tuple(shape1), tuple(shape2)
    if a == b:
        return a
    dims = max(len(a), len(b))
    a = (1,) * (dims - len(a)) + a
    b = (1,) * (dims - len(b)) + b
    for x, y in zip(a, b, strict=True):
        if x != y and x != 1 and y != 1:
            raise IndexingError(f"shapes {tuple(shape1)} and {tuple(shape2)} do not broadcast")
    return tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))


def strides_from_shape(shape: UserShape) -> tuple[int, ...]:
    """The strides of a row-major tensor, in elements."""
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


class TensorData:
    """The numbers of a tensor.

    Kept as one NumPy array of the tensor's shape, a view of the storage. The storage, the strides
    and the index arrays that loops and kernels want are made from it when they are asked for.

    Attributes:
        array: the elements, of the tensor's shape; float32.
        shape: the sizes of the dimensions.
    """

    __slots__ = ("_flat", "array", "shape")

    array: npt.NDArray[Any]
    shape: Sizes
    _flat: npt.NDArray[Any] | None

    def __init__(
        self,
        storage: Sequence[float] | Storage,
        shape: UserShape,
        strides: UserStrides | None = None,
    ) -> None:
        flat = np.ascontiguousarray(storage, dtype=datatype).reshape(-1)
        self.shape = tuple(shape)
        if flat.size != _size(self.shape):
            raise IndexingError(f"{flat.size} elements do not fill the shape {self.shape}")
        if strides is None:
            self.array = flat.reshape(self.shape)
        else:
            self.array = _strided(flat, self.shape, tuple(strides))
        self._flat = flat

    @classmethod
    def of(cls, array: npt.NDArray[Any], storage: npt.NDArray[Any] | None = None) -> TensorData:
        """Wrap an array without copying it.

        Args:
            array: the elements; row-major if no storage is given.
            storage: the one-dimensional array of which ``array`` is a view.
        """
        data = cls.__new__(cls)
        data.array = array
        data.shape = array.shape
        data._flat = storage
        return data

    @property
    def _storage(self) -> npt.NDArray[Any]:
        if self._flat is None:
            self._flat = self.array.reshape(-1)
        return self._flat

    @property
    def strides(self) -> Sizes:
        """Steps in the storage from one element to the next along each dimension."""
        if self.array.flags.c_contiguous:
            return strides_from_shape(self.shape)
        return tuple(step // self.array.itemsize for step in self.array.strides)

    @property
    def _shape(self) -> Shape:
        return np.array(self.shape, dtype=np.int64)

    @property
    def _strides(self) -> Strides:
        return np.array(self.strides, dtype=np.int64)

    @property
    def dims(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.array.size

    def to_cuda_(self) -> None:
        """Do nothing: the storage stays on the host, and each kernel launch copies what it needs."""

    def is_contiguous(self) -> bool:
        """Whether the elements lie in row-major order."""
        return self.array.flags.c_contiguous

    @staticmethod
    def shape_broadcast(shape_a: UserShape, shape_b: UserShape) -> Sizes:
        """See `shape_broadcast`."""
        return shape_broadcast(shape_a, shape_b)

    def index(self, index: int | UserIndex) -> int:
        """The place in the storage of the element at ``index``; checks the index."""
        key = self._checked(index)
        return sum(i * stride for i, stride in zip(key, self.strides, strict=True))

    def indices(self) -> Iterator[Sizes]:
        """All indices in row-major order."""
        return np.ndindex(self.shape)

    def sample(self) -> Sizes:
        """A random valid index."""
        return tuple([random.randint(0, size - 1) for size in self.shape])

    def get(self, key: UserIndex) -> Any:
        """The element at ``key``, a NumPy float."""
        if len(key) == 1 and len(self.shape) == 1 and 0 <= key[0] < self.shape[0]:
            return self.array[key[0]]
        return self.array[self._checked(key)]

    def set(self, key: UserIndex, val: float) -> None:
        """Set the element at ``key``."""
        self.array[self._checked(key)] = val

    def tuple(self) -> Laid:
        """What a loop or a kernel needs: storage, shape, strides."""
        return (self._storage, self._shape, self._strides)

    def permute(self, *order: int) -> TensorData:
        """The same storage with its dimensions in another order."""
        if sorted(order) != list(range(len(self.shape))):
            raise IndexingError(f"{order} is not an order of the dimensions of {self.shape}")
        return TensorData.of(self.array.transpose(order), self._storage)

    def view(self, shape: UserShape) -> TensorData:
        """The same storage under another shape of the same size; must be contiguous."""
        if not self.array.flags.c_contiguous:
            raise IndexingError("must be contiguous to view: call .contiguous() first")
        try:
            if min(shape, default=0) < -1:  # NumPy takes any negative size for one that it is to find out
                raise ValueError
            return TensorData.of(self.array.reshape(shape), self._flat)
        except ValueError:
            raise IndexingError(f"cannot view {self.shape} as {tuple(shape)}: the sizes differ") from None

    def to_string(self) -> str:
        """The elements in nested brackets, six decimals each, one line for each row."""
        return np.array2string(
            self.array, separator=" ", threshold=self.size + 1, formatter={"float_kind": "{:.6f}".format}
        )

    def _checked(self, index: int | UserIndex) -> Sizes:
        key = (index,) if isinstance(index, int | np.integer) else tuple(index)
        shape = self.shape
        if not shape and key == (0,):
            return ()
        if len(key) != len(shape):
            raise IndexingError(f"index {key} has not one entry for each dimension of {shape}")
        for i, size in zip(key, shape, strict=True):
            if not 0 <= i < size:
                raise IndexingError(f"index {key} is out of range for the shape {shape}")
        return key


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size


def _strided(flat: npt.NDArray[Any], shape: tuple[int, ...], strides: tuple[int, ...]) -> npt.NDArray[Any]:
    if len(strides) != len(shape):
        raise IndexingError(f"strides {strides} do not fit the shape {shape}")
    try:
        return np.ndarray(shape, flat.dtype, flat, strides=tuple(s * flat.itemsize for s in strides))
    except ValueError:
        raise IndexingError(f"strides {strides} lead out of a storage of {flat.size}") from None


__all__ = [
    "MAX_DIMS",
    "Index",
    "IndexingError",
    "OutIndex",
    "Shape",
    "Storage",
    "Strides",
    "TensorData",
    "UserIndex",
    "UserShape",
    "UserStrides",
    "broadcast_index",
    "index_to_position",
    "shape_broadcast",
    "strides_from_shape",
    "to_index",
]
