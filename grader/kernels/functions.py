"""The eighteen functions of numbers by their ids in ``combine.cu``, in float64: those of ``minitorch/operators.py``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]

EPS = 1e-6  # added to a logarithm's argument
CLOSE = 1e-2  # two numbers nearer than this are close

ADD, MUL, ID, NEG, LT, EQ, SIGMOID, RELU, RELU_BACK = range(1, 10)
LOG, LOG_BACK, EXP, INV, INV_BACK, IS_CLOSE, MAX, POW, TANH = range(10, 19)

NAMES = {
    ADD: "add",
    MUL: "mul",
    ID: "id",
    NEG: "neg",
    LT: "lt",
    EQ: "eq",
    SIGMOID: "sigmoid",
    RELU: "relu",
    RELU_BACK: "relu_back",
    LOG: "log",
    LOG_BACK: "log_back",
    EXP: "exp",
    INV: "inv",
    INV_BACK: "inv_back",
    IS_CLOSE: "is_close",
    MAX: "max",
    POW: "pow",
    TANH: "tanh",
}

ONE: dict[int, Callable[[Float], Float]] = {
    ID: lambda x: x,
    NEG: lambda x: -x,
    SIGMOID: lambda x: 1.0 / (1.0 + np.exp(-x)),
    RELU: lambda x: np.where(x <= 0, 0.0, x),
    LOG: lambda x: np.log(x + EPS),
    EXP: np.exp,
    INV: lambda x: 1.0 / x,
    TANH: np.tanh,
}

TWO: dict[int, Callable[[Float, Float], Float]] = {
    ADD: lambda x, y: x + y,
    MUL: lambda x, y: x * y,
    LT: lambda x, y: (x < y).astype(np.float64),
    EQ: lambda x, y: (x == y).astype(np.float64),
    RELU_BACK: lambda x, y: np.where(x <= 0, 0.0, y),
    LOG_BACK: lambda x, y: y / (x + EPS),
    INV_BACK: lambda x, y: -y / (x * x),
    IS_CLOSE: lambda x, y: (np.abs(x - y) < CLOSE).astype(np.float64),
    MAX: np.maximum,
    POW: np.power,
}

REDUCE: dict[int, Callable[[Float, int, float], Float]] = {
    ADD: lambda x, axis, start: start + x.sum(axis, keepdims=True),
    MUL: lambda x, axis, start: start * x.prod(axis, keepdims=True),
    MAX: lambda x, axis, start: np.maximum(start, x.max(axis, keepdims=True)),
}
