"""What the build and the probes both name: the files that a build leaves, and the graded operators' arguments.

Apart from either, since a probe needs no more of the build.
"""

from __future__ import annotations

from dataclasses import dataclass

LIBRARY = "student.so"
OPERATORS = "operators.so"


@dataclass(frozen=True)
class Signature:
    """Order of the arguments, and which tensors are results."""

    pointers: tuple[str, ...]
    sizes: tuple[str, ...]
    results: tuple[str, ...]


def _signature(pointers: str, sizes: str, results: str) -> Signature:
    return Signature(tuple(pointers.split()), tuple(sizes.split()), tuple(results.split()))


# As llm.c has them, in its order; interpose.c numbers the operators in this one.
SIGNATURES = {
    "encoder_backward": _signature("dwte dwpe dout inp", "B T C", "dwte dwpe"),
    "layernorm_backward": _signature("dinp dweight dbias dout inp weight mean rstd", "B T C", "dinp dweight dbias"),
    "matmul_backward": _signature("dinp dweight dbias dout inp weight", "B T C OC", "dinp dweight dbias"),
    "attention_backward": _signature("dinp dpreatt datt dout inp att", "B T C NH", "dinp dpreatt datt"),
    "gelu_backward": _signature("dinp inp dout", "N", "dinp"),
    "residual_backward": _signature("dinp1 dinp2 dout", "N", "dinp1 dinp2"),
    "crossentropy_softmax_backward": _signature("dlogits dlosses probs targets", "B T V Vp", "dlogits"),
}
