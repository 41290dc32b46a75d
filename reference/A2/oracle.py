"""A2's oracle: what right code makes of a case, in PyTorch's float64.

Each backward function is the autograd of its forward. Buffers that C accumulates into are returned as
prefill plus gradient; what C must not touch keeps its prefill.

Sources: layer normalisation, Ba et al. 2016; GELU in its tanh form, Hendrycks & Gimpel 2016; attention,
Vaswani et al. 2017; AdamW, Loshchilov & Hutter 2019; the interface, llm.c's ``train_gpt2.c``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypedDict

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from grader.cases import Case, Scalar
from reference.A2.cases import LAYERNORM_EPS, Sizes, parameter_count

Tensors = dict[str, Tensor]

OUTSIDE_BLOCKS = ("wte", "wpe", "lnfw", "lnfb")


def expected(case: Case) -> dict[str, NDArray[np.float64]]:
    """The final value of every output tensor of a case, float64, by name.

    Raises:
        KeyError: the oracle does not know the case's check.
    """
    outputs = ORACLES[case.check](case)
    return {name: value.detach().to(torch.float64).numpy().copy() for name, value in outputs.items()}


def _tensors(case: Case) -> Tensors:
    """The inputs as float64 and int64 tensors."""
    return {name: _wide(torch.from_numpy(np.array(value))) for name, value in case.inputs.items()}


def _wide(value: Tensor) -> Tensor:
    return value.double() if value.is_floating_point() else value.long()


def _size(case: Case, name: str) -> int:
    return int(case.params[name])


def _leaf(value: Tensor) -> Tensor:
    """A copy that autograd differentiates by."""
    return value.detach().clone().requires_grad_()


def _zero_leaf(like: Tensor) -> Tensor:
    """A leaf of zeros, where the gradient does not depend on the value."""
    return torch.zeros_like(like).requires_grad_()


def _accumulated(prefill: Tensors, output: Tensor, leaves: Tensors, cotangent: Tensor) -> Tensors:
    """Prefill plus gradient, for leaves that are keyed by the names of their gradients' buffers."""
    grads = torch.autograd.grad(output, list(leaves.values()), cotangent)
    return {name: prefill[name] + grad for name, grad in zip(leaves, grads, strict=True)}


# ---------------------------------------------------------------------------------------------------
# the functions


def encoder_backward(case: Case) -> Tensors:
    """dwte [V, C] and dwpe [maxT, C] of ``out = wte[inp] + wpe[t]``."""
    x = _tensors(case)
    wte, wpe = (_zero_leaf(x[name]) for name in ("dwte", "dwpe"))
    out = F.embedding(x["inp"], wte) + wpe[: _size(case, "T")]
    return _accumulated(x, out, {"dwte": wte, "dwpe": wpe}, x["dout"])


def layernorm_backward(case: Case) -> Tensors:
    """dinp [B, T, C], dweight [C] and dbias [C] of Ba et al. 2016; mean and rstd are those of ``inp``."""
    x = _tensors(case)
    leaves = {"dinp": _leaf(x["inp"]), "dweight": _leaf(x["weight"]), "dbias": _zero_leaf(x["dbias"])}
    return _accumulated(x, _layernorm(*leaves.values()), leaves, x["dout"])


def matmul_backward(case: Case) -> Tensors:
    """dinp [B, T, C], dweight [OC, C] and, where the case has it, dbias [OC] of ``inp @ weight.T + bias``."""
    x = _tensors(case)
    leaves = {"dinp": _leaf(x["inp"]), "dweight": _leaf(x["weight"])}
    if "dbias" in x:
        leaves["dbias"] = _zero_leaf(x["dbias"])
    return _accumulated(x, F.linear(*leaves.values()), leaves, x["dout"])


def attention_backward(case: Case) -> Tensors:
    """dinp [B, T, 3C], dpreatt and datt [B, NH, T, T] of causal attention (Vaswani et al. 2017).

    The stages are llm.c's: each passes on the total of its buffer, prefill included. The cases choose
    prefills for which passing on the gradient alone gives the same. Behind the mask nothing changes.
    """
    x = _tensors(case)
    qkv, seen = _leaf(x["inp"]), _seen(_size(case, "T"))
    preatt, values = _scores(qkv, _size(case, "NH"))
    att = _causal_softmax(preatt)
    weights = _leaf(att)
    out = _merge_heads(weights @ values)
    dvalue, dweights = torch.autograd.grad(out, (qkv, weights), x["dout"], retain_graph=True)
    datt = x["datt"] + dweights * seen
    dpreatt = x["dpreatt"] + torch.autograd.grad(att, preatt, datt * seen, retain_graph=True)[0]
    dquery_key = torch.autograd.grad(preatt, qkv, dpreatt * seen)[0]
    return {"dinp": x["dinp"] + dvalue + dquery_key, "dpreatt": dpreatt, "datt": datt}


def gelu_backward(case: Case) -> Tensors:
    """dinp [N] of the GELU's tanh form (Hendrycks & Gimpel 2016)."""
    x = _tensors(case)
    inp = _leaf(x["inp"])
    return _accumulated(x, F.gelu(inp, approximate="tanh"), {"dinp": inp}, x["dout"])


def residual_backward(case: Case) -> Tensors:
    """dinp1 and dinp2 [N] of a sum."""
    x = _tensors(case)
    leaves = {name: _zero_leaf(x["dout"]) for name in ("dinp1", "dinp2")}
    return _accumulated(x, leaves["dinp1"] + leaves["dinp2"], leaves, x["dout"])


def crossentropy_softmax_backward(case: Case) -> Tensors:
    """dlogits [B, T, Vp]: the gradient of -log softmax over the first V columns, the others as prefilled."""
    x = _tensors(case)
    V = _size(case, "V")
    logits = _leaf(x["probs"][..., :V].log())
    losses = F.cross_entropy(logits.flatten(0, 1), x["targets"].flatten(), reduction="none")
    grad = torch.autograd.grad(losses, logits, x["dlosses"].flatten())[0]
    return {"dlogits": x["dlogits"] + F.pad(grad, (0, x["probs"].shape[-1] - V))}


# ---------------------------------------------------------------------------------------------------
# the forward pass


def _layernorm(inp: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.layer_norm(inp, weight.shape, weight, bias, LAYERNORM_EPS)


def _seen(T: int) -> Tensor:
    """The causal mask [T, T]: position t sees t2 <= t."""
    return torch.tril(torch.ones(T, T, dtype=torch.bool))


def _scores(qkv: Tensor, NH: int) -> tuple[Tensor, Tensor]:
    """The scaled scores [B, NH, T, T] and the values [B, NH, T, hs] of qkv [B, T, 3C]."""
    B, T, C3 = qkv.shape
    heads = qkv.reshape(B, T, 3, NH, C3 // 3 // NH).permute(2, 0, 3, 1, 4)
    query, key, value = heads.unbind(0)
    return query @ key.mT / key.shape[-1] ** 0.5, value


def _causal_softmax(scores: Tensor) -> Tensor:
    return scores.masked_fill(~_seen(scores.shape[-1]), -torch.inf).softmax(dim=-1)


def _merge_heads(heads: Tensor) -> Tensor:
    """[B, NH, T, hs] to [B, T, C]."""
    return heads.transpose(1, 2).flatten(2)


def _block(x: Tensor, w: Tensors, NH: int) -> Tensor:
    """One transformer block on x [B, T, C], with the weights of its layer."""
    qkv = F.linear(_layernorm(x, w["ln1w"], w["ln1b"]), w["qkvw"], w["qkvb"])
    scores, values = _scores(qkv, NH)
    atty = _merge_heads(_causal_softmax(scores) @ values)
    x = x + F.linear(atty, w["attprojw"], w["attprojb"])
    fch = F.linear(_layernorm(x, w["ln2w"], w["ln2b"]), w["fcw"], w["fcb"])
    return x + F.linear(F.gelu(fch, approximate="tanh"), w["fcprojw"], w["fcprojb"])


def _logits(w: Tensors, inputs: Tensor, case: Case) -> Tensor:
    """GPT-2's logits [B, T, V]; the classifier is the embedding, less its padding."""
    x = F.embedding(inputs, w["wte"]) + w["wpe"][: inputs.shape[1]]
    for layer in range(_size(case, "L")):
        own = {name: value[layer] for name, value in w.items() if name not in OUTSIDE_BLOCKS}
        x = _block(x, own, _size(case, "NH"))
    return F.linear(_layernorm(x, w["lnfw"], w["lnfb"]), w["wte"][: _size(case, "V")])


def _loss(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean cross-entropy, a scalar."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


# ---------------------------------------------------------------------------------------------------
# the model


def gpt2_backward(case: Case) -> Tensors:
    """The gradients dwte .. dlnfb in the shapes of their parameters, loss [1] and logits [B, T, V]."""
    x = _tensors(case)
    return _backward(_parameters(x), x, case)


def _parameters(x: Tensors) -> Tensors:
    """The model's parameters as leaves: all tensors but the tokens."""
    return {name: _leaf(value) for name, value in x.items() if value.is_floating_point()}


def _backward(w: Tensors, x: Tensors, case: Case) -> Tensors:
    logits = _logits(w, x["inputs"], case)
    loss = _loss(logits, x["targets"])
    grads = torch.autograd.grad(loss, list(w.values()))
    outputs = {f"d{name}": grad for name, grad in zip(w, grads, strict=True)}
    return {**outputs, "loss": loss.reshape(1), "logits": logits}


def ten_steps(case: Case) -> Tensors:
    """Step 0's outputs as in ``gpt2_backward``, and losses [steps]: the loss before each AdamW step."""
    x = _tensors(case)
    w = _parameters(x)
    optimizer = _adamw(list(w.values()), case)
    first = _step(w, x, case, optimizer)
    later = (_step(w, x, case, optimizer)["loss"] for _ in range(_size(case, "steps") - 1))
    return {**first, "losses": torch.cat([first["loss"], *later])}


def _step(w: Tensors, x: Tensors, case: Case, optimizer: torch.optim.Optimizer) -> Tensors:
    """One training step in place; returns the tensors from before it."""
    outputs = _backward(w, x, case)
    for name, parameter in w.items():
        parameter.grad = outputs[f"d{name}"].clone()
    optimizer.step()
    return outputs


def _adamw(parameters: list[Tensor], case: Case) -> torch.optim.AdamW:
    """AdamW with the case's hyperparameters; the decay is decoupled and falls on every parameter."""
    lr, beta1, beta2 = (float(case.params[name]) for name in ("lr", "beta1", "beta2"))
    eps, decay = float(case.params["eps"]), float(case.params["weight_decay"])
    return torch.optim.AdamW(parameters, lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=decay)


def gpt2_update(case: Case) -> Tensors:
    """params, m and v [S, N] after each of S AdamW steps (Loshchilov & Hutter 2019), t = 1 .. S."""
    x = _tensors(case)
    params = _leaf(x["params"])
    optimizer = _adamw([params], case)
    states: dict[str, list[Tensor]] = {"params": [], "m": [], "v": []}
    for grad in x["grads"]:
        params.grad = grad.clone()
        optimizer.step()
        moments = optimizer.state[params]
        states["params"].append(params.detach().clone())
        states["m"].append(moments["exp_avg"].clone())
        states["v"].append(moments["exp_avg_sq"].clone())
    return {name: torch.stack(steps) for name, steps in states.items()}


def zero_grad(case: Case) -> Tensors:
    """``allocated``: grads and grads_acts, all zero; ``unallocated``: survived [1] = 1."""
    if case.name == "unallocated":
        return {"survived": torch.ones(1)}
    params = {name: int(value) for name, value in case.params.items()}
    sizes = {"grads": parameter_count(params), "grads_acts": activation_count(params)}
    return {name: torch.zeros(size) for name, size in sizes.items()}


def no_targets(case: Case) -> Tensors:
    """stopped [1] = 1: ``gpt2_backward`` without targets ends the program with an error."""
    return {"stopped": torch.ones(1)}


def activation_count(s: Sizes) -> int:
    """The number of floats in llm.c's ``ActivationTensors``, and in their gradients."""
    layer = 18 * s["C"] + 2 * s["NH"] * s["T"] + 4
    return s["B"] * s["T"] * (s["L"] * layer + 2 * s["C"] + 2 + 2 * s["Vp"] + 1)


ORACLES: dict[str, Callable[[Case], Tensors]] = {
    "encoder_backward": encoder_backward,
    "layernorm_backward": layernorm_backward,
    "matmul_backward": matmul_backward,
    "attention_backward": attention_backward,
    "gelu_backward": gelu_backward,
    "residual_backward": residual_backward,
    "crossentropy_softmax_backward": crossentropy_softmax_backward,
    "gpt2_backward": gpt2_backward,
    "ten_steps": ten_steps,
    "gpt2_update": gpt2_update,
    "zero_grad": zero_grad,
    "no_targets": no_targets,
}


# ---------------------------------------------------------------------------------------------------
# the wiring


class Call(TypedDict):
    """A call of an operator: pointers by the names of their tensors, sizes by value."""

    function: str
    args: dict[str, str | int]


SIGNATURES = {
    "crossentropy_softmax_backward": "dlogits dlosses probs targets B T V Vp",
    "matmul_backward": "dinp dweight dbias dout inp weight B T C OC",
    "layernorm_backward": "dinp dweight dbias dout inp weight mean rstd B T C",
    "residual_backward": "dinp1 dinp2 dout N",
    "gelu_backward": "dinp inp dout N",
    "attention_backward": "dinp dpreatt datt dout inp att B T C NH",
    "encoder_backward": "dwte dwpe dout inp B T C",
}


def expected_calls(params: Mapping[str, Scalar]) -> list[Call]:
    """The operator calls of a right ``gpt2_backward``, in order.

    Pointers are named ``grads_acts.logits``, ``params.qkvw[l=1]``, ``inputs``, ``targets`` or ``NULL``.
    """
    L, B, T, C, V, Vp = (int(params[name]) for name in ("L", "B", "T", "C", "V", "Vp"))
    dlogits, classifier = f"{_GA}logits", (f"{_GA}lnf", "grads.wte", "NULL")
    calls = [
        _call("crossentropy_softmax_backward", dlogits, f"{_GA}losses", "acts.probs", "targets", B, T, V, Vp),
        _call("matmul_backward", *classifier, dlogits, "acts.lnf", "params.wte", B, T, C, Vp),
        _layernorm_call(_residual(L), "lnf", "", (B, T, C)),
    ]
    for layer in reversed(range(L)):
        calls += _layer_calls(layer, (B, T, C), int(params["NH"]))
    return [*calls, _call("encoder_backward", "grads.wte", "grads.wpe", f"{_GA}encoded", "inputs", B, T, C)]


_GA = "grads_acts."


def _call(function: str, *args: str | int) -> Call:
    return {"function": function, "args": dict(zip(SIGNATURES[function].split(), args, strict=True))}


def _residual(layer: int) -> str:
    """The tensor that layer ``layer`` starts from."""
    return f"residual3[l={layer - 1}]" if layer else "encoded"


def _layer_calls(layer: int, size: tuple[int, int, int], NH: int) -> list[Call]:
    """The calls of one layer; size is (B, T, C)."""
    B, T, C = size
    at = f"[l={layer}]"
    source, middle = _residual(layer), f"residual2{at}"
    dattention = (f"{_GA}{name}{at}" for name in ("qkv", "preatt", "att", "atty"))
    return [
        _call("residual_backward", _GA + middle, f"{_GA}fcproj{at}", f"{_GA}residual3{at}", B * T * C),
        _matmul_call("fch_gelu", "fcproj", "fcproj", at, (B, T, 4 * C, C)),
        _call("gelu_backward", f"{_GA}fch{at}", f"acts.fch{at}", f"{_GA}fch_gelu{at}", B * T * 4 * C),
        _matmul_call("ln2", "fch", "fc", at, (B, T, C, 4 * C)),
        _layernorm_call(middle, "ln2", at, size),
        _call("residual_backward", _GA + source, f"{_GA}attproj{at}", _GA + middle, B * T * C),
        _matmul_call("atty", "attproj", "attproj", at, (B, T, C, C)),
        _call("attention_backward", *dattention, f"acts.qkv{at}", f"acts.att{at}", B, T, C, NH),
        _matmul_call("ln1", "qkv", "qkv", at, (B, T, C, 3 * C)),
        _layernorm_call(source, "ln1", at, size),
    ]


def _matmul_call(inp: str, out: str, weight: str, at: str, size: tuple[int, int, int, int]) -> Call:
    """The backward call of ``out = inp @ weight``; size is (B, T, C, OC)."""
    grads = (f"grads.{weight}w{at}", f"grads.{weight}b{at}")
    operands = (f"acts.{inp}{at}", f"params.{weight}w{at}")
    return _call("matmul_backward", f"{_GA}{inp}{at}", *grads, f"{_GA}{out}{at}", *operands, *size)


def _layernorm_call(inp: str, norm: str, at: str, size: tuple[int, int, int]) -> Call:
    """The backward call of ``norm = layernorm(inp)``; size is (B, T, C)."""
    grads = (f"grads.{norm}w{at}", f"grads.{norm}b{at}")
    operands = (f"acts.{inp}", f"params.{norm}w{at}", f"acts.{norm}_mean{at}", f"acts.{norm}_rstd{at}")
    return _call("layernorm_backward", _GA + inp, *grads, f"{_GA}{norm}{at}", *operands, *size)
