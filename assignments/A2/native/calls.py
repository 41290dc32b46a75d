"""The record of the calls that ``gpt2_backward`` makes, with every pointer named."""

from __future__ import annotations

import ctypes
import math
from typing import Any

from assignments.A2.native.model import GROUPS, ONCE, Model
from assignments.A2.native.names import SIGNATURES

MOST_CALLS, MOST_POINTERS, MOST_SIZES = 4096, 8, 4

RECORDED = tuple(SIGNATURES.items())  # by the numbers of interpose.c's enum


class CallRecord(ctypes.Structure):
    """One call, as interpose.c lays it out."""

    _fields_ = [
        ("function", ctypes.c_int32),
        ("sizes", ctypes.c_int32 * MOST_SIZES),
        ("padding", ctypes.c_int32),
        ("pointers", ctypes.c_uint64 * MOST_POINTERS),
    ]


class Names:
    """Names of addresses: ``grads.qkvw[l=1]``, ``acts.lnf``, ``NULL``."""

    def __init__(self, model: Model) -> None:
        self.regions: list[tuple[int, int, str]] = []
        for group, prefix in GROUPS.items():
            for index, (name, shape) in enumerate(model.shapes[group].items()):
                self._add(model.address(group, index), f"{prefix}.{name}", shape, name not in ONCE)
        for flag, name in enumerate(("inputs", "targets")):
            size = math.prod(model.tensors[name].shape)
            self._add(model.library.tg_tokens(model.pointer, flag), name, [size], False)

    def _add(self, address: int | None, name: str, shape: list[int], layered: bool) -> None:
        if address is None:
            return
        layers = shape[0] if layered else 1
        size = 4 * math.prod(shape) // layers
        for layer in range(layers):
            start = address + layer * size
            self.regions.append((start, start + size, f"{name}[l={layer}]" if layered else name))

    def __call__(self, address: int) -> str:
        """The name of ``address``, with the offset in elements where it lies inside a tensor."""
        if address == 0:
            return "NULL"
        for start, end, name in self.regions:
            if start <= address < end:
                return name if address == start else f"{name}+{(address - start) // 4}"
        return "memory of its own"


def named_calls(operators: ctypes.CDLL, model: Model) -> list[dict[str, Any]]:
    """The calls recorded so far: ``{"function": …, "args": {argument: name or size}}``."""
    count = ctypes.c_int.in_dll(operators, "tg_call_count").value
    records = (CallRecord * MOST_CALLS).in_dll(operators, "tg_calls")
    names = Names(model)
    return [_named(records[i], names) for i in range(count)]


def _named(record: CallRecord, names: Names) -> dict[str, Any]:
    function, signature = RECORDED[record.function]
    arguments: dict[str, Any] = {}
    for address, name in zip(record.pointers, signature.pointers, strict=False):
        arguments[name] = names(address)
    for value, name in zip(record.sizes, signature.sizes, strict=False):
        arguments[name] = value
    return {"function": function, "args": arguments}
