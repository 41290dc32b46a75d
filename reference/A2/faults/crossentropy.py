"""What is made wrong in ``crossentropy_softmax_backward``."""

from __future__ import annotations

import numpy as np

from grader.cases import Case
from grader.faults import Switches, family
from reference.A2.faults.arrays import ADDS, Float, Given, Outputs


def crossentropy_softmax_backward(case: Case, on: Switches) -> Outputs:
    """dlogits [B, T, Vp]; with no switch turned it is right."""
    x = Given(case)
    B, T, V, Vp = x("B", "T", "V", "Vp")
    width = Vp if "up-to-vp" in on else V
    probs = _rows(x.probs.reshape(-1), B * T, V if "stride-of-probs" in on else Vp, width)
    onehot = _onehot(x, on, width)
    term = _term(probs, onehot, on)
    scale = _dlosses(x, on)[:, None]
    grad = probs * scale - onehot if "onehot-not-scaled" in on else term * scale
    flat = x.dlogits.reshape(-1)
    at = np.arange(B * T)[:, None] * (V if "stride-of-dlogits" in on else Vp) + np.arange(width)
    flat[at] = grad if "assigned" in on else flat[at] + grad
    return {"dlogits": flat.reshape(B, T, Vp)}


def _rows(flat: Float, count: int, stride: int, width: int) -> Float:
    """Rows [count, width] that begin ``stride`` apart."""
    return np.array(flat[np.arange(count)[:, None] * stride + np.arange(width)])


def _onehot(x: Given, on: Switches, width: int) -> Float:
    """1 at each row's target, [BT, width]."""
    B, T = x("B", "T")
    targets = x.ints("targets")
    if "targets-of-first-row" in on:
        targets = np.broadcast_to(targets[:1], (B, T))
    return np.asarray(targets.reshape(-1)[:, None] == np.arange(width), dtype=np.float64)


def _term(probs: Float, onehot: Float, on: Switches) -> Float:
    """What dlosses is multiplied with, [BT, width]."""
    if "onehot-alone" in on:
        return onehot * (probs - 1.0)
    if "target-left-out" in on:
        return (1.0 - onehot) * probs
    if "probs-left-out" in on:
        return -onehot
    term = probs if "onehot-missing" in on else probs + onehot if "sign-of-onehot" in on else probs - onehot
    term = term * (probs * (1.0 - probs) if "softmax-again" in on else 1.0)
    return -term if "sign" in on else term


def _dlosses(x: Given, on: Switches) -> Float:
    """The factor of each row, [BT]."""
    B, T = x("B", "T")
    given = x.dlosses
    if "dlosses-of-first-row" in on:
        given[:] = given[:1]
    if "dlosses-by-hand" in on:
        return np.full(B * T, 1.0 / (B * T))
    factor = np.ones(B * T) if "dlosses-ignored" in on else given.reshape(-1)
    for name, size in {"divided-again": B * T, "divided-by-t": T, "divided-by-b": B}.items():
        factor = factor / (size if name in on else 1)
    return factor


ROWS = "probs and dlogits are [B, T, Vp]: the rows are padded"
DERIVE = "derive -log(softmax(z)[target]) by each z on paper: one line for the target, one for the others"
MEAN = "where does the 1/(B*T) of the mean loss come in?"

FAULTS = family(
    "crossentropy_softmax_backward",
    "crossentropy_softmax_backward",
    "crossentropy",
    crossentropy_softmax_backward,
    {
        "assigned": ("dlogits is set (`=`) where it should be added to (`+=`)", ADDS),
        "up-to-vp": (
            "the loop over the vocabulary runs up to Vp, over the padding too",
            "only the first V columns are real: the others have no logits",
        ),
        "stride-v=stride-of-probs+stride-of-dlogits": (
            "the rows of probs and dlogits are taken to be V apart in place of Vp",
            ROWS,
        ),
        "stride-v-of-probs=stride-of-probs": ("the rows of probs are taken to be V apart in place of Vp", ROWS),
        "stride-v-of-dlogits=stride-of-dlogits": (
            "the rows of dlogits are taken to be V apart in place of Vp",
            ROWS,
        ),
        "sign": ("the sign is the other way round: onehot - probs", DERIVE),
        "sign-of-onehot": ("the one-hot of the target is added where it should be subtracted", DERIVE),
        "onehot-missing": ("the one-hot of the target is left out: probs alone", DERIVE),
        "probs-left-out": ("the probabilities are left out: minus the one-hot alone", DERIVE),
        "onehot-alone": ("only the target's own logit gets a gradient", DERIVE),
        "target-left-out": ("the target's own logit gets no gradient", DERIVE),
        "onehot-not-scaled": (
            "the one-hot is subtracted after the multiplication with dlosses in place of before it",
            "dlosses scales the whole gradient of a position",
        ),
        "divided-again": ("the gradient is divided by B * T, which dlosses holds already", MEAN),
        "divided-by-t": ("the gradient is divided by T", MEAN),
        "divided-by-b": ("the gradient is divided by B", MEAN),
        "dlosses-ignored": ("dlosses is ignored", MEAN),
        "dlosses-by-hand": (
            "1/(B*T) stands in place of dlosses, which is right inside this model alone",
            "what if the caller weighs the positions otherwise?",
        ),
        "dlosses-of-first-row": (
            "dlosses of the first sequence is taken for every sequence",
            "dlosses is [B, T]",
        ),
        "targets-of-first-row": (
            "the targets of the first sequence are taken for those of every sequence",
            "targets is [B, T]",
        ),
        "softmax-again": (
            "the softmax's derivative, p * (1 - p), is multiplied in a second time",
            "probs - onehot is the derivative by the logits: the softmax is in it",
        ),
    },
)
