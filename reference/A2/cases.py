"""A2's cases: what each probe and the oracle are given. NumPy only, and deterministic.

Tensors bear the argument names of the C functions (``dinp``, ``dweight``) or, for the model checks, the
names of the parameter tensors (``wte``, ``qkvw``). Buffers that a function accumulates into come prefilled
with values of about the gradients' size, so that ``=`` in place of ``+=`` shows.

Sizes are coprime, 1, or not multiples of a vector. Values keep away from zero where a dropped term would
otherwise hide, and rows and columns differ, so that a swapped index shows.

Hyperparameters are rounded to float32, since that is what C receives: ``1 - beta2`` of the rounded value is
5e-5 away from 0.001, which is no mistake of anyone's.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from grader.cases import Array, Case, Scalar

Float = NDArray[np.float64]
Inputs = dict[str, Array]
Sizes = Mapping[str, int]

PUBLIC = "public"
LAYERNORM_EPS = 1e-5
UPDATE_STEPS = 5
MASKED_FILL = 0.3


@dataclass(frozen=True)
class Recipe:
    """How one case is made.

    Attributes:
        check: the check that it belongs to.
        name: its name within the check.
        sizes: the public set's sizes by their C names; other sets draw theirs near these.
        fill: makes the input tensors for given sizes.
        hyper: scalars that are not sizes, e.g. ``lr``.
    """

    check: str
    name: str
    sizes: Sizes
    fill: Callable[[Generator, Sizes], Inputs]
    hyper: Mapping[str, Scalar] = field(default_factory=dict)

    def case(self, seed: int, variant: str) -> Case:
        """The case for a seed: its generator depends on its own name and on no other case."""
        name_hash = zlib.crc32(f"{variant}/{self.check}/{self.name}".encode())
        rng = np.random.default_rng([seed, name_hash])
        sizes = dict(self.sizes) if variant == PUBLIC else vary(self.sizes, rng)
        inputs = {name: _as_c(value) for name, value in self.fill(rng, sizes).items()}
        return Case(self.check, self.name, {**sizes, **self.hyper}, inputs)


def build(seed: int, variant: str = PUBLIC) -> list[Case]:
    """All cases of a fixture set, in a fixed order.

    Args:
        seed: a non-negative integer of any length.
        variant: ``public`` has the sizes listed in ``RECIPES``; any other name draws sizes and values of
            the same kinds from the seed.
    """
    return [recipe.case(seed, variant) for recipe in RECIPES]


def _as_c(value: Array) -> Array:
    """The tensor as C reads it: contiguous float32, or int32."""
    kind = np.int32 if np.issubdtype(value.dtype, np.integer) else np.float32
    return np.ascontiguousarray(value, dtype=kind)


# ---------------------------------------------------------------------------------------------------
# sizes of a private set


def vary(sizes: Sizes, rng: Generator) -> dict[str, int]:
    """Other sizes of the same kind: ones stay 1, ``NH`` divides ``C``, ``V <= Vp``, ``T <= maxT``."""
    independent = _independent(sizes)
    while True:
        drawn = {name: _near(size, rng) for name, size in independent.items()}
        if _distinct(drawn):
            return _dependent(drawn, order=sizes)


def _near(size: int, rng: Generator) -> int:
    """A size within a quarter of the given one; above 4 it is odd, so no multiple of a vector."""
    if size <= 1:
        return size
    drawn = int(rng.integers(size - size // 4, size + size // 4 + 2))
    return drawn | 1 if size > 4 else drawn


def _distinct(sizes: Sizes) -> bool:
    """Whether no two sizes above 1 are equal, slack and depth left aside."""
    values = [size for name, size in sizes.items() if size > 1 and name not in ("L", "padding", "spare")]
    return len(set(values)) == len(values)


def _independent(sizes: Sizes) -> dict[str, int]:
    """The sizes with the dependent ones replaced by what is free in them."""
    free = dict(sizes)
    if "NH" in free:
        free["hs"] = free.pop("C") // free["NH"]
    if "Vp" in free:
        free["padding"] = free.pop("Vp") - free["V"]
    if "maxT" in free:
        free["spare"] = free.pop("maxT") - free.get("T", 0)
    return free


def _dependent(free: Sizes, order: Sizes) -> dict[str, int]:
    """The inverse of ``_independent``, in the order of the given sizes."""
    whole = dict(free)
    whole.setdefault("C", free.get("NH", 1) * free.get("hs", 1))
    whole["Vp"] = free.get("V", 0) + free.get("padding", 0)
    whole["maxT"] = free.get("T", 0) + free.get("spare", 0)
    return {name: whole[name] for name in order}


# ---------------------------------------------------------------------------------------------------
# values


def _signed(rng: Generator, *shape: int) -> Float:
    """Values of both signs whose magnitude is 0.5 to 1.5: none is small enough to be missed."""
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.5, 1.5, shape)


def _softmax(scores: Float) -> Float:
    """The softmax over the last axis; a score of -inf gives 0."""
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights: Float = exps / exps.sum(axis=-1, keepdims=True)
    return weights


def _tokens(rng: Generator, B: int, T: int, limit: int) -> NDArray[np.int64]:
    """Tokens [B, T] below the limit, repeated within a row and across rows, the last of them used."""
    tokens = rng.integers(0, limit, (B, T))
    tokens[0, 0] = tokens[-1, -1] = limit - 1
    tokens[:, 2:3] = tokens[:, 0:1]
    return tokens


# ---------------------------------------------------------------------------------------------------
# the functions


def encoder(rng: Generator, s: Sizes, one_token: bool = False) -> Inputs:
    """``encoder_backward``: dwte [V, C], dwpe [maxT, C], dout [B, T, C], inp [B, T].

    Tokens stay below maxT, so that an index of the wrong kind reads a wrong row, not beyond the buffer.
    """
    B, T, C = s["B"], s["T"], s["C"]
    tokens = _tokens(rng, B, T, min(s["V"], s["maxT"]))
    return {
        "dwte": _signed(rng, s["V"], C),
        "dwpe": _signed(rng, s["maxT"], C),
        "dout": _signed(rng, B, T, C),
        "inp": np.full_like(tokens, tokens[0, 0]) if one_token else tokens,
    }


def layernorm(rng: Generator, s: Sizes) -> Inputs:
    """``layernorm_backward``: dinp, dout, inp [B, T, C]; dweight, dbias, weight [C]; mean, rstd [B, T].

    Rows differ in mean and scale. ``dout`` leans on 1 and on the normalised input, so that neither of the
    two reductions is small. ``C`` is at least 3: below it the gradient of ``inp`` is zero.
    """
    B, T, C = s["B"], s["T"], s["C"]
    inp = _rows(rng, B, T, C).astype(np.float32).astype(np.float64)
    mean = inp.mean(axis=-1)
    rstd = 1.0 / np.sqrt(inp.var(axis=-1) + LAYERNORM_EPS)
    normed = (inp - mean[..., None]) * rstd[..., None]
    return {
        "dinp": _signed(rng, B, T, C),
        "dweight": _signed(rng, C) * np.sqrt(B * T),
        "dbias": _signed(rng, C) * np.sqrt(B * T),
        "dout": _signed(rng, B, T, C) + 0.5 + 0.5 * normed,
        "inp": inp,
        "weight": _signed(rng, C),
        "mean": mean,
        "rstd": rstd,
    }


def _rows(rng: Generator, B: int, T: int, C: int) -> Float:
    """Rows [B, T, C] that are never nearly constant, each of its own mean and scale."""
    grid = np.tile(np.linspace(-1.0, 1.0, C), (B, T, 1))
    shape = rng.permuted(grid, axis=-1) + rng.uniform(-0.2, 0.2, (B, T, C))
    return 2.0 * _signed(rng, B, T, 1) + rng.uniform(0.5, 2.0, (B, T, 1)) * shape


def matmul(rng: Generator, s: Sizes, bias: bool = True) -> Inputs:
    """``matmul_backward``: dinp, inp [B, T, C]; dweight, weight [OC, C]; dout [B, T, OC]; dbias [OC] or none.

    A case without ``dbias`` is a call with NULL.
    """
    B, T, C, OC = s["B"], s["T"], s["C"], s["OC"]
    inputs = {
        "dinp": _signed(rng, B, T, C) * np.sqrt(OC),
        "dweight": _signed(rng, OC, C) * np.sqrt(B * T),
        "dbias": _signed(rng, OC) * np.sqrt(B * T),
        "dout": _signed(rng, B, T, OC),
        "inp": _signed(rng, B, T, C),
        "weight": _signed(rng, OC, C),
    }
    return {name: value for name, value in inputs.items() if bias or name != "dbias"}


def attention(rng: Generator, s: Sizes, accumulate: bool = False) -> Inputs:
    """``attention_backward``: dinp, inp [B, T, 3C]; dpreatt, datt, att [B, NH, T, T]; dout [B, T, C].

    ``datt`` and ``dpreatt`` are prefilled where the mask forbids writing. Elsewhere they are zero, as inside
    the model: a right solution may pass on the buffer's total (llm.c) or its own share alone, and on
    zeroed buffers the two agree.

    ``accumulate`` shows ``=`` on the two without taking sides, by prefills that the next stage maps to zero.
    In ``datt``, a constant for each row: the softmax's Jacobian maps it to zero. In ``dpreatt``, blocks
    ``[[a, -a], [-a, a]]`` over pairs of positions whose queries and keys are equal.
    """
    B, T, C, NH = s["B"], s["T"], s["C"], s["NH"]
    inp = rng.standard_normal((B, T, 3 * C))
    if accumulate:
        inp[:, :, : 2 * C] = _paired(inp[:, :, : 2 * C])
    seen = np.tril(np.ones((T, T), dtype=bool))
    datt, dpreatt = (_signed(rng, B, NH, T, T) * MASKED_FILL for _ in range(2))
    return {
        "dinp": _signed(rng, B, T, 3 * C),
        "dpreatt": np.where(seen, _cancelling_blocks(rng, B, NH, T) * accumulate, dpreatt),
        "datt": np.where(seen, _signed(rng, B, NH, T, 1) * accumulate, datt),
        "dout": _signed(rng, B, T, C),
        "inp": inp,
        "att": _attention_weights(inp.astype(np.float32).astype(np.float64), NH),
    }


def _paired(values: Float) -> Float:
    """Values [B, T, ...] in which positions 2j and 2j + 1 are equal."""
    T = values.shape[1]
    return values[:, np.arange(T) // 2 * 2]


def _cancelling_blocks(rng: Generator, B: int, NH: int, T: int) -> Float:
    """A tensor [B, NH, T, T] of 2 x 2 blocks [[a, -a], [-a, a]] below the diagonal blocks, else zero."""
    pair, sign = np.arange(T) // 2, np.where(np.arange(T) % 2, -1.0, 1.0)
    whole = pair * 2 + 1 < T
    below = (pair[:, None] > pair[None, :]) & whole[:, None] & whole[None, :]
    heights = _signed(rng, B, NH, T, T)[:, :, pair * 2][..., pair * 2]
    return np.where(below, heights * sign[:, None] * sign[None, :], 0.0)


def _attention_weights(qkv: Float, NH: int) -> Float:
    """The causal attention weights [B, NH, T, T] of qkv [B, T, 3C]."""
    B, T, C3 = qkv.shape
    q, k, _ = np.moveaxis(qkv.reshape(B, T, 3, NH, C3 // 3 // NH), 2, 0)
    scores = np.einsum("bthi,bshi->bhts", q, k) / np.sqrt(q.shape[-1])
    return _softmax(np.where(np.tril(np.ones((T, T), dtype=bool)), scores, -np.inf))


def gelu(rng: Generator, s: Sizes, spread: Callable[[Generator, int], Float], prefill: float = 1.0) -> Inputs:
    """``gelu_backward``: dinp, inp, dout [N], the input drawn by ``spread``."""
    N = s["N"]
    return {"dinp": prefill * _signed(rng, N), "inp": spread(rng, N), "dout": _signed(rng, N)}


def _core(rng: Generator, N: int) -> Float:
    """Where the GELU bends."""
    return rng.permutation(np.linspace(-4.0, 4.0, N + 2)[1:-1]) + rng.uniform(0.3, 0.6, N)


def _tails(rng: Generator, N: int) -> Float:
    """|x| up to 100, where coshf overflows; the last one has a gradient of 1."""
    marks = np.array([-100.0, -89.0, -50.0, -30.0, -12.0, -6.0, 0.0, 6.0, 12.0, 30.0, 50.0, 89.0])
    return np.concatenate([marks, rng.uniform(-100.0, 100.0, N - marks.size - 1), [100.0]])


def _left(rng: Generator, N: int) -> Float:
    """Where the tanh form and the erf form differ by 1 % of a small gradient.

    Further left they differ by more, and ``1 + tanh(x)`` cancels until right code is 1e-5 off.
    """
    return rng.uniform(-2.8, -2.2, N)


def residual(rng: Generator, s: Sizes) -> Inputs:
    """``residual_backward``: dinp1, dinp2, dout [N]."""
    return {name: _signed(rng, s["N"]) for name in ("dinp1", "dinp2", "dout")}


def crossentropy(rng: Generator, s: Sizes, garbage: bool = True) -> Inputs:
    """``crossentropy_softmax_backward``: dlogits, probs [B, T, Vp]; dlosses, targets [B, T].

    The probabilities sum to 1 over V. Behind them stand zeros, as in the model, or ``garbage``, which a
    loop up to Vp takes for probabilities.
    """
    B, T, V, Vp = s["B"], s["T"], s["V"], s["Vp"]
    padding = rng.uniform(0.1, 0.9, (B, T, Vp - V)) * garbage
    probs = _softmax(1.5 * rng.standard_normal((B, T, V)))
    return {
        "dlogits": _signed(rng, B, T, Vp) * 0.3,
        "dlosses": rng.uniform(0.3, 1.5, (B, T)),
        "probs": np.concatenate([probs, padding], axis=-1),
        "targets": _tokens(rng, B, T, V),
    }


# ---------------------------------------------------------------------------------------------------
# the model


def parameter_shapes(s: Sizes) -> dict[str, tuple[int, ...]]:
    """The sixteen parameter tensors in the order of llm.c's ``ParameterTensors``, by name."""
    L, C = s["L"], s["C"]
    return {
        "wte": (s["Vp"], C),
        "wpe": (s["maxT"], C),
        "ln1w": (L, C),
        "ln1b": (L, C),
        "qkvw": (L, 3 * C, C),
        "qkvb": (L, 3 * C),
        "attprojw": (L, C, C),
        "attprojb": (L, C),
        "ln2w": (L, C),
        "ln2b": (L, C),
        "fcw": (L, 4 * C, C),
        "fcb": (L, 4 * C),
        "fcprojw": (L, C, 4 * C),
        "fcprojb": (L, C),
        "lnfw": (C,),
        "lnfb": (C,),
    }


def parameter_count(s: Sizes) -> int:
    """The number of parameters of the model, padded vocabulary included."""
    return sum(int(np.prod(shape)) for shape in parameter_shapes(s).values())


def parameters(rng: Generator, s: Sizes, std: float = 0.3) -> Inputs:
    """The sixteen parameter tensors, large enough that every branch of the model matters."""
    return {name: _parameter(rng, name, shape, std) for name, shape in parameter_shapes(s).items()}


def _parameter(rng: Generator, name: str, shape: tuple[int, ...], std: float) -> Float:
    if name in ("ln1w", "ln2w", "lnfw"):
        return 1.0 + rng.uniform(-0.3, 0.3, shape)
    return std * rng.standard_normal(shape)


def model(rng: Generator, s: Sizes, targets: bool = True, std: float = 0.3) -> Inputs:
    """A whole model: its parameters, ``inputs`` [B, T] and, unless left out, ``targets`` [B, T]."""
    tensors = parameters(rng, s, std)
    tensors["inputs"] = _tokens(rng, s["B"], s["T"], s["V"])
    if targets:
        tensors["targets"] = rng.permutation(_tokens(rng, s["B"], s["T"], s["V"]), axis=1)
    return tensors


def update(rng: Generator, s: Sizes) -> Inputs:
    """``gpt2_update``: params [N] and the gradients [S, N] of S steps.

    The gradients' magnitudes run from 1 to 1e-8, with both signs and some zeros. The last element has a
    large gradient, so that a loop that ends too early shows.
    """
    N = parameter_count(s)
    size = 10.0 ** rng.permutation(np.linspace(-8.0, 0.0, N))
    size[-1] = 1.0
    sign = rng.choice([-1.0, 1.0], N) * rng.choice([1.0, -1.0], (UPDATE_STEPS, N), p=[0.8, 0.2])
    grads = sign * size * rng.uniform(0.5, 1.0, (UPDATE_STEPS, N))
    grads[:, rng.permutation(N - 1)[: N // 10]] = 0.0
    grads[0, rng.permutation(N - 1)[: N // 10]] = 0.0
    return {"params": 0.05 * _signed(rng, N), "grads": grads}


def _adamw(lr: float, beta1: float, beta2: float, eps: float, weight_decay: float) -> dict[str, Scalar]:
    """AdamW's hyperparameters as C receives them, rounded to float32."""
    named = {"lr": lr, "beta1": beta1, "beta2": beta2, "eps": eps, "weight_decay": weight_decay}
    return {name: float(np.float32(value)) for name, value in named.items()}


# ---------------------------------------------------------------------------------------------------
# the list

_no_bias = partial(matmul, bias=False)
_SMALL_MODEL = {"V": 11, "Vp": 16, "maxT": 6, "L": 2, "NH": 3, "C": 6, "B": 2, "T": 5}
_UPDATE_MODEL = {"V": 5, "Vp": 8, "maxT": 2, "L": 1, "NH": 1, "C": 4}

RECIPES: tuple[Recipe, ...] = (
    Recipe("encoder_backward", "small", {"B": 3, "T": 5, "C": 7, "V": 11, "maxT": 13}, encoder),
    Recipe("encoder_backward", "ones", {"B": 1, "T": 1, "C": 1, "V": 2, "maxT": 3}, encoder),
    Recipe(
        "encoder_backward",
        "one-token",
        {"B": 2, "T": 7, "C": 3, "V": 11, "maxT": 7},
        partial(encoder, one_token=True),
    ),
    Recipe("encoder_backward", "tails", {"B": 2, "T": 11, "C": 37, "V": 23, "maxT": 25}, encoder),
    Recipe("layernorm_backward", "small", {"B": 2, "T": 3, "C": 5}, layernorm),
    Recipe("layernorm_backward", "one-row", {"B": 1, "T": 1, "C": 7}, layernorm),
    Recipe("layernorm_backward", "narrow", {"B": 2, "T": 5, "C": 3}, layernorm),
    Recipe("layernorm_backward", "tails", {"B": 2, "T": 11, "C": 37}, layernorm),
    Recipe("matmul_backward", "small", {"B": 2, "T": 3, "C": 5, "OC": 7}, matmul),
    Recipe("matmul_backward", "ones", {"B": 1, "T": 1, "C": 1, "OC": 1}, matmul),
    Recipe("matmul_backward", "no-bias", {"B": 2, "T": 5, "C": 7, "OC": 3}, _no_bias),
    Recipe("matmul_backward", "one-channel", {"B": 3, "T": 5, "C": 1, "OC": 9}, matmul),
    Recipe("matmul_backward", "tails", {"B": 2, "T": 11, "C": 37, "OC": 29}, matmul),
    Recipe("attention_backward", "small", {"B": 2, "T": 5, "C": 12, "NH": 3}, attention),
    Recipe("attention_backward", "ones", {"B": 1, "T": 1, "C": 1, "NH": 1}, attention),
    Recipe("attention_backward", "one-head", {"B": 2, "T": 3, "C": 5, "NH": 1}, attention),
    Recipe("attention_backward", "tails", {"B": 2, "T": 11, "C": 39, "NH": 3}, attention),
    Recipe(
        "attention_backward",
        "accumulate",
        {"B": 2, "T": 9, "C": 15, "NH": 3},
        partial(attention, accumulate=True),
    ),
    Recipe("gelu_backward", "core", {"N": 67}, partial(gelu, spread=_core)),
    Recipe("gelu_backward", "one", {"N": 1}, partial(gelu, spread=_core)),
    Recipe("gelu_backward", "tails", {"N": 41}, partial(gelu, spread=_tails)),
    Recipe("gelu_backward", "left", {"N": 35}, partial(gelu, spread=_left, prefill=0.02)),
    Recipe("gelu_backward", "long", {"N": 1027}, partial(gelu, spread=_core)),
    Recipe("residual_backward", "one", {"N": 1}, residual),
    Recipe("residual_backward", "small", {"N": 7}, residual),
    Recipe("residual_backward", "long", {"N": 1027}, residual),
    Recipe("crossentropy_softmax_backward", "small", {"B": 2, "T": 3, "V": 5, "Vp": 8}, crossentropy),
    Recipe("crossentropy_softmax_backward", "one-row", {"B": 1, "T": 1, "V": 3, "Vp": 4}, crossentropy),
    Recipe("crossentropy_softmax_backward", "unpadded", {"B": 2, "T": 5, "V": 7, "Vp": 7}, crossentropy),
    Recipe(
        "crossentropy_softmax_backward",
        "zero-padding",
        {"B": 3, "T": 5, "V": 11, "Vp": 16},
        partial(crossentropy, garbage=False),
    ),
    Recipe("crossentropy_softmax_backward", "tails", {"B": 2, "T": 7, "V": 37, "Vp": 64}, crossentropy),
    Recipe(
        "gpt2_backward",
        "deep",
        {"V": 29, "Vp": 32, "maxT": 9, "L": 3, "NH": 3, "C": 12, "B": 2, "T": 7},
        model,
    ),
    Recipe(
        "gpt2_backward",
        "ones",
        {"V": 5, "Vp": 8, "maxT": 2, "L": 1, "NH": 1, "C": 7, "B": 1, "T": 1},
        model,
    ),
    Recipe(
        "gpt2_backward",
        "unpadded",
        {"V": 13, "Vp": 13, "maxT": 7, "L": 2, "NH": 5, "C": 15, "B": 3, "T": 7},
        model,
    ),
    Recipe(
        "ten_steps",
        "tiny",
        {"V": 61, "Vp": 64, "maxT": 12, "L": 2, "NH": 3, "C": 24, "B": 2, "T": 9},
        model,
        {**_adamw(1e-4, 0.9, 0.999, 1e-8, 0.01), "steps": 10},
    ),
    Recipe("gpt2_update", "decay", _UPDATE_MODEL, update, _adamw(1e-2, 0.9, 0.999, 1e-8, 0.1)),
    Recipe("gpt2_update", "no-decay", _UPDATE_MODEL, update, _adamw(3e-2, 0.8, 0.95, 1e-3, 0.0)),
    Recipe("zero_grad", "unallocated", _SMALL_MODEL, model),
    Recipe("zero_grad", "allocated", _SMALL_MODEL, model),
    Recipe("no_targets", "small", _SMALL_MODEL, partial(model, targets=False)),
)
