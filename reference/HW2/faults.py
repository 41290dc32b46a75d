"""HW2's fault dictionary: known mistakes on the oracle's cases, in PyTorch's float64; see `grader.faults`."""

from __future__ import annotations

from collections.abc import Mapping

from grader.cases import Array, Case
from grader.faults import Fault, Switches, family
from reference.HW2 import oracle

Tensors = Mapping[str, Array]


def linear_forward(case: Case, on: Switches) -> Tensors:
    """``y`` and its derivatives of ``x · weights + bias``; with no switch turned they are right."""
    right = oracle.expected(case)
    given = {name: value.astype("float64") for name, value in case.inputs.items()}
    if "without-bias" in on:
        return {**right, "y": right["y"] - given["bias"], "dbias": 0 * right["dbias"]}
    return right


FAULTS: list[Fault] = [
    *family(
        "linear_forward",
        "linear_forward",
        "linear",
        linear_forward,
        {"without-bias": ("the bias is not added", "what does a layer do to an input of zeros?")},
    ),
]
