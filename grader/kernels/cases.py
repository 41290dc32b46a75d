"""What each kernel is tried on: broadcast, strides, sizes around the edges of tiles and blocks, axes, NaN.

NumPy only, and the same for everybody: there is nothing to hide, since kernels cost no points.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from grader.kernels import functions as f
from grader.kernels.calls import Call, Floats, map_call, multiply_call, reduce_call, view, zip_call
from grader.kernels.functions import Float

# What a case is about; where all that fail are about one thing, that is what is wrong.
ABOUT = {
    "plain": "tensors whose elements lie in order",
    "functions": "the functions of numbers",
    "edges": "sizes around those of a block or a tile",
    "strides": "permuted tensors",
    "broadcast": "broadcasting",
    "axes": "the axis that is reduced",
    "start": "the value that a reduction starts from",
    "batch": "products after the first of a batch",
    "large": "large tensors",
    "nan": "NaN",
    "nan_relu": "NaN in relu and max",
}
ADVICE = ("nan_relu",)  # the course's own `fn` loses them: told, and no mistake

EDGES = (1, 2, 31, 32, 33, 63, 65, 127, 129, 255, 256, 257, 511, 513, 1023, 1025)


@dataclass(frozen=True)
class KernelCase:
    """Calls that are made in one process.

    Attributes:
        id: ``<kernel>/<name>``.
        about: a key of `ABOUT`.
        calls: the calls.
    """

    id: str
    about: str
    calls: Sequence[Call]


Make = Callable[[Generator], list[Call]]


def _normal(rng: Generator, *shape: int) -> Floats:
    """Numbers away from zero, so that a lost sign or element shows."""
    values: Float = rng.uniform(0.3, 2.0, shape) * rng.choice([-1.0, 1.0], shape)
    return values.astype(np.float32)


def _positive(rng: Generator, *shape: int) -> Floats:
    return rng.uniform(0.2, 3.0, shape).astype(np.float32)


def _with_nan(values: Floats) -> Floats:
    values.reshape(-1)[:: max(values.size // 3, 1)] = np.nan
    return values


# ---- map ---------------------------------------------------------------------------------------


def _map_functions(rng: Generator) -> list[Call]:
    given = {f.LOG: _positive, f.INV: _positive}
    small = np.array([0.0, 1e-6, 1e-4], np.float32)  # where what is added to the argument shows
    return [*(map_call(fn, view(given.get(fn, _normal)(rng, 7, 11))) for fn in f.ONE), map_call(f.LOG, view(small))]


MAP: Mapping[str, tuple[str, Make]] = {
    "one": ("plain", lambda r: [map_call(f.NEG, view(_normal(r, 1)))]),
    "dims": (
        "plain",
        lambda r: [map_call(f.NEG, view(_normal(r, *s))) for s in ((5,), (3, 4), (2, 3, 4), (2, 1, 3, 2, 4))],
    ),
    "functions": ("functions", _map_functions),
    "edges": ("edges", lambda r: [map_call(f.NEG, view(_normal(r, n))) for n in EDGES]),
    "permuted": (
        "strides",
        lambda r: [
            map_call(f.NEG, view(_normal(r, 7, 5), (1, 0))),
            map_call(f.NEG, view(_normal(r, 4, 3, 5), (2, 0, 1))),
            map_call(f.NEG, view(_normal(r, 2, 3, 4, 5), (3, 1, 2, 0))),
        ],
    ),
    "broadcast": (
        "broadcast",
        lambda r: [
            map_call(f.NEG, view(_normal(r, 1)), (70,)),
            map_call(f.NEG, view(_normal(r, 3, 1, 5)), (3, 4, 5)),
            map_call(f.NEG, view(_normal(r, 1, 4, 1)), (3, 4, 5)),
        ],
    ),
    "large": ("large", lambda r: [map_call(f.NEG, view(_normal(r, 250, 401), (1, 0)))]),
    "million": ("large", lambda r: [map_call(f.NEG, view(_normal(r, 1000001)))]),
    "nan": ("nan", lambda r: [map_call(fn, view(_with_nan(_normal(r, 9)))) for fn in f.ONE if fn != f.RELU]),
    "nan-relu": ("nan_relu", lambda r: [map_call(f.RELU, view(_with_nan(_normal(r, 9))))]),
}


# ---- zip ---------------------------------------------------------------------------------------


def _zip_functions(rng: Generator) -> list[Call]:
    calls = []
    for fn in f.TWO:
        a = (_positive if fn in (f.LOG_BACK, f.POW) else _normal)(rng, 6, 9)
        b = _normal(rng, 6, 9)
        if fn in (f.EQ, f.IS_CLOSE):  # a third the same, a third close, a third neither
            third = np.arange(54).reshape(6, 9) % 3
            b = np.where(third == 0, a, np.where(third == 1, a + 0.004, b)).astype(np.float32)
        calls.append(zip_call(fn, view(a), view(b)))
    return calls


def _zipped(rng: Generator, a: Sequence[int], b: Sequence[int]) -> Call:
    return zip_call(f.ADD, view(_normal(rng, *a)), view(_normal(rng, *b)))


BROADCASTS = (
    ((3, 1, 5), (1, 4, 1)),
    ((5,), (3, 5)),
    ((3, 5), (1,)),
    ((2, 3, 4), (3, 1)),
    ((2, 1, 1, 3), (4, 5, 1)),
    ((1,), (600,)),
)
ZIP: Mapping[str, tuple[str, Make]] = {
    "one": ("plain", lambda r: [_zipped(r, (1,), (1,))]),
    "dims": ("plain", lambda r: [_zipped(r, s, s) for s in ((5,), (3, 4), (2, 3, 4), (2, 1, 3, 2, 4))]),
    "functions": ("functions", _zip_functions),
    "edges": ("edges", lambda r: [_zipped(r, (n,), (n,)) for n in EDGES]),
    "permuted": (
        "strides",
        lambda r: [
            zip_call(f.ADD, view(_normal(r, 7, 5), (1, 0)), view(_normal(r, 5, 7))),
            zip_call(f.ADD, view(_normal(r, 5, 7)), view(_normal(r, 7, 5), (1, 0))),
            zip_call(f.ADD, view(_normal(r, 4, 3, 5), (2, 0, 1)), view(_normal(r, 3, 4, 5), (2, 1, 0))),
        ],
    ),
    "broadcast": ("broadcast", lambda r: [_zipped(r, a, b) for a, b in BROADCASTS]),
    "large": ("large", lambda r: [zip_call(f.ADD, view(_normal(r, 250, 401), (1, 0)), view(_normal(r, 250)))]),
    "nan": (
        "nan",
        lambda r: [zip_call(fn, view(_with_nan(_normal(r, 9))), view(_normal(r, 9))) for fn in (f.ADD, f.MUL, f.LT)],
    ),
    "nan-max": ("nan_relu", lambda r: [zip_call(f.MAX, view(_with_nan(_normal(r, 9))), view(_normal(r, 9)))]),
}


# ---- reduce ------------------------------------------------------------------------------------


def _reduced(rng: Generator, shape: Sequence[int], axis: int, start: float = 0.0) -> Call:
    return reduce_call(f.ADD, view(_normal(rng, *shape)), axis, start)


def _whole_numbers(rng: Generator, *shape: int) -> Floats:
    """Their sum is exact in any order."""
    return rng.integers(-3, 4, shape).astype(np.float32)


REDUCE: Mapping[str, tuple[str, Make]] = {
    "one": ("plain", lambda r: [_reduced(r, (1,), 0)]),
    "last-axis": ("plain", lambda r: [_reduced(r, (3, 4), 1), _reduced(r, (2, 3, 5), 2)]),
    "axes": (
        "axes",
        lambda r: (
            [_reduced(r, (4, 5, 6), axis) for axis in range(3)]
            + [_reduced(r, (3, 1, 4), 1), _reduced(r, (2, 3, 2, 4), 1), _reduced(r, (70,), 0)]
        ),
    ),
    "start": (
        "start",
        lambda r: [
            reduce_call(f.MUL, view(_positive(r, 4, 7)), 1, 1.0),
            reduce_call(f.MAX, view(-_positive(r, 4, 7)), 1, -1e9),
            reduce_call(f.ADD, view(_normal(r, 4, 7)), 1, 0.5),
        ],
    ),
    "lengths": ("edges", lambda r: [_reduced(r, (3, n), 1) for n in EDGES]),
    "outputs": ("edges", lambda r: [_reduced(r, (n, 3), 1) for n in EDGES]),
    "permuted": (
        "strides",
        lambda r: [
            reduce_call(f.ADD, view(_normal(r, 7, 5), (1, 0)), 1, 0.0),
            reduce_call(f.ADD, view(_normal(r, 4, 3, 5), (2, 0, 1)), 1, 0.0),
            reduce_call(f.ADD, view(_normal(r, 4, 3, 5), (1, 2, 0)), 0, 0.0),
        ],
    ),
    "long": ("large", lambda r: [reduce_call(f.ADD, view(_whole_numbers(r, 2, 50001)), 1, 0.0)]),
    "many": ("large", lambda r: [_reduced(r, (3, 20001), 0)]),
    "nan": ("nan", lambda r: [reduce_call(fn, view(_with_nan(_normal(r, 4, 5))), 1, 1.0) for fn in (f.ADD, f.MUL)]),
    "nan-max": ("nan_relu", lambda r: [reduce_call(f.MAX, view(_with_nan(_normal(r, 4, 5))), 1, -1e9)]),
}


# ---- matrix multiply ---------------------------------------------------------------------------


def _product(rng: Generator, batch: int, m: int, n: int, p: int) -> Call:
    return multiply_call(view(_normal(rng, batch, m, n)), view(_normal(rng, batch, n, p)))


MULTIPLY: Mapping[str, tuple[str, Make]] = {
    "one": ("plain", lambda r: [_product(r, 1, 1, 1, 1)]),
    "tile": ("plain", lambda r: [_product(r, 1, 32, 32, 32), _product(r, 1, 64, 64, 64)]),
    "small": ("edges", lambda r: [_product(r, 1, 2, 3, 4), _product(r, 1, 1, 40, 1), _product(r, 1, 5, 1, 7)]),
    "edges": (
        "edges",
        lambda r: [_product(r, 1, *s) for s in ((31, 33, 32), (33, 32, 31), (32, 31, 33), (15, 17, 16), (17, 16, 15))],
    ),
    "oblong": ("edges", lambda r: [_product(r, 1, *s) for s in ((3, 100, 70), (70, 3, 100), (100, 70, 3))]),
    "batch": ("batch", lambda r: [_product(r, 2, 3, 4, 5), _product(r, 3, 33, 20, 34)]),
    "permuted": (
        "strides",
        lambda r: [
            multiply_call(view(_normal(r, 1, 9, 7), (0, 2, 1)), view(_normal(r, 1, 9, 5))),
            multiply_call(view(_normal(r, 1, 7, 9)), view(_normal(r, 1, 5, 9), (0, 2, 1))),
            multiply_call(view(_normal(r, 6, 2, 7), (1, 0, 2)), view(_normal(r, 7, 5, 2), (2, 0, 1))),
        ],
    ),
    "large": ("large", lambda r: [_product(r, 1, 97, 130, 101)]),
    "nan": ("nan", lambda r: [multiply_call(view(_with_nan(_normal(r, 1, 5, 6))), view(_normal(r, 1, 6, 4)))]),
}

KERNELS: Mapping[str, Mapping[str, tuple[str, Make]]] = {
    "map": MAP,
    "zip": ZIP,
    "reduce": REDUCE,
    "matmul": MULTIPLY,
}


# What AddressSanitizer looks at too: as many axes as there are, and every branch of a product.
ADDRESSED = ("map/dims", "zip/dims", "zip/broadcast", "reduce/axes", "matmul/small")


def build(kernel: str) -> list[KernelCase]:
    """The cases of a kernel, in a fixed order: of those that fail, the first one says most."""
    made = []
    for name, (about, make) in KERNELS[kernel].items():
        rng = np.random.default_rng(zlib.crc32(f"{kernel}/{name}".encode()))
        made.append(KernelCase(f"{kernel}/{name}", about, make(rng)))
    return made
