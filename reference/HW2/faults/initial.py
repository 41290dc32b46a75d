"""Mistakes of the two constructors: what the parameters are drawn from. They are judged by their spread."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from grader.cases import Array, Case
from grader.faults import Fault, Switches, family
from reference.HW2 import oracle
from reference.HW2.oracle import INITIAL

SPREADS: Mapping[str, tuple[float, float]] = {  # from, to, in units of RParam's own bound
    "wide": (-10, 10),
    "from-minus-one-to-one": (-20, 20),
    "zero-to-one": (0, 20),
    "narrow": (-0.5, 0.5),
    "twice-as-wide": (-2, 2),
    "one-sided": (0, 1),
    "shifted": (0, 2),
    "constant": (1, 1),
    "zeros": (0, 0),
}


def spread(right: Array, kind: str) -> Array:
    """An even sample of another range, in a right tensor's shape."""
    least, most = SPREADS[kind]
    return np.linspace(least * INITIAL, most * INITIAL, right.size).reshape(right.shape)


def _drawn(right: Mapping[str, Array], on: Switches) -> dict[str, Array]:
    """``<kind>`` changes every tensor, ``<tensor>-<kind>`` one of them."""
    found = dict(right)
    for name, value in right.items():
        for kind in SPREADS:
            if kind in on or f"{name}-{kind}" in on:
                found[name] = spread(value, kind)
    return found


def linear_init(case: Case, on: Switches) -> Mapping[str, Array]:
    """``weights`` and ``bias``; with no switch turned they are right."""
    return _drawn(oracle.expected(case), on)


def network_init(case: Case, on: Switches) -> Mapping[str, Array]:
    """The first layer's weights, which are enough for their spread to be judged."""
    right = oracle.expected(case)
    if "w1-scaled" in on:
        return {"w1": 20 * right["w1"]}
    return {name: value for name, value in _drawn(right, on).items() if name == "w1"}


RANGE = "from where to where does RParam draw, and what is changed in its numbers afterwards?"
ALIKE = "what do two hidden units learn that begin with the same weights?"
BIAS = "does the handout ask for a bias that is drawn as the weights are?"
LINEAR: dict[str, tuple[str, str]] = {
    "wide": ("the random numbers, from -0.5 to 0.5, are not made smaller", RANGE),
    "from-minus-one-to-one": ("the random numbers go from -1 to 1", RANGE),
    "zero-to-one": ("the random numbers, from 0 to 1, are taken as they are", RANGE),
    "narrow": ("the range is half as wide as it should be", RANGE),
    "twice-as-wide": ("the range is twice as wide as it should be", RANGE),
    "one-sided": ("the numbers go from 0 to 0.05, all of one sign", RANGE),
    "shifted": ("one half is not taken from the random numbers before they are made smaller", RANGE),
    "constant": ("all numbers are alike", ALIKE),
    "zeros": ("all numbers are zero", ALIKE),
}
PARAMETERS: dict[str, tuple[str, str]] = {
    "weights-zeros": ("the weights are zero", ALIKE),
    "bias-zeros": ("the bias is zero", BIAS),
    "bias-constant": ("all elements of the bias are alike", BIAS),
}
NETWORK: dict[str, tuple[str, str]] = {
    "wide": ("the first layer's weights go from -0.5 to 0.5", RANGE),
    "zero-to-one": ("the first layer's weights go from 0 to 1", RANGE),
    "scaled=w1-scaled": ("the first layer's weights are made twenty times as large", RANGE),
    "zeros": ("the first layer's weights are zero", ALIKE),
}

FAULTS: list[Fault] = [
    *family("linear_init", "linear_init", "linear-init", linear_init, LINEAR, list(LINEAR), at="RParam"),
    *family("linear_init", "linear_init", "linear-init", linear_init, PARAMETERS, list(PARAMETERS)),
    *family(
        "network_init", "network_init", "network-init", network_init, NETWORK, [key.split("=")[0] for key in NETWORK]
    ),
]
