"""A2's operators in plain NumPy float64, written apart from the oracle, with the known mistakes built in.

Each backward function adds to its buffers in place, under llm.c's argument names; ``fault`` names a mistake.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.cases import Case

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Tensors = dict[str, Float]

GELU_SCALE = math.sqrt(2.0 / math.pi)
EPS = 1e-5


def wide(case: Case, kind: str = "f8") -> dict[str, NDArray[np.generic]]:
    """The case's tensors as fresh arrays, the floating ones of the given type."""
    return {name: value.astype("i8" if value.dtype.kind == "i" else kind) for name, value in case.inputs.items()}


# --- forward


def layernorm(inp: Float, weight: Float, bias: Float) -> tuple[Float, Float, Float]:
    """The output, the mean and the reciprocal standard deviation."""
    mean, rstd = inp.mean(-1), 1.0 / np.sqrt(inp.var(-1) + EPS)
    return (inp - mean[..., None]) * rstd[..., None] * weight + bias, mean, rstd


def gelu(inp: Float) -> Float:
    """The tanh form."""
    out: Float = 0.5 * inp * (1.0 + np.tanh(GELU_SCALE * (inp + 0.044715 * inp**3)))
    return out


def attention(inp: Float, NH: int) -> tuple[Float, Float]:
    """The output [B, T, C] and the weights [B, NH, T, T], head by head and row by row."""
    B, T, C3 = inp.shape
    C, hs = C3 // 3, C3 // 3 // NH
    out, att = np.zeros((B, T, C)), np.zeros((B, NH, T, T))
    for b, h, t in np.ndindex(B, NH, T):
        q, k, v = (inp[b, :, part * C + h * hs : part * C + (h + 1) * hs] for part in range(3))
        exps = np.exp(k[: t + 1] @ q[t] / math.sqrt(hs))
        att[b, h, t, : t + 1] = exps / exps.sum()
        out[b, t, h * hs : (h + 1) * hs] = att[b, h, t, : t + 1] @ v[: t + 1]
    return out, att


def crossentropy(logits: Float, targets: Int) -> Float:
    """The losses [B, T]."""
    picked = np.take_along_axis(logits, targets[..., None], -1)[..., 0]
    losses: Float = np.log(np.exp(logits).sum(-1)) - picked
    return losses


# --- backward


def encoder_backward(dwte: Float, dwpe: Float, dout: Float, inp: Int, fault: str = "") -> None:
    for b, t in np.ndindex(inp.shape):
        token = inp[b, t]
        dwte[t if fault == "dwte by position" else token] += dout[b, t]
        if not (fault == "dwpe of one b" and b):
            dwpe[token if fault == "dwpe by token" else t] += dout[b, t]


def layernorm_backward(
    dinp: Float,
    dweight: Float,
    dbias: Float,
    dout: Float,
    inp: Float,
    weight: Float,
    mean: Float,
    rstd: Float,
    fault: str = "",
) -> None:
    normed = (inp - mean[..., None]) * rstd[..., None]
    if fault == "inp for the normalised":
        normed = inp
    dnorm = dout * weight
    first, second = dnorm.mean(-1, keepdims=True), (dnorm * normed).mean(-1, keepdims=True)
    if fault == "not divided by C":
        first, second = first * dinp.shape[-1], second * dinp.shape[-1]
    first = first * (fault not in ("no first reduction", "no reductions"))
    second = second * (fault not in ("no second reduction", "no reductions"))
    dinp += rstd[..., None] * (dnorm - first - normed * second)
    dweight += (dout * normed).sum((0, 1))
    dbias += dout.sum((0, 1))


def matmul_backward(
    dinp: Float, dweight: Float, dbias: Float | None, dout: Float, inp: Float, weight: Float, fault: str = ""
) -> None:
    dinp += dout @ weight
    gradient = np.einsum("bto,btc->oc", dout, inp)
    dweight += gradient.T.reshape(gradient.shape) if fault == "dweight transposed" else gradient
    if dbias is not None:
        dbias += dout.sum((0, 1))


def attention_backward(
    dinp: Float, dpreatt: Float, datt: Float, dout: Float, inp: Float, att: Float, fault: str = ""
) -> None:
    """Every row passes on its own share alone; llm.c and the oracle pass on the buffers' totals."""
    B, T, C = dout.shape
    NH = att.shape[1]
    hs = C // NH
    at_query, at_key = {"no dQ": (0, 1), "no dK": (1, 0)}.get(fault, (1, 1))
    scale = {"no scale": 1.0, "scale twice": 1.0 / hs}.get(fault, 1.0 / math.sqrt(hs))
    query_scale = 1.0 if fault == "scale on dK alone" else scale * at_query
    key_scale = 1.0 if fault == "scale on dQ alone" else scale * at_key
    parts = {"Q and K swapped": (1, 0, 2), "K and V swapped": (0, 2, 1)}.get(fault, (0, 1, 2))
    for b, h, t in np.ndindex(B, NH, T):
        head = slice(h, None, NH) if fault == "heads interleaved" else slice(h * hs, (h + 1) * hs)
        q, k, v = (inp[b, :, part * C : (part + 1) * C][:, head] for part in parts)
        dq, dk, dv = (dinp[b, :, part * C : (part + 1) * C][:, head] for part in parts)
        n = {"t2 < t": t, "mask ignored": T}.get(fault, t + 1)
        weights, share = att[b, h, t, :n], v[:n] @ dout[b, t, head]
        dv[:n] += np.outer(weights, dout[b, t, head]) * (fault != "no dV")
        mean = 0.0 if fault == "softmax without the sum" else weights @ share
        dscores = weights * (share - mean)
        datt[b, h, t, :n] += share
        dpreatt[b, h, t, :n] += dscores
        dq[t] += query_scale * dscores @ k[:n]
        dk[:n] += key_scale * np.outer(dscores, q[t])


def gelu_backward(dinp: Float, inp: Float, dout: Float, fault: str = "") -> None:
    tanh = np.tanh(GELU_SCALE * (inp + 0.044715 * inp**3))
    sech2 = 1.0 if fault == "no sech" else 1.0 - tanh**2
    three = 1.0 if fault == "no 3" else 3.0
    local = 0.5 * (1.0 + tanh) + 0.5 * inp * sech2 * GELU_SCALE * (1.0 + three * 0.044715 * inp**2)
    if fault == "erf form":
        cdf = 0.5 * (1.0 + np.vectorize(math.erf)(inp / math.sqrt(2.0)))
        local = cdf + inp * np.exp(-0.5 * inp**2) / math.sqrt(2.0 * math.pi)
    dinp += {"halved": 0.5, "doubled": 2.0}.get(fault, 1.0) * local * dout


def residual_backward(dinp1: Float, dinp2: Float, dout: Float, fault: str = "") -> None:
    dinp1 += dout * (2.0 if fault == "doubled" else 1.0)
    dinp2 += dout


def crossentropy_softmax_backward(
    dlogits: Float, dlosses: Float, probs: Float, targets: Int, V: int, fault: str = ""
) -> None:
    B, T, Vp = probs.shape
    stride, width = (V if fault == "stride V" else Vp), (Vp if fault == "loops to Vp" else V)
    flat, flat_probs = dlogits.reshape(-1), probs.reshape(-1)
    for row, (b, t) in enumerate(np.ndindex(B, T)):
        own = slice(row * stride, row * stride + width)
        onehot = (np.arange(width) == targets[b, t]) * (fault != "no one-hot")
        dloss = {"dlosses ignored": 1.0 / (B * T), "divided twice": dlosses[b, t] / (B * T)}.get(fault, dlosses[b, t])
        flat[own] += (flat_probs[own] - onehot) * dloss * (-1.0 if fault == "sign" else 1.0)


OPERATORS: Mapping[str, Callable[..., None]] = {
    "encoder_backward": encoder_backward,
    "layernorm_backward": layernorm_backward,
    "matmul_backward": matmul_backward,
    "attention_backward": attention_backward,
    "gelu_backward": gelu_backward,
    "residual_backward": residual_backward,
    "crossentropy_softmax_backward": crossentropy_softmax_backward,
}

FAULTS: Mapping[str, tuple[str, ...]] = {
    "encoder_backward": ("dwte by position", "dwpe by token", "dwpe of one b"),
    "layernorm_backward": (
        *("no reductions", "no first reduction", "no second reduction"),
        *("not divided by C", "inp for the normalised"),
    ),
    "matmul_backward": ("dweight transposed",),
    "attention_backward": (
        *("t2 < t", "mask ignored", "no scale", "scale twice", "scale on dQ alone", "scale on dK alone"),
        *("no dQ", "no dK", "no dV", "softmax without the sum"),
        *("Q and K swapped", "K and V swapped", "heads interleaved"),
    ),
    "gelu_backward": ("no 3", "no sech", "erf form", "halved", "doubled"),
    "residual_backward": ("doubled",),
    "crossentropy_softmax_backward": (
        *("loops to Vp", "stride V", "sign", "no one-hot", "dlosses ignored", "divided twice"),
    ),
}


def probe(case: Case, fault: str = "", kind: str = "f8") -> dict[str, NDArray[np.generic]]:
    """The case's buffers after the operator with a fault has run on them, in the given type."""
    x = wide(case, kind)
    args: dict[str, Any] = dict(x)
    if case.check == "matmul_backward":
        args.setdefault("dbias", None)
    if "V" in case.params and case.check != "encoder_backward":
        args["V"] = case.params["V"]
    OPERATORS[case.check](**args, fault=fault)
    return x


# --- AdamW


def adamw(case: Case, fault: str = "") -> Tensors:
    """``gpt2_update`` as llm.c writes it: params, m and v [S, N]."""
    lr, beta1, beta2, eps, decay = (
        float(case.params[name]) for name in ("lr", "beta1", "beta2", "eps", "weight_decay")
    )
    params = np.asarray(case.inputs["params"], np.float64)
    m, v = np.zeros_like(params), np.zeros_like(params)
    shift = {"t from 0": -1, "t + 1": 1}.get(fault, 0)
    steps: list[tuple[Float, Float, Float]] = []
    for t, given in enumerate(np.asarray(case.inputs["grads"], np.float64), start=1):
        old = (params.copy(), m.copy(), v.copy())
        grad = given + decay * params if fault == "L2" else given
        m, v = beta1 * m + (1 - beta1) * grad, beta2 * v + (1 - beta2) * grad**2
        with np.errstate(divide="ignore", invalid="ignore"):
            m_hat = m if fault in ("no bias correction", "of v alone") else m / (1 - beta1 ** (t + shift))
            v_hat = v if fault in ("no bias correction", "of m alone") else v / (1 - beta2 ** (t + shift))
            if fault == "m and v swapped":
                m_hat, v_hat = v_hat, np.abs(m_hat)
            root = np.sqrt(v_hat + eps) if fault == "eps in the root" else np.sqrt(v_hat) + eps
            shrink = {"no decay": 0.0, "L2": 0.0}.get(fault, decay) * params
            step = (m_hat + shrink) / root if fault == "decay scaled by v" else m_hat / root + shrink
        params = params - lr * step if fault != "lr on part" else params - lr * m_hat / root - shrink
        if fault == "last one skipped":
            params[-1], m[-1], v[-1] = old[0][-1], old[1][-1], old[2][-1]
        steps.append((params.copy(), m.copy(), v.copy()))
    return {name: np.stack([step[i] for step in steps]) for i, name in enumerate(("params", "m", "v"))}


ADAMW_FAULTS = (
    *("t from 0", "t + 1", "no bias correction", "of m alone", "of v alone", "L2", "no decay"),
    *("decay scaled by v", "eps in the root", "m and v swapped", "last one skipped", "lr on part"),
)


# --- the model


def forward(w: Tensors, inputs: Int, targets: Int, NH: int, V: int) -> Tensors:
    """GPT-2's activations by llm.c's names, ``losses`` [B, T] among them."""
    L = w["ln1w"].shape[0]
    acts: dict[str, list[Float]] = {}
    encoded = w["wte"][inputs] + w["wpe"][: inputs.shape[1]]
    x = encoded
    for layer in range(L):
        own = {name: value[layer] for name, value in w.items() if name not in ("wte", "wpe", "lnfw", "lnfb")}
        block = _block(x, own, NH)
        for name, value in block.items():
            acts.setdefault(name, []).append(value)
        x = block["residual3"]
    lnf, mean, rstd = layernorm(x, w["lnfw"], w["lnfb"])
    logits = lnf @ w["wte"].T
    exps = np.exp(logits[..., :V])
    probs = np.zeros_like(logits)
    probs[..., :V] = exps / exps.sum(-1, keepdims=True)
    final = {
        "encoded": encoded,
        "lnf": lnf,
        "lnf_mean": mean,
        "lnf_rstd": rstd,
        "logits": logits,
        "probs": probs,
    }
    layered = {name: np.stack(values) for name, values in acts.items()}
    return {**final, **layered, "losses": crossentropy(logits[..., :V], targets)}


def _block(x: Float, w: Tensors, NH: int) -> Tensors:
    a: Tensors = {}
    a["ln1"], a["ln1_mean"], a["ln1_rstd"] = layernorm(x, w["ln1w"], w["ln1b"])
    a["qkv"] = a["ln1"] @ w["qkvw"].T + w["qkvb"]
    a["atty"], a["att"] = attention(a["qkv"], NH)
    a["preatt"] = np.zeros_like(a["att"])
    a["attproj"] = a["atty"] @ w["attprojw"].T + w["attprojb"]
    a["residual2"] = x + a["attproj"]
    a["ln2"], a["ln2_mean"], a["ln2_rstd"] = layernorm(a["residual2"], w["ln2w"], w["ln2b"])
    a["fch"] = a["ln2"] @ w["fcw"].T + w["fcb"]
    a["fch_gelu"] = gelu(a["fch"])
    a["fcproj"] = a["fch_gelu"] @ w["fcprojw"].T + w["fcprojb"]
    a["residual3"] = a["residual2"] + a["fcproj"]
    return a
