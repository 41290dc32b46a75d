"""What is made wrong in ``layernorm_backward``."""

from __future__ import annotations

import numpy as np

from grader.cases import Case
from grader.faults import Switches, family
from reference.A2.faults.arrays import ADDS, Float, Given, Outputs


def layernorm_backward(case: Case, on: Switches) -> Outputs:
    """dinp [B, T, C], dweight [C], dbias [C]; with no switch turned they are right."""
    x = Given(case)
    mean, rstd = x.mean[..., None], x.rstd[..., None]
    if "mean-of-first-row" in on:
        mean, rstd = mean[:1], rstd[:1]
    normed = x.inp - (0 if "mean-forgotten" in on else mean)
    normed = normed * (1 if "rstd-forgotten-in-xhat" in on else rstd)
    dnorm = x.dout if "weight-forgotten" in on else x.dout * x.weight
    dweight, dbias = _dweight(x, on, normed, dnorm), _dbias(x, on, dnorm)
    if "dweight-and-dbias-swapped" in on:
        dweight, dbias = x.dweight + (dbias - x.dbias), x.dbias + (dweight - x.dweight)
    return {"dinp": _dinp(x, on, normed, dnorm, rstd), "dweight": dweight, "dbias": dbias}


def _dinp(x: Given, on: Switches, normed: Float, dnorm: Float, rstd: Float) -> Float:
    if "dinp-missing" in on:
        return x.dinp
    first = _reduction(x, on, "first", dnorm)
    second = _reduction(x, on, "second", dnorm * (x.inp if "inp-in-the-reduction" in on else normed))
    if "second-reduction-not-times-xhat" not in on:
        second = second * (x.inp if "inp-for-xhat" in on else normed)
    inside = dnorm + (first if "first-reduction-added" in on else -first)
    inside = inside + (second if "second-reduction-added" in on else -second)
    grad = inside if "rstd-forgotten" in on else inside * rstd
    return grad if "dinp-assigned" in on else x.dinp + grad


def _reduction(x: Given, on: Switches, which: str, terms: Float) -> Float:
    """The mean [B, T, 1] of the terms [B, T, C] over a row."""
    if f"{which}-reduction-missing" in on:
        return np.zeros((1, 1, 1))
    C = terms.shape[-1]
    total: Float = terms.sum(-1, keepdims=True)
    if f"{which}-sum-not-reset" in on:
        return _running(total, 1 if f"{which}-sum-not-divided" in on else C)
    if which == "second" and "divided-by-c-minus-1" in on:
        C = C - 1
    return total / (1 if f"{which}-sum-not-divided" in on else C)


def _running(total: Float, C: int) -> Float:
    """Sums [B, T, 1] that begin with what the row before ended with."""
    rows, carried = total.reshape(-1).copy(), 0.0
    for i, value in enumerate(rows):
        carried = rows[i] = (carried + value) / C
    return rows.reshape(total.shape)


def _dweight(x: Given, on: Switches, normed: Float, dnorm: Float) -> Float:
    if "dweight-missing" in on:
        return x.dweight
    grad = (dnorm if "dnorm-in-dweight" in on else x.dout) * (x.inp if "inp-in-dweight" in on else normed)
    return _added(on, "dweight", x.dweight, grad)


def _dbias(x: Given, on: Switches, dnorm: Float) -> Float:
    if "dbias-missing" in on:
        return x.dbias
    return _added(on, "dbias", x.dbias, dnorm if "dnorm-in-dbias" in on else x.dout)


def _added(on: Switches, name: str, buffer: Float, grad: Float) -> Float:
    """The buffer [C] after the gradients [B, T, C] of all rows were added to it."""
    rows = grad.reshape(-1, grad.shape[-1])
    if f"{name}-assigned" in on:
        return np.array(rows[-1])
    total: Float = rows.sum(0)
    return total if f"{name}-overwritten" in on else buffer + total


REDUCTIONS = "x acts on its row in three ways: itself, through the row's mean, through the row's variance"
MEANS = "both reductions are means over the C channels of a row"
XHAT = "xhat = (inp - mean) * rstd is what the forward multiplied by weight"

FAULTS = family(
    "layernorm_backward",
    "layernorm_backward",
    "layernorm",
    layernorm_backward,
    {
        "dinp-assigned": ("dinp is set (`=`) where it should be added to (`+=`)", ADDS),
        "dweight-assigned": ("dweight is set (`=`) by each row: only the last row's share is left", ADDS),
        "dbias-assigned": ("dbias is set (`=`) by each row: only the last row's share is left", ADDS),
        "dweight-overwritten": ("dweight is set to the sum over the rows, and what was in it is lost", ADDS),
        "dbias-overwritten": ("dbias is set to the sum over the rows, and what was in it is lost", ADDS),
        "rstd-times-dnorm=first-reduction-missing+second-reduction-missing": (
            "dinp is rstd * dnorm alone, without either of the two reductions over the row",
            REDUCTIONS,
        ),
        "first-reduction-missing": (
            "the first reduction, the mean over the row of dnorm = dout * weight, is not subtracted in dinp",
            REDUCTIONS,
        ),
        "second-reduction-missing": (
            "the second reduction, xhat times the mean over the row of dnorm * xhat, is not subtracted in dinp",
            REDUCTIONS,
        ),
        "first-reduction-added": ("the mean of dnorm is added in dinp where it should be subtracted", REDUCTIONS),
        "second-reduction-added": (
            "xhat times the mean of dnorm * xhat is added in dinp where it should be subtracted",
            REDUCTIONS,
        ),
        "second-reduction-not-times-xhat": (
            "the mean of dnorm * xhat is subtracted in dinp without the factor xhat",
            "the path through the variance: how does the variance depend on this x?",
        ),
        "sums-not-divided=first-sum-not-divided+second-sum-not-divided": (
            "neither of the two sums over the row is divided by C",
            MEANS,
        ),
        "first-sum-not-divided": ("the sum of dnorm over the row is not divided by C", MEANS),
        "second-sum-not-divided": ("the sum of dnorm * xhat over the row is not divided by C", MEANS),
        "divided-by-c-minus-1": (
            "the sum of dnorm * xhat is divided by C - 1 in place of C",
            "the forward's variance is not the sample variance",
        ),
        "inp-in-the-reduction": ("the second reduction is over dnorm * inp in place of dnorm * xhat", XHAT),
        "inp-in-dweight": ("dweight is the sum of dout * inp in place of dout * xhat", XHAT),
        "inp-everywhere=inp-in-the-reduction+inp-in-dweight+inp-for-xhat": (
            "inp stands in place of xhat everywhere",
            XHAT,
        ),
        "mean-forgotten": ("xhat is inp * rstd: the mean is not subtracted", XHAT),
        "rstd-forgotten-in-xhat": ("xhat is inp - mean: it is not multiplied by rstd", XHAT),
        "dnorm-in-dweight": (
            "dweight gets dout * weight * xhat: the weight is in it",
            "the derivative of xhat * weight + bias by weight has no weight in it",
        ),
        "dnorm-in-dbias": (
            "dbias gets dout * weight: the weight is in it",
            "the derivative of xhat * weight + bias by bias has no weight in it",
        ),
        "dweight-missing": ("nothing is added to dweight", "out = xhat * weight + bias has three inputs"),
        "dbias-missing": ("nothing is added to dbias", "out = xhat * weight + bias has three inputs"),
        "no-weight-and-bias=dweight-missing+dbias-missing": (
            "nothing is added to dweight, nor to dbias",
            "out = xhat * weight + bias has three inputs",
        ),
        "dinp-missing": ("nothing is added to dinp", "out = xhat * weight + bias has three inputs"),
        "dweight-and-dbias-swapped": (
            "the gradient of weight goes into dbias, and that of bias into dweight",
            "which of the two has xhat in it?",
        ),
        "weight-forgotten": (
            "dnorm is dout alone: the factor weight is forgotten on the way to dinp",
            "out = xhat * weight + bias: what is its derivative by xhat?",
        ),
        "rstd-forgotten": (
            "dinp is not multiplied by rstd",
            "xhat = (inp - mean) * rstd: what is its derivative by inp, mean and rstd held?",
        ),
        "sums-not-reset=first-sum-not-reset+second-sum-not-reset": (
            "the two sums of a row begin with what is left of the row before",
            "where are the two sums set to zero?",
        ),
        "first-sum-not-reset": (
            "the sum of dnorm begins with what is left of the row before",
            "where are the two sums set to zero?",
        ),
        "second-sum-not-reset": (
            "the sum of dnorm * xhat begins with what is left of the row before",
            "where are the two sums set to zero?",
        ),
        "mean-of-first-row": (
            "mean and rstd are those of the first sequence for every sequence: indexed by t, without b",
            "mean and rstd are [B, T]",
        ),
    },
)
