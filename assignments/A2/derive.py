"""What is right given what was handed back: buffers that right code fills in more than one way.

Runs on the judging side alone, in NumPy's float64.
"""

from __future__ import annotations

import numpy as np

from grader.derive import Derivation, Handed, UnusableError


def derive(handed: Handed) -> Derivation:
    """``again`` [B * NH * T * T]: of `datt` or `dpreatt`, what one pass leaves in it, and as much again.

    Whether the operator reads what was in the buffer before is its own affair: of the two, the one that it reads next
    holds nothing then.

    Raises:
        UnusableError: what it held is not there, or of another size.
    """
    b, heads, t = (int(handed.params[name]) for name in ("B", "NH", "T"))
    first = handed.got.get("first")
    if first is None or first.shape != (b * heads * t * t,):
        raise UnusableError("what the first pass leaves was not handed back")
    held = first.astype(np.float64)
    return Derivation({"again": held + held})
