"""The network and its loss in NumPy's float64, with the derivatives written out; a test holds them to PyTorch.

For the judging side alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Parameters = Mapping[str, Float]  # w1 [E, H], b1 [H], w2 [H, 1], b2 [1]

LOG_EPS = 1e-6  # MiniTorch's logarithm adds it
EPS_RANGE = (0.0, 2e-6)  # what a right loss may add inside the logarithm: MiniTorch's 1e-6, and as much again
AT_ONCE = 1 << 24  # hidden units, of all sentences together
FLOAT32_ROUNDING = 6e-8  # of 1 - out near 0


def sigmoid(x: Float) -> Float:
    """The logistic function."""
    return np.asarray(1 / (1 + np.exp(-x)))


def _log(x: Float) -> Float:
    return np.asarray(np.log(x + LOG_EPS))


def _log_softmax(x: Float) -> Float:
    shifted = x - x.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))


def entropy(out: Float, y: Float, log: Callable[[Float], Float] = _log) -> Float:
    """The binary cross entropy of each output."""
    return np.asarray(-(y * log(out) + (1 - y) * log(1 - out)))


def loss_bounds(out: Float, y: Float) -> Float:
    """``[2]``: the least and the greatest value of a right loss of a batch, at outputs of 0, 1 and next to them."""
    least, most = EPS_RANGE
    exact = np.clip(out, FLOAT32_ROUNDING, 1 - FLOAT32_ROUNDING)
    low = entropy(out, y, lambda x: np.asarray(np.log(x + most + FLOAT32_ROUNDING))).mean()
    high = entropy(exact, y, lambda x: np.asarray(np.log(x + least))).mean()
    return np.sort(np.array([low, high]))


def known_losses(out: Float, y: Float) -> dict[str, float]:
    """What known wrong losses give, by their names."""
    terms = entropy(out, y)
    return {
        "the cross entropy with a log-softmax in place of the logarithm": entropy(out, y, _log_softmax).mean(),
        "the sum over the batch, where the mean should be taken": terms.sum(),
        "the mean squared error": ((out - y) ** 2).mean(),
        "the cross entropy with the wrong sign": -terms.mean(),
        "the half with the label 1 alone": -(y * _log(out)).mean(),
        "the half with the label 0 alone": -((1 - y) * _log(1 - out)).mean(),
        "the cross entropy of swapped labels": entropy(out, 1 - y).mean(),
    }


def log_softmax_gradient(out: Float, y: Float) -> Float:
    """The derivative of the log-softmax reading by the outputs ``[B]``."""
    p, q = np.exp(_log_softmax(out)), np.exp(_log_softmax(1 - out))
    return np.asarray(-(y - p * y.sum() - (1 - y) + q * (1 - y).sum()) / len(out))


def output(p: Parameters, mean: Float) -> Float:
    """The network's probabilities ``[B]`` for mean embeddings ``[B, E]``, without dropout."""
    rows = max(1, AT_ONCE // max(1, p["b1"].size))
    if len(mean) > rows:  # the size of the hidden layer is the submission's
        return np.concatenate([output(p, mean[first : first + rows]) for first in range(0, len(mean), rows)])
    return sigmoid(np.maximum(mean @ p["w1"] + p["b1"], 0) @ p["w2"] + p["b2"])[:, 0]


def loss_and_gradients(p: Parameters, mean: Float, y: Float) -> tuple[float, dict[str, Float]]:
    """The cross entropy of a batch, and its derivatives by the parameters.

    Args:
        p: the parameters.
        mean: the sentences' mean embeddings ``[B, E]``.
        y: their labels ``[B]``.
    """
    out = output(p, mean)
    d_out = -(y / (out + LOG_EPS) - (1 - y) / (1 - out + LOG_EPS)) / len(y)
    return float(entropy(out, y).mean()), gradients(p, mean, d_out)


def gradients(p: Parameters, mean: Float, d_out: Float) -> dict[str, Float]:
    """The derivatives by the parameters, given those by the outputs ``[B]``."""
    before = mean @ p["w1"] + p["b1"]
    hidden = np.maximum(before, 0)
    out = sigmoid(hidden @ p["w2"] + p["b2"])[:, 0]
    d_logit = (d_out * out * (1 - out))[:, None]
    d_before = (d_logit @ p["w2"].T) * (before > 0)
    return {
        "w1": mean.T @ d_before,
        "b1": d_before.sum(0),
        "w2": hidden.T @ d_logit,
        "b2": d_logit.sum(0),
    }


def share_right(out: Float, y: Float) -> float:
    """The accuracy: the share of outputs on the right side of one half."""
    return float(((out > 0.5) == (y > 0.5)).mean())
