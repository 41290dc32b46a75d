"""A2's fault dictionary: known mistakes as formulas in NumPy's float64, on the oracle's cases; see `grader.faults`."""

from __future__ import annotations

from grader.faults import Fault
from reference.A2.faults import (
    attention,
    crossentropy,
    encoder,
    layernorm,
    matmul,
    pointwise,
    update,
    wiring,
    zero_grad,
)

FAULTS: list[Fault] = [
    *zero_grad.FAULTS,
    *encoder.FAULTS,
    *layernorm.FAULTS,
    *matmul.FAULTS,
    *attention.FAULTS,
    *pointwise.FAULTS,
    *crossentropy.FAULTS,
    *wiring.FAULTS,
    *update.FAULTS,
]
