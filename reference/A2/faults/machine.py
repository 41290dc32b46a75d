"""A model's memory as llm.c lays it out, in float64, and its operators carried out on it by the names of calls.

Pointers lead into flat memories, so that a call with other sizes or of another tensor reads and writes what it would
in C. The backward operators are the right formulas of the other faults.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np

from grader.cases import Case
from grader.faults import Formula
from reference.A2.cases import LAYERNORM_EPS, Sizes, parameter_shapes
from reference.A2.faults.arrays import Float, Int
from reference.A2.faults.attention import attention_backward
from reference.A2.faults.crossentropy import crossentropy_softmax_backward
from reference.A2.faults.encoder import encoder_backward
from reference.A2.faults.layernorm import layernorm_backward
from reference.A2.faults.matmul import matmul_backward
from reference.A2.faults.pointwise import CUBIC, gelu_backward, residual_backward
from reference.A2.oracle import Call

OPERATORS: Mapping[str, Formula] = {
    "encoder_backward": encoder_backward,
    "layernorm_backward": layernorm_backward,
    "matmul_backward": matmul_backward,
    "attention_backward": attention_backward,
    "gelu_backward": gelu_backward,
    "residual_backward": residual_backward,
    "crossentropy_softmax_backward": crossentropy_softmax_backward,
}
# The shapes behind the operators' pointers, by the names of their sizes.
_POINTERS = {
    "encoder_backward": "dwte: V C, dwpe: T C, dout: B T C, inp: B T",
    "layernorm_backward": "dinp: B T C, dweight: C, dbias: C, dout: B T C, inp: B T C, weight: C, mean: B T, rstd: B T",
    "matmul_backward": "dinp: B T C, dweight: OC C, dbias: OC, dout: B T OC, inp: B T C, weight: OC C",
    "attention_backward": ("dinp: B T 3C, dpreatt: B NH T T, datt: B NH T T, dout: B T C, inp: B T 3C, att: B NH T T"),
    "gelu_backward": "dinp: N, inp: N, dout: N",
    "residual_backward": "dinp1: N, dinp2: N, dout: N",
    "crossentropy_softmax_backward": "dlogits: B T Vp, dlosses: B T, probs: B T Vp, targets: B T",
}
_NAME = re.compile(r"(?:(\w+)\.)?(\w+)(?:\[l=(\d+)\])?$")


def activation_shapes(s: Sizes) -> dict[str, tuple[int, ...]]:
    """The activation tensors in the order of llm.c's ``ActivationTensors``, by name."""
    L, B, T, C, NH, Vp = (s[name] for name in ("L", "B", "T", "C", "NH", "Vp"))
    wide, narrow, square, hidden = (L, B, T, C), (L, B, T), (L, B, NH, T, T), (L, B, T, 4 * C)
    return {
        "encoded": (B, T, C), "ln1": wide, "ln1_mean": narrow, "ln1_rstd": narrow, "qkv": (L, B, T, 3 * C),
        "atty": wide, "preatt": square, "att": square, "attproj": wide, "residual2": wide, "ln2": wide,
        "ln2_mean": narrow, "ln2_rstd": narrow, "fch": hidden, "fch_gelu": hidden, "fcproj": wide,
        "residual3": wide, "lnf": (B, T, C), "lnf_mean": (B, T), "lnf_rstd": (B, T), "logits": (B, T, Vp),
        "probs": (B, T, Vp), "losses": (B, T),
    }  # fmt: skip


class Memory:
    """Tensors one after the other in one flat array."""

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.shapes = dict(shapes)
        self.starts: dict[str, int] = {}
        size = 0
        for name, shape in self.shapes.items():
            self.starts[name] = size
            size += math.prod(shape)
        self.flat: Float = np.zeros(size)

    def __getitem__(self, name: str) -> Float:
        """A tensor, as a view."""
        start = self.starts[name]
        return self.flat[start : start + math.prod(self.shapes[name])].reshape(self.shapes[name])


class Machine:
    """A model after its forward pass: ``params``, ``acts``, and gradients that are all zero."""

    def __init__(self, case: Case) -> None:
        self.sizes: Sizes = {name: int(value) for name, value in case.params.items()}
        parameters, activations = parameter_shapes(self.sizes), activation_shapes(self.sizes)
        self.memories = {
            "params": Memory(parameters),
            "grads": Memory(parameters),
            "acts": Memory(activations),
            "grads_acts": Memory(activations),
        }
        self.tokens = {name: case.inputs[name].astype(np.int64) for name in ("inputs", "targets")}
        for name in parameters:
            self.memories["params"][name][...] = case.inputs[name]
        _forward(self.memories["params"], self.memories["acts"], self.tokens["inputs"], self.sizes)

    def pointer(self, name: str, count: int) -> Float:
        """The ``count`` numbers behind a pointer, as a view (a copy, of tokens); memory of its own is fresh.

        Raises:
            IndexError: there are fewer in the memory.
        """
        if name in self.tokens:
            return self.tokens[name].reshape(-1)[:count].astype(np.float64)
        found = _NAME.match(name)
        if found is None or found[1] is None:
            return np.zeros(count)
        memory = self.memories[found[1]]
        start = memory.starts[found[2]]
        if found[3] is not None:
            shape = memory.shapes[found[2]]
            start += int(found[3]) * (math.prod(shape) // shape[0])
        view = memory.flat[start : start + count]
        if view.size < count:
            raise IndexError(f"{name} holds no {count} numbers")
        return view

    def call(self, call: Call) -> None:
        """Carries out a call of a backward operator."""
        function, arguments = call["function"], call["args"]
        sizes = {name: int(value) for name, value in arguments.items() if isinstance(value, int)}
        sizes.setdefault("V", self.sizes["Vp"])
        views: dict[str, Float] = {}
        for part in _POINTERS[function].split(", "):
            name, _, shape = part.partition(": ")
            if (pointer := str(arguments[name])) != "NULL":
                lengths = [_length(size, sizes) for size in shape.split()]
                views[name] = self.pointer(pointer, math.prod(lengths)).reshape(lengths)
        case = Case(function, "call", sizes, {name: view.copy() for name, view in views.items()})
        before = {name: view.copy() for name, view in views.items()}
        for name, value in OPERATORS[function](case, frozenset()).items():
            views[name] += value.astype(np.float64) - before[name]  # two pointers to one tensor: both shares count


def _length(name: str, sizes: Mapping[str, int]) -> int:
    return 3 * sizes["C"] if name == "3C" else sizes[name]


# ---- the forward pass --------------------------------------------------------------------------------------


def _forward(p: Memory, a: Memory, tokens: Int, s: Sizes) -> None:
    """Fills the activations."""
    T = s["T"]
    a["encoded"][...] = x = p["wte"][tokens] + p["wpe"][:T]
    for layer in range(s["L"]):
        x = _block(p, a, layer, x, s["NH"])
    _layernorm(a["lnf"], a["lnf_mean"], a["lnf_rstd"], x, p["lnfw"], p["lnfb"])
    a["logits"][...] = a["lnf"] @ p["wte"].T
    V = s["V"]
    exps = np.exp(a["logits"][..., :V] - a["logits"][..., :V].max(-1, keepdims=True))
    a["probs"][..., :V] = exps / exps.sum(-1, keepdims=True)


def _block(p: Memory, a: Memory, layer: int, x: Float, NH: int) -> Float:
    def linear(inp: str, weight: str) -> Float:
        out: Float = a[inp][layer] @ p[f"{weight}w"][layer].T + p[f"{weight}b"][layer]
        return out

    def norm(name: str, inp: Float) -> None:
        mean, rstd = a[f"{name}_mean"][layer], a[f"{name}_rstd"][layer]
        _layernorm(a[name][layer], mean, rstd, inp, p[f"{name}w"][layer], p[f"{name}b"][layer])

    norm("ln1", x)
    a["qkv"][layer] = linear("ln1", "qkv")
    _attention(a, layer, NH)
    a["attproj"][layer] = linear("atty", "attproj")
    a["residual2"][layer] = x + a["attproj"][layer]
    norm("ln2", a["residual2"][layer])
    a["fch"][layer] = fch = linear("ln2", "fc")
    a["fch_gelu"][layer] = 0.5 * fch * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (fch + CUBIC * fch**3)))
    a["fcproj"][layer] = linear("fch_gelu", "fcproj")
    a["residual3"][layer] = a["residual2"][layer] + a["fcproj"][layer]
    out: Float = a["residual3"][layer]
    return out


def _layernorm(out: Float, mean: Float, rstd: Float, x: Float, weight: Float, bias: Float) -> None:
    mean[...] = x.mean(-1)
    rstd[...] = 1.0 / np.sqrt(x.var(-1) + LAYERNORM_EPS)
    out[...] = (x - mean[..., None]) * rstd[..., None] * weight + bias


def _attention(a: Memory, layer: int, NH: int) -> None:
    qkv = a["qkv"][layer]
    B, T, C3 = qkv.shape
    q, k, v = qkv.reshape(B, T, 3, NH, C3 // 3 // NH).transpose(2, 0, 3, 1, 4)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = np.tril(np.ones((T, T), dtype=bool))
    a["preatt"][layer] = np.where(seen, scores, 0.0)
    exps = np.where(seen, np.exp(scores - np.where(seen, scores, -np.inf).max(-1, keepdims=True)), 0.0)
    a["att"][layer] = exps / exps.sum(-1, keepdims=True)
    a["atty"][layer] = (a["att"][layer] @ v).transpose(0, 2, 1, 3).reshape(B, T, C3 // 3)
