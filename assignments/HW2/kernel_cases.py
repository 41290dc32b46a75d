"""The calls on which CUDA kernels are judged, and what each must give, in NumPy's float64.

One list for all who run kernels, on a GPU or on a model of one. It belongs to the judging side: a sandbox is given
a call's arguments (`KernelCase.arguments`) and hands back ``out``.

What is summed or multiplied with sums lies on a grid of 1/64 and stays small, so that float32 holds each partial
sum exactly: whatever order threads add in, a right kernel's result is the expected one to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Launcher = Literal["tensorMap", "tensorZip", "tensorReduce", "MatrixMultiply"]
Shape = tuple[int, ...]

FUNCTIONS = {
    "add": 1,
    "mul": 2,
    "id": 3,
    "neg": 4,
    "lt": 5,
    "eq": 6,
    "sigmoid": 7,
    "relu": 8,
    "relu_back": 9,
    "log": 10,
    "log_back": 11,
    "exp": 12,
    "inv": 13,
    "inv_back": 14,
    "is_close": 15,
    "max": 16,
    "pow": 17,
    "tanh": 18,
}
"""The number of each function, as the course's kernels know them."""

EPS, CLOSE = 1e-6, 1e-2  # of minitorch/operators.py
GRID = 64.0
SEED = 20260
LARGE = 100_000  # elements, from which on a case takes a model of a GPU many seconds
LIMIT = 1e-5
"""Largest error allowed, as a share of the largest expected magnitude.

A function of float32 is off by a few units in the last place, 2e-7 each, and a product of a thousand factors by 6e-6
at most; sums are exact. A wrong index, or a start value that is not used, is off by more than 1e-3.
"""

# launcher → its name in sentences
KERNELS: dict[Launcher, str] = {
    "tensorMap": "map",
    "tensorZip": "zip",
    "tensorReduce": "reduce",
    "MatrixMultiply": "matrix multiply",
}

MAPS: dict[str, Callable[[Array], Array]] = {
    "id": lambda x: x,
    "neg": lambda x: -x,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
    "log": lambda x: np.log(x + EPS),
    "exp": np.exp,
    "inv": lambda x: 1 / x,
    "tanh": np.tanh,
}
ZIPS: dict[str, Callable[[Array, Array], Array]] = {
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "lt": lambda x, y: (x < y) * 1.0,
    "eq": lambda x, y: (x == y) * 1.0,
    "relu_back": lambda x, d: np.where(x > 0, d, 0),
    "log_back": lambda x, d: d / (x + EPS),
    "inv_back": lambda x, d: -d / (x * x),
    "is_close": lambda x, y: (np.abs(x - y) < CLOSE) * 1.0,
    "max": np.maximum,
    "pow": np.power,
}
REDUCTIONS: dict[str, tuple[np.ufunc, float]] = {
    "add": (np.add, 0.0),
    "mul": (np.multiply, 1.0),
    "max": (np.maximum, -1e9),
}
POSITIVE = ("log", "log_back", "inv", "inv_back", "pow")  # of their first argument


@dataclass(frozen=True, eq=False)
class Laid:
    """A tensor as a kernel gets it: ``storage`` [size] float32, ``shape`` and ``strides`` [dims], in elements."""

    storage: Array
    shape: Shape
    strides: Shape

    @classmethod
    def of(cls, array: Array, order: Shape = ()) -> Laid:
        """An array, row-major; with an order of its dimensions, as a view whose storage lies in that order."""
        order = order or tuple(range(array.ndim))
        storage = np.ascontiguousarray(array.transpose(order), np.float32)
        view = storage.transpose(np.argsort(order)) if order else storage
        return cls(storage.reshape(-1), view.shape, tuple(step // 4 for step in view.strides))

    @property
    def array(self) -> Array:
        """The elements in their places, float64."""
        steps = tuple(4 * step for step in self.strides)
        view: Array = np.lib.stride_tricks.as_strided(self.storage, self.shape, steps)
        return view.astype(np.float64)


@dataclass(frozen=True, eq=False)
class KernelCase:
    """One call of a launcher.

    Attributes:
        id: unique; words joined by hyphens.
        launcher: the C function that is called.
        about: what it is to show, for a sentence: "map is wrong for a permuted view".
        a: the first argument.
        b: the second one, of zip and matrix multiply.
        out_shape: the shape of the result, which is row-major.
        function: the function's name; empty for a matrix product.
        dim: the dimension to reduce.
        start: where a reduction begins.
        expected: ``out`` [out_shape], float64.
    """

    id: str
    launcher: Launcher
    about: str
    a: Laid
    out_shape: Shape
    expected: Array = field(repr=False)
    b: Laid | None = None
    function: str = ""
    dim: int = 0
    start: float = 0.0

    @property
    def kernel(self) -> str:
        """The kernel's name in sentences."""
        return KERNELS[self.launcher]

    @property
    def large(self) -> bool:
        """Whether a model of a GPU had better leave it out."""
        return self.work >= LARGE

    @property
    def work(self) -> int:
        """Steps that its threads take together: elements, or multiplications."""
        inner = self.a.shape[-1] if self.launcher == "MatrixMultiply" else 1
        return max(self.a.storage.size, int(np.prod(self.out_shape)) * inner)

    def arguments(self) -> dict[str, Array]:
        """``a.storage``, ``a.shape``, ``a.strides``, the same of ``b``, and of ``out`` the shape and strides."""
        out = Laid.of(np.zeros(self.out_shape))
        found = {"out.shape": np.array(out.shape, np.int32), "out.strides": np.array(out.strides, np.int32)}
        for name, laid in (("a", self.a), ("b", self.b)):
            if laid is not None:
                found[f"{name}.storage"] = laid.storage
                found[f"{name}.shape"] = np.array(laid.shape, np.int32)
                found[f"{name}.strides"] = np.array(laid.strides, np.int32)
        return found

    def params(self) -> dict[str, int | float]:
        """``fn`` (its number), ``dim``, ``start``."""
        return {"fn": FUNCTIONS.get(self.function, 0), "dim": self.dim, "start": self.start}


def wrong(case: KernelCase, out: Array | None) -> str:
    """What is wrong with a result, in words; empty if it is right."""
    if out is None or out.size != case.expected.size:
        return "it gives no result"
    got = out.astype(np.float64).reshape(case.expected.shape)
    lost = np.isnan(got) != np.isnan(case.expected)
    off = np.where(np.isnan(case.expected), 0.0, np.abs(got - case.expected))
    off = np.where(lost | ~np.isfinite(off), np.inf, off)
    scale = float(np.nanmax(np.abs(case.expected), initial=0.0)) or 1.0
    bad = int((off > LIMIT * scale).sum())
    if not bad:
        return ""
    at = np.unravel_index(int(off.argmax()), off.shape)
    place = ", ".join(str(int(i)) for i in at)
    pair = f"got {got[at]:.6g}, expected {case.expected[at]:.6g}"
    return f"{bad} of {off.size} elements are wrong, most of all [{place}]: {pair}"


# ---- values ------------------------------------------------------------------------------------------------


def _grid(rng: np.random.Generator, shape: Shape, most: float = 4.0) -> Array:
    """Values on the grid, between ``-most`` and ``most``."""
    edge = int(most * GRID)
    values: Array = rng.integers(-edge, edge + 1, shape).astype(np.float32) / np.float32(GRID)
    return values


def _first(rng: np.random.Generator, name: str, shape: Shape) -> Array:
    """A function's first argument, zeros among them where it has a corner there."""
    if name in POSITIVE:
        values: Array = rng.uniform(0.25, 3.0, shape).astype(np.float32)
        return values
    return _grid(rng, shape)


def _second(rng: np.random.Generator, name: str, first: Array, shape: Shape) -> Array:
    """A function's second argument; for comparisons some are equal to the first, or close to it."""
    if name not in ("lt", "eq", "is_close", "max") or first.shape != shape:
        return _grid(rng, shape, 2.0 if name == "pow" else 4.0)
    away: Array = (first + rng.choice([0.0, 0.004, -0.004, 0.25, -0.25], shape)).astype(np.float32)
    return away


def _factors(rng: np.random.Generator, shape: Shape) -> Array:
    """Factors whose product stays near 1, of both signs."""
    values: Array = (rng.choice([-1, 1], shape) * np.exp(rng.normal(0, 0.05, shape))).astype(np.float32)
    return values


# ---- the cases ---------------------------------------------------------------------------------------------


def _map(case_id: str, about: str, name: str, a: Laid, out_shape: Shape = ()) -> KernelCase:
    out_shape = out_shape or a.shape
    expected = np.broadcast_to(MAPS[name](a.array), out_shape)
    return KernelCase(f"map-{case_id}", "tensorMap", about, a, out_shape, expected, function=name)


def _zip(case_id: str, about: str, name: str, a: Laid, b: Laid) -> KernelCase:
    expected = np.asarray(ZIPS[name](a.array, b.array), np.float64)
    return KernelCase(f"zip-{case_id}", "tensorZip", about, a, expected.shape, expected, b, name)


def _reduce(case_id: str, about: str, name: str, a: Laid, dim: int, start: float | None = None) -> KernelCase:
    ufunc, usual = REDUCTIONS[name]
    start = usual if start is None else start
    expected = ufunc(ufunc.reduce(a.array, axis=dim, keepdims=True), start)
    return KernelCase(f"reduce-{case_id}", "tensorReduce", about, a, expected.shape, expected, None, name, dim, start)


def _matmul(case_id: str, about: str, a: Laid, b: Laid) -> KernelCase:
    expected = a.array @ b.array
    return KernelCase(f"matmul-{case_id}", "MatrixMultiply", about, a, expected.shape, expected, b)


BLOCK_EDGES = (1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025)
ORDERS: dict[str, Shape] = {"reversed": (2, 1, 0), "rotated": (1, 2, 0), "swapped": (0, 2, 1)}
BROADCASTS: dict[str, tuple[Shape, Shape]] = {
    "row": ((5, 7), (7,)),
    "column": ((5, 1), (5, 7)),
    "outer": ((6, 1), (1, 9)),
    "scalar": ((1,), (3, 4)),
    "middle": ((2, 1, 5), (2, 3, 5)),
    "dims": ((4, 5), (2, 3, 4, 5)),
}
TILE_EDGES: tuple[tuple[int, int, int], ...] = (
    (1, 1, 1),
    (31, 32, 33),
    (32, 32, 32),
    (33, 31, 32),
    (32, 33, 31),
    (1, 65, 2),
    (2, 3, 65),
    (64, 16, 48),
    (47, 97, 5),
)


def _maps(rng: np.random.Generator) -> Iterator[KernelCase]:
    for name in MAPS:
        yield _map(f"{name}", f"the function {name}", name, Laid.of(_first(rng, name, (3, 5, 7))))
    for size in BLOCK_EDGES:
        yield _map(f"size-{size}", f"{size} elements", "neg", Laid.of(_grid(rng, (size,))))
    for word, order in ORDERS.items():
        yield _map(f"view-{word}", "a permuted view", "neg", Laid.of(_grid(rng, (4, 5, 6)), order))
    shape = (2, 3, 4, 5)
    yield _map("dims-4", "four dimensions", "neg", Laid.of(_grid(rng, shape), (3, 1, 0, 2)))
    yield _map("broadcast", "an input that is broadcast", "id", Laid.of(_grid(rng, (3, 1, 4))), (3, 5, 4))
    for name in ("neg", "exp"):
        yield _map(f"nan-{name}", "NaN, which must pass through", name, Laid.of(_with_nan(rng, (3, 50))))
    yield _map("million", "a million elements", "neg", Laid.of(_grid(rng, (1000, 1000))))


def _zips(rng: np.random.Generator) -> Iterator[KernelCase]:
    for name in ZIPS:
        first = _first(rng, name, (4, 5, 9))
        second = _second(rng, name, first, first.shape)
        yield _zip(f"{name}", f"the function {name}", name, Laid.of(first), Laid.of(second))
    for size in BLOCK_EDGES:
        yield _zip(f"size-{size}", f"{size} elements", "add", _laid(rng, (size,)), _laid(rng, (size,)))
    for word, (left, right) in BROADCASTS.items():
        a, b = _laid(rng, left), _laid(rng, right)
        yield _zip(f"broadcast-{word}", f"broadcasting {_by(left, right)}", "add", a, b)
        yield _zip(f"broadcast-{word}-turned", f"broadcasting {_by(right, left)}", "mul", b, a)
    for word, order in ORDERS.items():
        a, b = _laid(rng, (4, 5, 6), order), _laid(rng, (4, 5, 6))
        yield _zip(f"view-{word}", "a permuted view", "add", a, b)
        yield _zip(f"view-{word}-second", "a permuted view as the second argument", "mul", b, a)
    a, b = _laid(rng, (5, 1, 4), (2, 0, 1)), _laid(rng, (3, 4), (1, 0))
    yield _zip("view-broadcast", "permuted views that are broadcast", "add", a, b)
    nan = Laid.of(_with_nan(rng, (3, 50)))
    yield _zip("nan-add", "NaN, which must pass through", "add", nan, _laid(rng, (3, 50)))
    yield _zip("nan-mul", "NaN, which must pass through", "mul", _laid(rng, (50,)), nan)
    a, b = _laid(rng, (1000, 1000), (1, 0)), _laid(rng, (1000,))
    yield _zip("million", "a million elements", "add", a, b)


def _reduces(rng: np.random.Generator) -> Iterator[KernelCase]:
    for dim in range(3):
        yield _reduce(f"add-{dim}", f"a sum over dimension {dim} of three", "add", _laid(rng, (4, 6, 5)), dim)
        below = Laid.of(_grid(rng, (4, 6, 5)) - np.float32(5))
        yield _reduce(f"max-{dim}", f"a maximum of negative numbers over dimension {dim}", "max", below, dim)
        factors = Laid.of(_factors(rng, (4, 6, 5)))
        yield _reduce(f"mul-{dim}", f"a product over dimension {dim} of three", "mul", factors, dim)
        rotated = _laid(rng, (4, 6, 5), (2, 0, 1))
        yield _reduce(f"view-{dim}", f"a sum over dimension {dim} of a permuted view", "add", rotated, dim)
    for dim in range(4):
        yield _reduce(f"dims-4-{dim}", f"a sum over dimension {dim} of four", "add", _laid(rng, (2, 3, 4, 5)), dim)
    for size in BLOCK_EDGES:
        yield _reduce(f"size-{size}", f"{size} elements into one", "add", _laid(rng, (size,)), 0)
        yield _reduce(f"rows-{size}", f"{size} results", "add", _laid(rng, (size, 3)), 1)
    a = _laid(rng, (5, 40))
    yield _reduce("start", "a sum that begins at 2.5", "add", a, 1, 2.5)
    yield _reduce("start-max", "a maximum that begins above all elements", "max", a, 0, 9.0)
    yield _reduce("nan", "NaN, which must pass through", "add", Laid.of(_with_nan(rng, (6, 40))), 1)
    for dim in range(2):
        yield _reduce(f"million-{dim}", "a million elements", "add", _laid(rng, (1000, 1000)), dim)
    yield _reduce("million-to-one", "a million elements into one", "add", Laid.of(_grid(rng, (1_000_000,), 1.0)), 0)


def _matmuls(rng: np.random.Generator) -> Iterator[KernelCase]:
    for m, n, p in TILE_EDGES:
        yield _matmul(f"{m}x{n}x{p}", f"[{m}, {n}] times [{n}, {p}]", _laid(rng, (1, m, n)), _laid(rng, (1, n, p)))
    for count in (2, 5):
        a, b = _laid(rng, (count, 33, 20)), _laid(rng, (count, 20, 40))
        yield _matmul(f"batch-{count}", f"a batch of {count}", a, b)
    first, second, turned = _grid(rng, (2, 34, 19)), _grid(rng, (2, 19, 37)), (0, 2, 1)
    yield _matmul("view-first", "a transposed first factor", Laid.of(first, turned), Laid.of(second))
    yield _matmul("view-second", "a transposed second factor", Laid.of(first), Laid.of(second, turned))
    yield _matmul("view-both", "two transposed factors", Laid.of(first, turned), Laid.of(second, turned))
    yield _matmul("view-batch", "a permuted batch", Laid.of(first, (1, 0, 2)), Laid.of(second, (2, 1, 0)))
    nan = _grid(rng, (1, 40, 36))
    nan[0, 3, 35] = np.nan
    yield _matmul("nan", "NaN, which must pass through", Laid.of(nan), _laid(rng, (1, 36, 33)))
    row, column = Laid.of(_grid(rng, (1, 1, 3000), 1.0)), Laid.of(_grid(rng, (1, 3000, 1), 1.0))
    yield _matmul("long", "a long row times a long column", row, column)
    first, second = _grid(rng, (2, 513, 129), 2.0), _grid(rng, (2, 129, 1000), 2.0)
    yield _matmul("million", "a million results", Laid.of(first), Laid.of(second))


def _laid(rng: np.random.Generator, shape: Shape, order: Shape = ()) -> Laid:
    """Values on the grid as a kernel gets them."""
    return Laid.of(_grid(rng, shape), order)


def _with_nan(rng: np.random.Generator, shape: Shape) -> Array:
    values = _grid(rng, shape)
    values[tuple(size // 2 for size in shape)] = np.nan
    return values


def _by(left: Shape, right: Shape) -> str:
    return f"{list(left)} with {list(right)}"


@cache
def cases() -> tuple[KernelCase, ...]:
    """All cases, the same each time; those of one kernel together."""
    made = (_maps, _zips, _reduces, _matmuls)
    rngs = (np.random.default_rng(SEED + i) for i in range(len(made)))
    found = tuple(case for make, rng in zip(made, rngs, strict=True) for case in make(rng))
    ids = sorted(case.id for case in found)
    assert all(one != other for one, other in pairwise(ids))
    return found
