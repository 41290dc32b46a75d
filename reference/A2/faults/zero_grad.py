"""What is made wrong in ``gpt2_zero_grad``, and in ``gpt2_backward`` without targets."""

from __future__ import annotations

import numpy as np

from grader.cases import Case
from grader.faults import Fault, Switches, alone, family
from reference.A2.cases import parameter_count, parameter_shapes
from reference.A2.faults.arrays import Float, Outputs
from reference.A2.oracle import activation_count

FLOAT = 4  # bytes
BEFORE = 1.0  # what the probe fills the buffers with


def zero_grad(case: Case, on: Switches) -> Outputs:
    """grads and grads_acts; with no switch turned both are zero to their ends."""
    if case.name == "unallocated":
        return {}
    sizes = {name: int(value) for name, value in case.params.items()}
    parameters, activations = parameter_count(sizes), activation_count(sizes)
    zeroed = {"grads": parameters * FLOAT, "grads_acts": activations * FLOAT}
    if "first-tensor" in on:
        zeroed["grads"] = int(np.prod(parameter_shapes(sizes)["wte"])) * FLOAT
    if "num-parameters" in on:
        zeroed["grads_acts"] = min(parameters, activations) * FLOAT
    for name in zeroed:
        zeroed[name] = 0 if f"{name}-left-out" in on else zeroed[name]
        zeroed[name] = zeroed[name] // FLOAT if f"{name}-bytes" in on else zeroed[name]
        zeroed[name] -= FLOAT if f"{name}-last" in on else 0
    return {name: _buffer(size, zeroed[name]) for name, size in (("grads", parameters), ("grads_acts", activations))}


def _buffer(size: int, zeroed: int) -> Float:
    """A buffer of ``size`` floats, of which the first bytes are zeroed."""
    memory = np.full(size, BEFORE, dtype=np.float32).view(np.uint8)
    memory[:zeroed] = 0
    return memory.view(np.float32).astype(np.float64)


BUFFERS = "how many buffers hold gradients, and which line zeroes each?"
COUNTS = "two buffers, each with its own number of floats: which number belongs to which?"
BYTES = "in which unit does memset count, and in which does num_parameters or num_activations?"
END = "to which element does each memset go, and which is the last of the buffer?"

FAULTS = [
    *family(
        "zero_grad",
        "zero_grad",
        "zero-grad",
        zero_grad,
        {
            "parameters-only=grads_acts-left-out": ("the gradients of the activations are not zeroed", BUFFERS),
            "activations-only=grads-left-out": ("the gradients of the parameters are not zeroed", BUFFERS),
            "num-parameters": (
                "only the first num_parameters of the activations' gradients are zeroed",
                COUNTS,
            ),
            "bytes=grads-bytes": (
                "sizeof(float) is forgotten: a quarter of the parameters' gradients is zeroed",
                BYTES,
            ),
            "bytes-of-activations=grads_acts-bytes": (
                "sizeof(float) is forgotten: a quarter of the activations' gradients is zeroed",
                BYTES,
            ),
            "bytes-of-both=grads-bytes+grads_acts-bytes": (
                "sizeof(float) is forgotten: a quarter of each buffer is zeroed",
                BYTES,
            ),
            "last-element=grads_acts-last": (
                "the last element (one float) of the activations' gradients is left out",
                END,
            ),
            "last-parameter=grads-last": (
                "the last element (one float) of the parameters' gradients is left out",
                END,
            ),
            "one-tensor=first-tensor": (
                "of the parameters' gradients, only those of the first tensor, wte, are zeroed",
                COUNTS,
            ),
        },
    ),
    Fault(
        "backward-without-targets",
        "gpt2_backward",
        "no_targets",
        "gpt2_backward goes on without targets, as if there had been a loss",
        "the forward marks a missing loss: what does gpt2_backward do then, at its very beginning?",
        alone(lambda case: {"stopped": np.zeros(1)}),
    ),
]
