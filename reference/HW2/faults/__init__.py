"""HW2's fault dictionary: known mistakes on the oracle's cases, in PyTorch's float64; see `grader.faults`.

Those of `orders` and `loops`, and of dropout, depend on what was handed back: they stand here in words, and
`assignments.HW2.known_orders` and `assignments.HW2.known_steps` compute them.
"""

from __future__ import annotations

from grader.faults import Fault
from reference.HW2.faults import backpropagation, initial, layers, loops, losses, orders

FAULTS: list[Fault] = [
    *orders.FAULTS,
    *backpropagation.FAULTS,
    *initial.FAULTS,
    *layers.FAULTS,
    *losses.FAULTS,
    *loops.FAULTS,
]
