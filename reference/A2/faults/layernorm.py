"""What is made wrong in ``layernorm_backward``."""

from __future__ import annotations

from grader.cases import Case
from grader.faults import Switches, family
from reference.A2.faults.arrays import Float, Given, Outputs

ASSIGNED = "a backward function adds to what is in its gradient buffers"


def layernorm_backward(case: Case, on: Switches) -> Outputs:
    """dinp [B, T, C], dweight [C], dbias [C]; with no switch turned they are right."""
    x = Given(case)
    (C,) = x("C")
    mean, rstd = x.mean[..., None], x.rstd[..., None]
    if "statistics-of-first-sequence" in on:
        mean, rstd = mean[:1], rstd[:1]
    normed = (x.inp - mean) * rstd
    dnorm = x.dout if "weight-forgotten" in on else x.dout * x.weight
    return {
        "dinp": _dinp(x, on, C, normed, dnorm, rstd),
        "dweight": _dweight(x, on, normed),
        "dbias": _dbias(x, on),
    }


def _dinp(x: Given, on: Switches, C: int, normed: Float, dnorm: Float, rstd: Float) -> Float:
    if "dinp-missing" in on:
        return x.dinp
    inside = dnorm - _first_mean(on, C, dnorm) - _second(x, on, C, normed, dnorm)
    grad = inside if "rstd-forgotten" in on else inside * rstd
    return grad if "dinp-assigned" in on else x.dinp + grad


def _first_mean(on: Switches, C: int, dnorm: Float) -> Float:
    """The mean of dnorm over the row, [B, T, 1]."""
    if "first-reduction-missing" in on:
        return 0.0 * dnorm
    total: Float = dnorm.sum(-1, keepdims=True)
    return total if "first-sum-not-divided" in on else total / C


def _second(x: Given, on: Switches, C: int, normed: Float, dnorm: Float) -> Float:
    """The path through the variance, [B, T, C]."""
    if "second-reduction-missing" in on:
        return 0.0 * dnorm
    total: Float = (dnorm * (x.inp if "inp-in-the-reduction" in on else normed)).sum(-1, keepdims=True)
    if "divided-by-c-minus-1" in on:
        total = total * C / (C - 1)
    return normed * (total if "second-sum-not-divided" in on else total / C)


def _dweight(x: Given, on: Switches, normed: Float) -> Float:
    if "dweight-missing" in on:
        return x.dweight
    grad = x.dout * (x.inp if "inp-in-dweight" in on else normed)
    if "dweight-assigned" in on:
        last: Float = grad[-1, -1]
        return last
    total: Float = x.dweight + grad.sum((0, 1))
    return total


def _dbias(x: Given, on: Switches) -> Float:
    if "dbias-missing" in on:
        return x.dbias
    if "dbias-assigned" in on:
        last: Float = x.dout[-1, -1]
        return last
    total: Float = x.dbias + x.dout.sum((0, 1))
    return total


FAULTS = family(
    "layernorm_backward",
    "layernorm_backward",
    "layernorm",
    layernorm_backward,
    {
        "dinp-assigned": ("dinp is set (`=`) where it should be added to (`+=`)", ASSIGNED),
        "first-reduction-missing": (
            "the first reduction, the mean over the row of dnorm = dout * weight, is left out of dinp",
            "each x acts on its whole row through the mean",
        ),
        "second-reduction-missing": (
            "the second reduction, the mean over the row of dnorm * xhat, is left out of dinp",
            "each x acts on its whole row through the variance",
        ),
    },
)
