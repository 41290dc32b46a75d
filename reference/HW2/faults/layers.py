"""Mistakes of ``Linear.forward`` and ``Network.forward``: wrong forward passes, derived by PyTorch's autograd."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from grader.cases import Array, Case
from grader.faults import Fault, Switches, family
from reference.HW2 import oracle

Tensors = dict[str, Tensor]


def _derived(out: Tensor, derivative: Tensor, leaves: Tensors) -> dict[str, Array]:
    """The derivatives of the leaves; zeros for one that is cut off."""
    parts = torch.autograd.grad(out, list(leaves.values()), derivative, allow_unused=True)
    pairs = zip(leaves.items(), parts, strict=True)
    return {f"d{n}": (torch.zeros_like(leaf) if part is None else part).numpy() for (n, leaf), part in pairs}


# ---- Linear ------------------------------------------------------------------------------------------------


def _product(x: Tensor, weights: Tensor, on: Switches) -> Tensor:
    if "weights-viewed" in on:
        weights = weights.reshape(weights.shape[::-1]).T
    if "weights-detached" in on:
        weights = weights.detach()
    if "input-detached" in on:
        x = x.detach()
    product = x @ weights
    if "by-inputs" in on:
        product = product / x.shape[1]
    if "by-root-of-inputs" in on:
        product = product / x.shape[1] ** 0.5
    if "relu-before-bias" in on:
        product = product.relu()
    return -product if "negated" in on else product


def linear_forward(case: Case, on: Switches) -> Mapping[str, Array]:
    """``y`` and the derivatives of ``(y · dy).sum()``; with no switch turned they are right."""
    given = oracle.given_tensors(case)
    leaves = {name: given[name].requires_grad_() for name in ("x", "weights", "bias")}
    bias = leaves["bias"].detach() if "bias-detached" in on else leaves["bias"]
    factor = next((f for name, f in BIAS_FACTORS.items() if name in on), 1.0)
    y = _product(leaves["x"], leaves["weights"], on) + factor * bias
    if "relu" in on:
        y = y.relu()
    if "sigmoid" in on:
        y = y.sigmoid()
    return {"y": y.detach().numpy(), **_derived(y, given["dy"], leaves)}


BIAS_FACTORS = {"without-bias": 0.0, "minus-bias": -1.0, "bias-twice": 2.0}
BIAS = "what does a layer do to an input of zeros?"
CUT = "through which tensors does a derivative come back to the parameters?"
ONLY = "what else does the layer do than multiply and add?"
LINEAR: dict[str, tuple[str, str]] = {
    "without-bias": ("the bias is not added", BIAS),
    "minus-bias": ("the bias is subtracted", BIAS),
    "bias-twice": ("the bias is added twice", BIAS),
    "weights-viewed": (
        "the weights are viewed in the other shape and then turned, which gives another matrix",
        "what is the difference between a view and a permutation?",
    ),
    "weights-detached": ("the weights are cut off from the graph", CUT),
    "input-detached": ("the input is cut off from the graph", CUT),
    "bias-detached": ("the bias is cut off from the graph", CUT),
    "by-inputs": ("the product is divided by the number of inputs", ONLY),
    "by-root-of-inputs": ("the product is divided by the root of the number of inputs", ONLY),
    "relu-before-bias": ("ReLU is applied to the product, before the bias", ONLY),
    "with-relu=relu": ("the layer applies ReLU itself", ONLY),
    "with-sigmoid=sigmoid": ("the layer applies a sigmoid itself", ONLY),
    "negated": ("the product has the wrong sign", ONLY),
}

# ---- Network -----------------------------------------------------------------------------------------------

MEANS: dict[str, Callable[[Tensor], Tensor]] = {
    "sum": lambda words: words.sum(1),
    "max": lambda words: words.amax(1),
    "first-word": lambda words: words[:, 0],
    "last-word": lambda words: words[:, -1],
    "mean-of-batch": lambda words: words.mean((0, 1)).expand(len(words), -1),
    "sum-by-batch": lambda words: words.sum(1) / len(words),
    "sum-by-dimension": lambda words: words.sum(1) / words.shape[2],
}
BETWEEN: dict[str, Callable[[Tensor], Tensor]] = {
    "without-relu": lambda hidden: hidden,
    "relu-at-the-end": lambda hidden: hidden,
    "tanh": torch.tanh,
    "sigmoid-for-relu": torch.sigmoid,
    "detached": lambda hidden: hidden.relu().detach(),
    "relu-negated": lambda hidden: -(-hidden).relu(),
}
ENDS: dict[str, Callable[[Tensor], Tensor]] = {
    "without-sigmoid": lambda logit: logit,
    "sigmoid-twice": lambda logit: logit.sigmoid().sigmoid(),
    "relu-at-the-end": lambda logit: logit.relu().sigmoid(),
    "softmax": lambda logit: logit.softmax(0),
    "tanh-at-the-end": torch.tanh,
    "relu-for-sigmoid": torch.relu,
    "other-class": lambda logit: 1 - logit.sigmoid(),
    "column": torch.sigmoid,
}


def _mean(words: Tensor) -> Tensor:
    return words.mean(1)


def network_forward(case: Case, on: Switches) -> Mapping[str, Array]:
    """``out`` and the derivatives of ``(out · dout).sum()``; with no switch turned they are right."""
    given = oracle.given_tensors(case)
    leaves = {name: given[name].requires_grad_() for name in ("w1", "b1", "w2", "b2")}
    mean = next((MEANS[name] for name in MEANS if name in on), _mean)(given["embeddings"])
    between = next((BETWEEN[name] for name in BETWEEN if name in on), torch.relu)
    end = next((ENDS[name] for name in ENDS if name in on), torch.sigmoid)
    out = end((between(mean @ leaves["w1"] + leaves["b1"]) @ leaves["w2"] + leaves["b2"]).squeeze(1))
    if "column" in on:  # nothing can be derived from it, being of another shape
        return {"out": out.detach().numpy()[:, None]}
    return {"out": out.detach().numpy(), **_derived(out, given["dout"], leaves)}


WORDS = "what becomes of a sentence's words before the first layer: over which dimension, and divided by what?"
RELU = "what stands between two linear layers, and where does its result go?"
END = "what makes one probability out of the last layer's number?"
NETWORK: dict[str, tuple[str, str]] = {
    "sum": ("the sum of the words is taken in place of their mean", WORDS),
    "max": ("the maximum of the words is taken in place of their mean", WORDS),
    "first-word": ("the first word alone is used", WORDS),
    "last-word": ("the last word alone is used", WORDS),
    "mean-of-batch": ("the mean is taken over the whole batch, and every sentence is given it", WORDS),
    "sum-by-batch": ("the sum of the words is divided by the size of the batch", WORDS),
    "sum-by-dimension": ("the sum of the words is divided by the embedding's dimension", WORDS),
    "without-relu": ("there is no ReLU between the layers, or its result is thrown away", RELU),
    "relu-at-the-end": ("ReLU comes after the second layer, and not between the two", RELU),
    "tanh": ("tanh takes the place of ReLU", RELU),
    "sigmoid-for-relu": ("a sigmoid takes the place of ReLU", RELU),
    "relu-negated": ("ReLU is applied with the wrong sign, so that the negative half is kept", RELU),
    "detached": (
        "the first layer is cut off from the graph and learns nothing",
        "through which tensors does a derivative come back to the first layer?",
    ),
    "without-sigmoid": ("there is no sigmoid at the end", END),
    "sigmoid-twice": ("the sigmoid is applied twice", END),
    "softmax": ("a softmax over the batch takes the place of the sigmoid", END),
    "tanh-at-the-end": ("tanh takes the place of the sigmoid", END),
    "relu-for-sigmoid": ("ReLU takes the place of the sigmoid", END),
    "other-class": ("it gives the probability of the other class", END),
    "column": ("the output is left as a column, of shape [batch, 1]", "which shape does the handout ask for?"),
}

DROPOUT = "which of MiniTorch's functions drops units, when does it, and where does its result go?"
PROBABILITY = "with which probability is a unit to be dropped, and is that the number `dropout` is given?"
DROPPED: dict[str, tuple[str, str]] = {
    "without-dropout": ("there is no dropout in training, or its result is thrown away", DROPOUT),
    "dropout-fixed": ("one half of the units is dropped, whatever is asked for", PROBABILITY),
    "dropout-complement": ("a unit is kept with the probability with which it should be dropped", PROBABILITY),
    "dropout-twice": ("dropout is applied twice", DROPOUT),
    "dropout-on-input": ("dropout is applied to the mean embedding, before the first layer", DROPOUT),
    "dropout-scaled": ("the units that are kept are made larger by 1 / (1 - p)", "does MiniTorch's dropout rescale?"),
}

FAULTS: list[Fault] = [
    *family("linear_forward", "linear_forward", "linear", linear_forward, LINEAR),
    *family(
        "network_forward",
        "network_forward",
        "network",
        network_forward,
        NETWORK,
        ["column", "softmax", "mean-of-batch", "tanh-at-the-end", "relu-for-sigmoid", "sum-by-batch"],
    ),
    *(Fault(f"network-{n}", "network_forward", "network_dropout", says, hint) for n, (says, hint) in DROPPED.items()),
]
