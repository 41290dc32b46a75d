"""The student's model, reached through the shim: build, forward, backward, update, and its tensors."""

from __future__ import annotations

import ctypes
import math
import os
import struct
from typing import Any

from assignments.A2.native.library import fill_malloc_with_rubbish, load
from assignments.common.probe_io import Job, Report, Tensor, read_tensors

CHECKPOINT_MAGIC, CHECKPOINT_VERSION = 20240326, 3
PARAMETERS, GRADIENTS, ACTIVATIONS, ACTIVATION_GRADIENTS, FIRST_MOMENT, SECOND_MOMENT = range(6)
GROUPS = {PARAMETERS: "params", GRADIENTS: "grads", ACTIVATIONS: "acts", ACTIVATION_GRADIENTS: "grads_acts"}
ONCE = ("wte", "wpe", "lnfw", "lnfb", "encoded", "lnf", "lnf_mean", "lnf_rstd", "logits", "probs", "losses")

PARAMETER_NAMES = [
    "wte",
    "wpe",
    "ln1w",
    "ln1b",
    "qkvw",
    "qkvb",
    "attprojw",
    "attprojb",
    "ln2w",
    "ln2b",
    "fcw",
    "fcb",
    "fcprojw",
    "fcprojb",
    "lnfw",
    "lnfb",
]
ACTIVATION_NAMES = [
    "encoded",
    "ln1",
    "ln1_mean",
    "ln1_rstd",
    "qkv",
    "atty",
    "preatt",
    "att",
    "attproj",
    "residual2",
    "ln2",
    "ln2_mean",
    "ln2_rstd",
    "fch",
    "fch_gelu",
    "fcproj",
    "residual3",
    "lnf",
    "lnf_mean",
    "lnf_rstd",
    "logits",
    "probs",
    "losses",
]

Shapes = dict[str, list[int]]


def parameter_shapes(params: dict[str, Any]) -> Shapes:
    """Shapes of the 16 parameter tensors; ``L`` in front where each layer has one."""
    vocabulary, length, layers, c = (int(params[k]) for k in ("Vp", "maxT", "L", "C"))
    shapes = [
        [vocabulary, c], [length, c], [layers, c], [layers, c], [layers, 3 * c, c], [layers, 3 * c],
        [layers, c, c], [layers, c], [layers, c], [layers, c], [layers, 4 * c, c], [layers, 4 * c],
        [layers, c, 4 * c], [layers, c], [c], [c],
    ]  # fmt: skip
    return dict(zip(PARAMETER_NAMES, shapes, strict=True))


def activation_shapes(params: dict[str, Any]) -> Shapes:
    """Shapes of the 23 activation tensors; ``L`` in front where each layer has one."""
    b, t = int(params.get("B", 1)), int(params.get("T", 1))
    c, layers, heads, vp = (int(params[k]) for k in ("C", "L", "NH", "Vp"))
    wide, narrow, square = [layers, b, t, c], [layers, b, t], [layers, b, heads, t, t]
    hidden = [layers, b, t, 4 * c]
    shapes = [
        [b, t, c], wide, narrow, narrow, [layers, b, t, 3 * c], wide, square, square, wide, wide, wide,
        narrow, narrow, hidden, hidden, wide, wide, [b, t, c], [b, t], [b, t], [b, t, vp], [b, t, vp], [b, t],
    ]  # fmt: skip
    return dict(zip(ACTIVATION_NAMES, shapes, strict=True))


def write_checkpoint(path: str, params: dict[str, Any], tensors: dict[str, Tensor]) -> None:
    """Writes the parameters as llm.c's checkpoint (version 3, float32)."""
    sizes = [int(params[key]) for key in ("maxT", "V", "L", "NH", "C", "Vp")]
    header = [CHECKPOINT_MAGIC, CHECKPOINT_VERSION, *sizes]
    with open(path, "wb") as file:
        file.write(struct.pack("<256i", *header, *[0] * (256 - len(header))))
        for name in PARAMETER_NAMES:
            file.write(tensors[name].data)


def _flat(tensors: dict[str, Tensor], params: dict[str, Any]) -> dict[str, Tensor]:
    """Splits a flat ``params`` tensor into the 16, for the checkpoint."""
    data, offset, split = memoryview(tensors["params"].data), 0, {}
    for name, shape in parameter_shapes(params).items():
        size = 4 * math.prod(shape)
        split[name] = Tensor("F32", shape, data[offset : offset + size])
        offset += size
    return split


class Model:
    """A ``GPT2`` of the student's, built from a case's parameters by the student's own code."""

    def __init__(self, job: Job, case: dict[str, Any], report: Report) -> None:
        self.params: dict[str, Any] = case["params"]
        self.tensors = read_tensors(case["inputs"])
        self.library = load(job, report)
        self._declare()
        self.shapes = {
            PARAMETERS: parameter_shapes(self.params),
            GRADIENTS: parameter_shapes(self.params),
            ACTIVATIONS: activation_shapes(self.params),
            ACTIVATION_GRADIENTS: activation_shapes(self.params),
        }
        fill_malloc_with_rubbish()
        self.pointer = self.library.tg_model_new(self._checkpoint(job, case).encode())

    def _declare(self) -> None:
        library, pointer, number = self.library, ctypes.c_void_p, ctypes.c_int
        for name, result, arguments in (
            ("tg_model_new", pointer, [ctypes.c_char_p]),
            ("tg_forward", None, [pointer, pointer, pointer, number, number]),
            ("tg_loss", ctypes.c_float, [pointer]),
            ("tg_tensor", pointer, [pointer, number, number]),
            ("tg_memory", pointer, [pointer, number]),
            ("tg_set_gradients", None, [pointer, number, pointer, pointer, number]),
            ("tg_count", ctypes.c_size_t, [pointer, number]),
            ("tg_tokens", pointer, [pointer, number]),
            ("tg_zero_grad", None, [pointer]),
            ("tg_clear_gradients", None, [pointer]),
            ("tg_backward", None, [pointer]),
            ("tg_guarded_backward", number, [pointer]),
            ("tg_update", None, [pointer, pointer, number]),
        ):
            function = getattr(library, name, None)
            if function is not None:  # a part left out of the shim
                function.restype, function.argtypes = result, arguments

    def _checkpoint(self, job: Job, case: dict[str, Any]) -> str:
        if "checkpoint" in job.options:
            return str(job.options["checkpoint"])
        tensors = _flat(self.tensors, self.params) if "params" in self.tensors else self.tensors
        path = f"{case['out']}.checkpoint"
        write_checkpoint(path, self.params, tensors)
        return path

    def _tokens(self, name: str) -> ctypes.Array[ctypes.c_char]:
        data = bytes(self.tensors[name].data)
        return ctypes.create_string_buffer(data, len(data))

    def forward(self, targets: bool = True) -> None:
        """One forward pass on the case's tokens."""
        self._inputs = self._tokens("inputs")
        self._targets = self._tokens("targets") if targets else None
        b, t = int(self.params["B"]), int(self.params["T"])
        self.library.tg_forward(self.pointer, self._inputs, self._targets, b, t)

    def zero_grad(self) -> None:
        """The student's ``gpt2_zero_grad``."""
        self.library.tg_zero_grad(self.pointer)

    def backward(self) -> None:
        """The student's ``gpt2_backward``."""
        self.library.tg_backward(self.pointer)

    def update(self, step: int) -> None:
        """The student's ``gpt2_update`` with the case's settings; ``step`` counts from 1."""
        names = ("lr", "beta1", "beta2", "eps", "weight_decay")
        settings = (ctypes.c_float * len(names))(*(self.params[name] for name in names))
        self.library.tg_update(self.pointer, settings, step)

    @property
    def loss(self) -> float:
        """``mean_loss`` of the last forward pass."""
        return float(self.library.tg_loss(self.pointer))

    def address(self, group: int, index: int) -> int | None:
        """Address of a tensor of a group, None where it is NULL."""
        address: int | None = self.library.tg_tensor(self.pointer, group, index)
        return address

    def memory(self, group: int) -> int | None:
        """Address of a group's memory, None where it is not allocated."""
        address: int | None = self.library.tg_memory(self.pointer, group)
        return address

    def count(self, group: int) -> int:
        """Number of elements of a group."""
        return sum(math.prod(shape) for shape in self.shapes[group].values())

    def own_count(self, group: int) -> int:
        """Number of elements of a group as the student's model has it, at least the interface's."""
        return max(int(self.library.tg_count(self.pointer, group)), self.count(group))

    def first_layer(self, name: str) -> tuple[int, int]:
        """Where a tensor's first layer lies, and its bytes: of ``grads_acts.qkv``; all of it where there are no layers.

        Raises:
            ValueError: the tensor is nowhere.
        """
        prefix, tensor = name.split(".")
        group = next(g for g, known in GROUPS.items() if known == prefix)
        shape = self.shapes[group][tensor]
        address = self.address(group, list(self.shapes[group]).index(tensor))
        if address is None:
            raise ValueError(f"{name} is not allocated")
        return address, 4 * math.prod(shape if tensor in ONCE else shape[1:])

    def view(self, address: int, shape: list[int]) -> Tensor:
        """The float32 tensor that lies at ``address``."""
        size = 4 * math.prod(shape)
        array = (ctypes.c_char * size).from_address(address)
        return Tensor("F32", shape, memoryview(array).cast("B"))

    def gradients(self) -> dict[str, Tensor]:
        """The gradients as ``dwte`` and so on; nothing where they are not allocated."""
        found: dict[str, Tensor] = {}
        for index, (name, shape) in enumerate(self.shapes[GRADIENTS].items()):
            address = self.address(GRADIENTS, index)
            if address is not None:
                found[f"d{name}"] = self.view(address, shape)
        return found

    def logits(self) -> Tensor:
        """The logits without their padding, ``[B, T, V]``."""
        b, t, v, vp = (int(self.params[key]) for key in ("B", "T", "V", "Vp"))
        address = self.address(ACTIVATIONS, ACTIVATION_NAMES.index("logits"))
        if address is None:
            return Tensor("F32", [0], b"")
        padded = self.view(address, [b, t, vp]).data
        rows = (padded[4 * vp * row : 4 * (vp * row + v)] for row in range(b * t))
        return Tensor("F32", [b, t, v], b"".join(bytes(row) for row in rows))

    def free_checkpoint(self, case: dict[str, Any]) -> None:
        """Removes the checkpoint that was written for the case."""
        path = case["out"] + ".checkpoint"
        if os.path.exists(path):
            os.remove(path)
