"""How the faults' tensors lie in a fixture set: one file for each case, beside its expected tensors.

``<fault>/<tensor>`` is a fault's tensor, float32 or int32; only those are kept that differ from the right one.
Of two faults at once a sample of the elements is kept, and that only where the two together are not the sum of
what each does alone: ``pairs/<tensor>`` [pairs, sample] with ``pairs/<tensor>/which`` [pairs, 2], the numbers of the
two in the check's part of the dictionary. Numbers may overflow float32; what is then infinite is infinite in C too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from grader.cases import Array

Float = NDArray[np.float64]
Pair = tuple[int, int]

PAIRS, WHICH = "pairs", "which"
SAMPLE = 96  # elements that are kept of a tensor with two faults
GOLDEN = 0.6180339887498949  # strides near it step through a tensor without falling in with its rows


@dataclass
class Stored:
    """What a fixture set holds of the faults in one case.

    Attributes:
        single: fault id → tensor → values; a tensor that is not there is right.
        pairs: tensor → pair of faults, by their numbers → values of the sample.
    """

    single: dict[str, dict[str, Array]] = field(default_factory=dict)
    pairs: dict[str, dict[Pair, Float]] = field(default_factory=dict)


def sample(size: int) -> NDArray[np.int64]:
    """The flat indices that are kept of a tensor with ``size`` elements, the last one among them."""
    if size <= SAMPLE:
        return np.arange(size)
    stride = max(int(size * GOLDEN), 1)
    return np.unique(np.append(np.arange(SAMPLE - 1) * stride % size, size - 1))


def pack(stored: Stored) -> dict[str, Array]:
    """The tensors of the file."""
    tensors = {f"{fault}/{name}": narrow(value) for fault, own in stored.single.items() for name, value in own.items()}
    for name, pairs in stored.pairs.items():
        if pairs:
            tensors[f"{PAIRS}/{name}"] = narrow(np.array(list(pairs.values())))
            tensors[f"{PAIRS}/{name}/{WHICH}"] = np.array(list(pairs), dtype=np.int32)
    return tensors


def unpack(tensors: Mapping[str, Array]) -> Stored:
    """The inverse of `pack`, values in float64."""
    stored = Stored()
    for key, value in tensors.items():
        fault, name = key.split("/", 1)
        if fault != PAIRS:
            stored.single.setdefault(fault, {})[name] = value
        elif f"{key}/{WHICH}" in tensors:
            which = tensors[f"{key}/{WHICH}"].tolist()
            rows = value.astype(np.float64)
            stored.pairs[name] = {(int(i), int(j)): row for (i, j), row in zip(which, rows, strict=True)}
    return stored


def narrow(value: Array) -> Array:
    """As it is kept: float32, or int32."""
    with np.errstate(over="ignore"):
        return value.astype(np.int32 if np.issubdtype(value.dtype, np.integer) else np.float32)
