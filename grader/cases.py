"""The case: the set of input tensors that the oracle and the probe are both given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]
Scalar = int | float
# What arithmetic raises on tensors of odd shapes: they are the submission's, and hold for it to answer.
DOES_NOT_FIT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
NUMBERS = "fiub"  # kinds of types whose values can be shown; what else is handed back is of a wrong type


@dataclass(frozen=True)
class Case:
    """One input of one check.

    Attributes:
        check: the check that the case belongs to, e.g. ``gelu_backward``.
        name: its name within the check, e.g. ``tails``; lower-case letters, digits, hyphens.
        params: the scalars of the call by their names, e.g. ``{"B": 2, "T": 3, "C": 5}``.
        inputs: the tensors by their names (float32 or int32), prefilled outputs among them.
    """

    check: str
    name: str
    params: Mapping[str, Scalar] = field(default_factory=dict)
    inputs: Mapping[str, Array] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """``<check>/<name>``, unique in a fixture set."""
        return f"{self.check}/{self.name}"
