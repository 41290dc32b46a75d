"""What the formulas of the faults share: a case's tensors in float64, its sizes, and which switches are on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grader.cases import Array, Case

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Outputs = dict[str, Array]

ADDS = "a backward function adds to what is in its gradient buffers already: they are shared, and zeroed elsewhere"


class Given:
    """A case as the formulas read it.

    ``x.dout`` is the tensor ``dout`` in float64, ``x.ints("inp")`` one of whole numbers, ``x("B", "T")`` sizes.
    """

    def __init__(self, case: Case) -> None:
        self.case = case

    def __call__(self, *names: str) -> list[int]:
        """The sizes of these names."""
        return [int(self.case.params[name]) for name in names]

    def __getattr__(self, name: str) -> Float:
        """A tensor in float64; each time a fresh copy."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self.case.inputs[name].astype(np.float64)

    def ints(self, name: str) -> Int:
        """A tensor of whole numbers."""
        return self.case.inputs[name].astype(np.int64)

    def has(self, name: str) -> bool:
        """Whether the case has this tensor: one that it lacks is passed as NULL."""
        return name in self.case.inputs
