"""Mistakes of ``binary_cross_entropy_loss``, derived by PyTorch's autograd."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn import functional as F

from assignments.HW2.formulas import LOG_EPS
from grader.cases import Array, Case
from grader.faults import Fault, Switches, family
from reference.HW2 import oracle

BATCH = 10  # the course's constant of that name
LARGE_EPS = 0.001


def _log(x: Tensor) -> Tensor:
    return (x + LOG_EPS).log()


def _terms(out: Tensor, y: Tensor, log: Callable[[Tensor], Tensor] = _log) -> Tensor:
    return y * log(out) + (1 - y) * log(1 - out)


def _softened(out: Tensor, y: Tensor) -> Tensor:
    return -_terms(out, y, lambda x: F.log_softmax(x, 0)).mean()


LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "sum": lambda out, y: -_terms(out, y).sum(),
    "no-mean": lambda out, y: -_terms(out, y),
    "by-ten": lambda out, y: -_terms(out, y).sum() / BATCH,
    "halved": lambda out, y: -_terms(out, y).mean() / 2,
    "sign": lambda out, y: _terms(out, y).mean(),
    "squared": lambda out, y: ((out - y) ** 2).mean(),
    "squared-sum": lambda out, y: ((out - y) ** 2).sum(),
    "absolute": lambda out, y: (out - y).abs().mean(),
    "log-softmax": _softened,
    "softmax-first": lambda out, y: -_terms(F.softmax(out, 0), y).mean(),
    "sigmoid-again": lambda out, y: -_terms(out.sigmoid(), y).mean(),
    "positive-half": lambda out, y: -(y * _log(out)).mean(),
    "negative-half": lambda out, y: -((1 - y) * _log(1 - out)).mean(),
    "swapped": lambda out, y: -_terms(out, 1 - y).mean(),
    "without-one-minus": lambda out, y: -(y * _log(out) + (1 - y) * _log(out)).mean(),
    "without-log": lambda out, y: -(y * out + (1 - y) * (1 - out)).mean(),
    "wrong-parentheses": lambda out, y: (-(y * _log(out)) + (1 - y) * _log(1 - out)).mean(),
    "minus-between": lambda out, y: -(y * _log(out) - (1 - y) * _log(1 - out)).mean(),
    "one-minus-of-the-log": lambda out, y: -(y * _log(out) + (1 - y) * (1 - _log(out))).mean(),
    "large-eps": lambda out, y: -(y * _log(out + LARGE_EPS) + (1 - y) * _log(1 - out)).mean(),
    "large-eps-in-both": lambda out, y: -_terms(out, y, lambda x: _log(x + LARGE_EPS)).mean(),
}


def loss(case: Case, on: Switches) -> Mapping[str, Array]:
    """``loss`` and ``dout``; where a loss is many numbers, there is no ``dout`` to speak of."""
    given = oracle.given_tensors(case)
    out, y = given["out"].requires_grad_(), given["y"]
    made = next((LOSSES[name] for name in LOSSES if name in on), None)
    value = oracle.cross_entropy(out, y) if made is None else made(out, y)
    found = {"loss": value.detach().reshape(-1).numpy()}
    if value.numel() == 1:
        found["dout"] = torch.autograd.grad(value.sum(), out)[0].numpy()
    return found


MEAN = "how many sentences does the loss of a batch stand for, and does it grow with the batch?"
FORMULA = "what does the cross entropy of one output say at a label of 1, and what at a label of 0?"
INSIDE = "what is the logarithm taken of? the output is a probability already"
LOSS: dict[str, tuple[str, str]] = {
    "sum": ("the sum over the batch is taken in place of the mean", MEAN),
    "no-mean": ("there is a loss for each sentence, and no mean", MEAN),
    "by-ten": ("the sum is divided by 10, whatever the size of the batch", MEAN),
    "halved": ("the mean is divided by 2", MEAN),
    "sign": ("the sign is wrong", "is a good network's loss larger or smaller than a bad one's?"),
    "squared": ("it is the mean squared error", FORMULA),
    "squared-sum": ("it is the sum of the squared errors", FORMULA),
    "absolute": ("it is the mean absolute error", FORMULA),
    "log-softmax": ("a log-softmax over the batch takes the place of the logarithm", INSIDE),
    "softmax-first": ("a softmax over the batch is applied to the outputs first", INSIDE),
    "sigmoid-again": ("a sigmoid is applied to the outputs once more", INSIDE),
    "positive-half": ("the half with the label 1 is there alone", FORMULA),
    "negative-half": ("the half with the label 0 is there alone", FORMULA),
    "swapped": ("the labels are swapped: out and 1 - out stand in each other's place", FORMULA),
    "without-one-minus": ("both halves take the logarithm of out, none that of 1 - out", FORMULA),
    "without-log": ("the logarithms are left out", FORMULA),
    "wrong-parentheses": ("the minus in front belongs to the first half alone", FORMULA),
    "minus-between": ("the second half is subtracted from the first", FORMULA),
    "one-minus-of-the-log": ("the second half has 1 - log(out), not log(1 - out)", FORMULA),
    "large-eps": ("0.001 is added inside the first logarithm", "how large is what MiniTorch's own logarithm adds?"),
    "large-eps-in-both": ("0.001 is added inside the logarithms", "how large is what MiniTorch's own logarithm adds?"),
}

FAULTS: list[Fault] = family(
    "binary_cross_entropy_loss", "loss", "loss", loss, LOSS, [key.split("=")[0] for key in LOSS]
)
