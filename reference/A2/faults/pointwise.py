"""What is made wrong in ``gelu_backward`` and ``residual_backward``."""

from __future__ import annotations

import math

import numpy as np

from grader.cases import Case
from grader.faults import Switches, family
from reference.A2.faults.arrays import ADDS, Float, Given, Outputs

CUBIC = 0.044715
SIGMOID = 1.702
_erf = np.vectorize(math.erf, otypes=[np.float64])


def gelu_backward(case: Case, on: Switches) -> Outputs:
    """dinp [N]; with no switch turned it is right."""
    x = Given(case)
    if "dinp-missing" in on:
        return {"dinp": x.dinp}
    slope = _slope(x.inp, on)
    for name, factor in {"halved": 0.5, "doubled": 2.0, "negated": -1.0}.items():
        slope = slope * (factor if name in on else 1.0)
    grad = slope if "without-dout" in on else slope * x.dout
    if "last-left-out" in on:
        grad[-1] = 0.0
    return {"dinp": grad if "assigned" in on else x.dinp + grad}


def _slope(x: Float, on: Switches) -> Float:
    """The derivative of the GELU by x."""
    if "erf" in on:
        return np.asarray(0.5 * (1.0 + _erf(x / np.sqrt(2.0))) + x * np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi))
    if "sigmoid" in on:
        s = 1.0 / (1.0 + np.exp(-np.clip(SIGMOID * x, -500.0, 500.0)))
        return s * (1.0 + SIGMOID * x * (1.0 - s))
    scale = 2.0 / np.pi if "scale-not-rooted" in on else np.sqrt(2.0 / np.pi)
    th = np.tanh(x if "tanh-of-x" in on else scale * (x if "without-the-cube" in on else x + CUBIC * x**3))
    if "forward" in on:
        return 0.5 * x * (1.0 + th)
    du = 1.0 + (1.0 if "without-the-three" in on else 3.0) * (0.0 if "cube-not-derived" in on else CUBIC) * x * x
    du = du * (1.0 if "du-without-the-scale" in on else scale)
    first = (1.0 if "first-half-missing" in on else 0.5) * (1.0 + th)
    second = (1.0 if "second-half-missing" in on else 0.5) * x * _sech2(th, on) * du
    second = second / x if "x-missing" in on else second
    return first * ("first-term-missing" not in on) + second * ("second-term-missing" not in on)


def _sech2(th: Float, on: Switches) -> Float:
    """The derivative of tanh, by its value."""
    if "without-sech" in on:
        return np.ones_like(th)
    if "sech-with-a-plus" in on:
        return 1.0 + th * th
    return 1.0 - (th if "sech-not-squared" in on else th * th)


PRODUCT = "gelu(x) is a product, x/2 times (1 + tanh(u)): its derivative has two terms"
INNER = "u = sqrt(2/pi) * (x + 0.044715 x^3): derive it by x once more, on paper"
TANH = "tanh'(u) = 1 - tanh(u)^2"
FORM = "the forward uses the tanh form, and the backward is the derivative of that form"

GELU = family(
    "gelu_residual_backward",
    "gelu_backward",
    "gelu",
    gelu_backward,
    {
        "assigned": ("dinp is set (`=`) where it should be added to (`+=`)", ADDS),
        "without-the-three": (
            "the inner derivative is 1 + 0.044715 x^2: the factor 3 of the cube's derivative is missing",
            INNER,
        ),
        "cube-not-derived": ("the inner derivative is sqrt(2/pi) alone: the cube's derivative is missing", INNER),
        "du-without-the-scale": ("the inner derivative lacks the factor sqrt(2/pi)", INNER),
        "scale-not-rooted": ("2/pi stands in place of sqrt(2/pi)", "compare the constant with that of gelu_forward"),
        "halved": ("the derivative is half of what it should be", "where is there a factor 0.5 too many?"),
        "doubled": (
            "the derivative is twice what it should be",
            "where does a factor 2 come in, or where is a factor 0.5 missing?",
        ),
        "negated": ("the derivative has the wrong sign", "the derivative is near 1 for a large x"),
        "first-half-missing": ("the first term, (1 + tanh(u)), lacks its factor 0.5", PRODUCT),
        "second-half-missing": ("the second term, x * (1 - tanh(u)^2) * u', lacks its factor 0.5", PRODUCT),
        "without-sech": ("the derivative of tanh is taken for 1", TANH),
        "sech-not-squared": ("the derivative of tanh is taken for 1 - tanh, without the square", TANH),
        "sech-with-a-plus": ("the derivative of tanh is taken for 1 + tanh^2", TANH),
        "erf": ("the derivative is that of the erf form of the GELU", FORM),
        "sigmoid": ("the derivative is that of the sigmoid form, x * sigmoid(1.702 x)", FORM),
        "forward": ("the GELU itself stands in place of its derivative", FORM),
        "tanh-of-x": ("tanh is taken of x in place of u", INNER),
        "without-the-cube": ("the argument of tanh lacks the cubic term", INNER),
        "without-dout": (
            "the local derivative is handed on without the factor dout",
            "chain rule: what does dout have to do with dinp?",
        ),
        "x-missing": ("the second term of the product rule lacks its factor x", PRODUCT),
        "first-term-missing": ("the first term of the product rule, 0.5 * (1 + tanh(u)), is missing", PRODUCT),
        "second-term-missing": (
            "the second term of the product rule, 0.5 * x * (1 - tanh(u)^2) * u', is missing",
            PRODUCT,
        ),
        "dinp-missing": ("nothing is added to dinp", "into which buffer does the result go?"),
        "last-left-out": ("the loop ends one element early", "compare the bound of the loop with N"),
    },
)


def residual_backward(case: Case, on: Switches) -> Outputs:
    """dinp1 and dinp2 [N]; with no switch turned they are right."""
    x = Given(case)
    return {name: _branch(x, on, name) for name in ("dinp1", "dinp2")}


def _branch(x: Given, on: Switches, name: str) -> Float:
    buffer: Float = getattr(x, name)
    factor = 0.0 if f"{name}-missing" in on else 2.0 if f"{name}-doubled" in on else 1.0
    factor *= 0.5 if "halved" in on else -1.0 if f"{name}-negated" in on else 1.0
    grad = factor * x.dout
    for width in (4, 8):
        if f"tail-of-{width}-left-out" in on:
            grad[grad.size // width * width :] = 0.0
    return grad if f"{name}-assigned" in on else buffer + grad


BOTH = "each input of a sum gets the whole gradient of the sum"
UNROLLED = "what happens to the elements that are left when a loop is unrolled?"

RESIDUAL = family(
    "gelu_residual_backward",
    "residual_backward",
    "residual",
    residual_backward,
    {
        "dinp1-assigned": ("dinp1 is set (`=`) where it should be added to (`+=`)", ADDS),
        "dinp2-assigned": ("dinp2 is set (`=`) where it should be added to (`+=`)", ADDS),
        "dinp1-missing": ("nothing is added to dinp1", BOTH),
        "dinp2-missing": ("nothing is added to dinp2", BOTH),
        "doubled=dinp1-doubled+dinp2-doubled": ("both inputs get the gradient twice", BOTH),
        "dinp1-twice=dinp1-doubled": ("dinp1 gets the gradient twice", BOTH),
        "dinp2-twice=dinp2-doubled": ("dinp2 gets the gradient twice", BOTH),
        "dinp1-doubled=dinp1-doubled+dinp2-missing": ("both gradients go into dinp1, none into dinp2", BOTH),
        "dinp2-doubled=dinp2-doubled+dinp1-missing": ("both gradients go into dinp2, none into dinp1", BOTH),
        "halved": ("each of the two gets half of the gradient", BOTH),
        "dinp1-negated": ("dinp1 gets the gradient with the wrong sign", BOTH),
        "dinp2-negated": ("dinp2 gets the gradient with the wrong sign", BOTH),
        "tail-left-out=tail-of-4-left-out": ("the elements behind the last multiple of four get nothing", UNROLLED),
        "tail-of-8-left-out": ("the elements behind the last multiple of eight get nothing", UNROLLED),
    },
)
FAULTS = [*GELU, *RESIDUAL]
