"""What is made wrong in ``matmul_backward``."""

from __future__ import annotations

import numpy as np

from grader.cases import Case
from grader.faults import Switches, family
from reference.A2.faults.arrays import ADDS, Float, Given, Outputs


def matmul_backward(case: Case, on: Switches) -> Outputs:
    """dinp [B, T, C], dweight [OC, C] and, where there is one, dbias [OC]; with no switch turned they are right."""
    x = Given(case)
    outputs: Outputs = {"dinp": _dinp(x, on), "dweight": _dweight(x, on)}
    if x.has("dbias"):
        outputs["dbias"] = _dbias(x, on)
    return outputs


def _dinp(x: Given, on: Switches) -> Float:
    if "dinp-missing" in on:
        return x.dinp
    C, OC = x("C", "OC")
    dout = x.dout
    if "dinp-of-first-sequence" in on:
        dout[1:] = 0.0
    weight = x.weight.reshape(C, OC).T if "weight-transposed" in on else x.weight
    if "dinp-assigned" in on:  # each output channel sets it: the last stays
        last: Float = dout[..., -1:] * weight[-1]
        return last
    grad: Float = dout @ weight
    return grad if "dinp-overwritten" in on else x.dinp + grad


def _counted(x: Given, on: Switches, name: str) -> tuple[Float, Float]:
    """dout [BT, OC] and inp [BT, C] as they count for dweight or dbias."""
    B, T, C, OC = x("B", "T", "C", "OC")
    dout, inp = x.dout.reshape(B * T, OC), x.inp.reshape(B * T, C)
    for width in (4, 8):
        if f"tail-of-{width}-left-out" in on:
            dout[:, OC // width * width :] = 0.0
    if f"{name}-of-first-sequence" in on:
        dout[T:] = 0.0
    return dout / (B * T) if f"{name}-averaged" in on else dout, inp


def _dweight(x: Given, on: Switches) -> Float:
    if "dweight-missing" in on:
        return x.dweight
    dout, inp = _counted(x, on, "dweight")
    if "dweight-assigned" in on:  # each row sets it: the last stays
        return np.outer(dout[-1], inp[-1])
    grad: Float = dout.T @ inp
    if "dweight-transposed" in on:
        grad = grad.T.reshape(grad.shape)
    return grad if "dweight-overwritten" in on else x.dweight + grad


def _dbias(x: Given, on: Switches) -> Float:
    if "dbias-missing" in on:
        return x.dbias
    dout, _ = _counted(x, on, "dbias")
    if "dbias-of-last-row" in on:
        return np.array(dout[-1])
    (C,) = x("C")
    if "dbias-only-last-row" in on:
        return np.asarray(x.dbias + dout[-1])
    grad: Float = dout.sum(0) * (C if "dbias-for-each-channel" in on else 1)
    return grad if "dbias-assigned" in on else x.dbias + grad


SHAPES = "weight and dweight are [OC, C]: the rows are output channels"
ROWS = "every row of every sequence used the same weight and bias"

FAULTS = family(
    "matmul_backward",
    "matmul_backward",
    "matmul",
    matmul_backward,
    {
        "dinp-assigned": (
            "dinp is set (`=`) in the loop over output channels, so that only the last channel's share is left",
            "every output channel used inp: dinp is a sum over them, on top of what was there",
        ),
        "dinp-overwritten": ("dinp is set to the right sum (`=`), and what was in it before is lost", ADDS),
        "dweight-assigned": (
            "dweight is set (`=`) in the loop over the rows, so that only the last row's share is left",
            ROWS,
        ),
        "dweight-overwritten": ("dweight is set to the right sum (`=`), and what was in it before is lost", ADDS),
        "dbias-assigned": ("dbias is set to the right sum (`=`), and what was in it before is lost", ADDS),
        "dbias-of-last-row": (
            "dbias is set (`=`) in the loop over the rows, so that only the last row's share is left",
            ROWS,
        ),
        "dbias-only-last-row": (
            "only the last row's dout is added to dbias: the sum over the rows is set (`=`) in its loop",
            ROWS,
        ),
        "dinp-missing": ("nothing is added to dinp", "out = inp . weight + bias has three inputs"),
        "dweight-missing": ("nothing is added to dweight", "out = inp . weight + bias has three inputs"),
        "dbias-missing": ("nothing is added to dbias", "out = inp . weight + bias has three inputs"),
        "dinp-of-first-sequence": (
            "dinp gets the gradients of the first sequence alone",
            "how far does the loop over b go?",
        ),
        "dweight-of-first-sequence": ("dweight is summed over the first sequence alone", ROWS),
        "dbias-of-first-row=dbias-of-first-sequence": ("dbias is summed over the first sequence alone", ROWS),
        "dweight-averaged": ("dweight gets the mean over all B * T rows in place of the sum", ROWS),
        "dbias-averaged": ("dbias gets the mean over all B * T rows in place of the sum", ROWS),
        "dbias-for-each-channel": (
            "dbias is added to once for each input channel: it is C times too large",
            "in which loop does the line with dbias stand?",
        ),
        "dweight-transposed": ("dweight is written as if it were [C, OC]", SHAPES),
        "weight-transposed": ("weight is read as if it were [C, OC] on the way to dinp", SHAPES),
        "tail-left-out=tail-of-4-left-out": (
            "the output channels behind the last multiple of four get no dweight and no dbias",
            "what happens to the channels that are left when a loop is unrolled?",
        ),
        "tail-of-8-left-out": (
            "the output channels behind the last multiple of eight get no dweight and no dbias",
            "what happens to the channels that are left when a loop is unrolled?",
        ),
    },
)
