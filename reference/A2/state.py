"""Checkpoints and debug states of our own: a tiny trained model, or one of 124M random weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.random import Generator

from grader.cases import Array, Case, Scalar
from reference.A2 import oracle
from reference.A2.cases import parameter_shapes

SEED = 124
SIZES: dict[str, dict[str, int]] = {
    "tiny": {"V": 257, "Vp": 384, "maxT": 64, "L": 2, "NH": 4, "C": 32, "B": 2, "T": 16},
    "124M": {"V": 50257, "Vp": 50304, "maxT": 1024, "L": 12, "NH": 12, "C": 768, "B": 4, "T": 64},
}
# What llm.c's test_gpt2 runs with, as C receives it.
SETTINGS: dict[str, Scalar] = {
    name: float(np.float32(value))
    for name, value in (("lr", 1e-4), ("beta1", 0.9), ("beta2", 0.999), ("eps", 1e-8), ("weight_decay", 0.01))
}
TEXT = Path(__file__).resolve().parents[2] / "student_template" / "A2" / "data" / "text.txt"


def make(size: str) -> tuple[Case, dict[str, Array]]:
    """The case of a size and what the oracle says of it: logits, loss, gradients, ten losses."""
    sizes = SIZES[size]
    rng = np.random.default_rng(SEED)
    inputs = {**_weights(rng, sizes), **_tokens(rng, size, sizes)}
    case = Case("ten_steps", size, {**sizes, **SETTINGS, "steps": 10}, inputs)
    return case, dict(oracle.expected(case))


def _weights(rng: Generator, sizes: dict[str, int]) -> dict[str, Array]:
    """GPT-2's initial weights (Radford et al. 2019): std 0.02, residual projections less, LayerNorm at 1."""
    residual = 0.02 / np.sqrt(2 * sizes["L"])
    weights: dict[str, Array] = {}
    for name, shape in parameter_shapes(sizes).items():
        std = residual if name in ("attprojw", "fcprojw") else 0.02
        centre = 1.0 if name in ("ln1w", "ln2w", "lnfw") else 0.0
        weights[name] = (centre + std * rng.standard_normal(shape, dtype=np.float32)).astype(np.float32)
    return weights


def _tokens(rng: Generator, size: str, sizes: dict[str, int]) -> dict[str, Array]:
    """``inputs`` and ``targets`` [B, T]: text for the tiny model, whose tokens are bytes; else random."""
    count = sizes["B"] * sizes["T"]
    stream = rng.integers(0, sizes["V"], count + 1)
    if size == "tiny":
        stream = np.frombuffer(TEXT.read_bytes()[: count + 1], dtype=np.uint8).astype(np.int64)
    shape = (sizes["B"], sizes["T"])
    pairs = {"inputs": stream[:-1], "targets": stream[1:]}
    return {name: tokens.astype(np.int32).reshape(shape) for name, tokens in pairs.items()}
