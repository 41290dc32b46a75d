"""llm.c's files: checkpoints (magic 20240326, version 3) and debug states (magic 20240327, version 2).

The judging side's: the state holds what is expected. Layouts are those that llm.c's ``train_gpt2.py`` writes;
all numbers are little-endian, 256 int32 of header first.

A state of ours also holds the losses of its steps, behind the gradients, with their number in header[4];
a real one has 0 there, and its ten losses are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grader import tensorfile
from grader.cases import Array, Case
from grader.errors import UsageError
from grader.fixtures import CaseEntry, FixtureCase
from grader.workplace import lasting_folder
from reference.A2.cases import parameter_shapes

HEADER = 256
CHECKPOINT = (20240326, 3)
STATE = (20240327, 2)
FIELDS = ("maxT", "V", "L", "NH", "C", "Vp")

# The losses of the ten steps that llm.c's test_gpt2.c holds for gpt2_124M_debug_state.bin.
KNOWN_LOSSES = (
    5.270007133483887,
    4.059706687927246,
    3.3751230239868164,
    2.8007826805114746,
    2.315382242202759,
    1.8490285873413086,
    1.3946564197540283,
    0.9991465210914612,
    0.6240804195404053,
    0.37651097774505615,
)
SETTINGS = {"lr": 1e-4, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.01}


def _header(path: Path, kind: str, expected: tuple[int, int]) -> NDArray[np.int32]:
    try:
        numbers = np.fromfile(path, dtype="<i4", count=HEADER)
    except OSError as error:
        raise UsageError(f"cannot read the {kind} {path}: {error.strerror}") from error
    if numbers.size < HEADER or numbers[0] != expected[0]:
        found = numbers[0] if numbers.size else "nothing"
        raise UsageError(f"{path} is no {kind}: its magic number is {found}, should be {expected[0]}")
    if numbers[1] != expected[1]:
        raise UsageError(f"the {kind} {path} is of version {numbers[1]}, should be {expected[1]}; make it anew")
    return numbers


def _checked_size(path: Path, kind: str, expected: int) -> None:
    if (size := path.stat().st_size) != expected:
        raise UsageError(f"the {kind} {path} has {size} bytes, should have {expected}; it is not whole")


def _count(params: Mapping[str, int | float]) -> int:
    shapes = parameter_shapes({name: int(params[name]) for name in FIELDS})
    return sum(int(np.prod(shape)) for shape in shapes.values())


def checkpoint_params(path: Path) -> dict[str, int | float]:
    """The sizes of a checkpoint, once its magic, version and length are right.

    Raises:
        UsageError: it is not a checkpoint, or not whole.
    """
    header = _header(path, "checkpoint", CHECKPOINT)
    params: dict[str, int | float] = {name: int(header[2 + i]) for i, name in enumerate(FIELDS)}
    if min(params.values()) <= 0 or params["C"] % params["NH"] or params["V"] > params["Vp"]:
        raise UsageError(f"the checkpoint {path} has sizes that fit no model: {params}")
    _checked_size(path, "checkpoint", 4 * (HEADER + _count(params)))
    return params


@dataclass(frozen=True)
class StateFile:
    """A debug state on disk; arrays are mapped, not read."""

    path: Path
    params: dict[str, int | float]
    losses: int

    def _map(self, kind: str, offset: int, shape: tuple[int, ...]) -> Array:
        return np.memmap(self.path, dtype=kind, mode="r", offset=4 * offset, shape=shape)

    @property
    def _tokens(self) -> int:
        return int(self.params["B"] * self.params["T"])

    def tokens(self) -> dict[str, Array]:
        """``inputs`` and ``targets``, [B, T] int32."""
        shape = (int(self.params["B"]), int(self.params["T"]))
        places = {"inputs": HEADER, "targets": HEADER + self._tokens}
        return {name: np.array(self._map("<i4", offset, shape)) for name, offset in places.items()}

    def expected(self) -> dict[str, Array]:
        """``logits`` [B, T, V], ``loss`` [1], ``losses`` [10] and the sixteen gradients."""
        shape = (int(self.params["B"]), int(self.params["T"]), int(self.params["V"]))
        offset = HEADER + 2 * self._tokens
        found = {"logits": self._map("<f4", offset, shape)}
        offset += self._tokens * shape[2]
        found["loss"] = self._map("<f4", offset, (1,))
        offset += 1
        for name, size in parameter_shapes({n: int(self.params[n]) for n in FIELDS}).items():
            found[f"d{name}"] = self._map("<f4", offset, size)
            offset += int(np.prod(size))
        found["losses"] = self._map("<f4", offset, (self.losses,)) if self.losses else np.array(KNOWN_LOSSES)
        return found


def open_state(path: Path, params: dict[str, int | float]) -> StateFile:
    """Opens the state that goes with a checkpoint of these sizes.

    Raises:
        UsageError: it is not a state, not whole, or of another model.
    """
    header = _header(path, "debug state", STATE)
    batch, length, losses = (int(header[i]) for i in (2, 3, 4))
    if batch <= 0 or not 0 < length <= params["maxT"] or not 0 <= losses <= 1000:
        raise UsageError(f"the debug state {path} does not fit the checkpoint: B={batch}, T={length}")
    tokens = batch * length
    size = HEADER + 2 * tokens + tokens * int(params["V"]) + 1 + _count(params) + losses
    _checked_size(path, "debug state", 4 * size)
    return StateFile(path, {**params, "B": batch, "T": length, "steps": losses or len(KNOWN_LOSSES)}, losses)


@dataclass(frozen=True)
class RealCase(FixtureCase):
    """The whole-program case that the user's files make: tokens go into the sandbox, the rest does not."""

    state: StateFile

    def check_inputs(self) -> None:
        """The files' sizes were checked when they were opened."""

    @cached_property
    def expected(self) -> dict[str, Array]:
        """What the state holds, mapped."""
        return self.state.expected()


def real_case(check: str, checkpoint: Path, state: Path) -> RealCase:
    """The case of a checkpoint and its state.

    Raises:
        UsageError: one of them is not what it should be.
    """
    opened = open_state(state, checkpoint_params(checkpoint))
    folder = lasting_folder()
    entry = CaseEntry(id=f"{check}/real-files", params={**opened.params, **SETTINGS}, inputs="", expected="")
    case = RealCase(folder, entry, opened)
    tensorfile.write(case.inputs_path, opened.tokens())
    return case


def write_pair(out: Path, size: str, case: Case, expected: Mapping[str, Array]) -> list[Path]:
    """Writes a case and its expected tensors as a checkpoint and a debug state; returns both paths."""
    checkpoint = out / ("tiny_gpt2.bin" if size == "tiny" else f"gpt2_{size}.bin")
    state = checkpoint.with_name(checkpoint.stem + "_debug_state.bin")
    shapes = parameter_shapes({name: int(case.params[name]) for name in FIELDS})
    with checkpoint.open("wb") as file:
        _write_header(file_numbers=[*CHECKPOINT, *(int(case.params[n]) for n in FIELDS)]).tofile(file)
        for name in shapes:
            case.inputs[name].astype("<f4").tofile(file)
    with state.open("wb") as file:
        sizes = [int(case.params["B"]), int(case.params["T"]), int(expected["losses"].size)]
        _write_header(file_numbers=[*STATE, *sizes]).tofile(file)
        for name in ("inputs", "targets"):
            case.inputs[name].astype("<i4").tofile(file)
        for name in ("logits", "loss", *(f"d{name}" for name in shapes), "losses"):
            expected[name].astype("<f4").tofile(file)
    return [checkpoint, state]


def _write_header(file_numbers: list[int]) -> NDArray[np.int32]:
    header = np.zeros(HEADER, dtype="<i4")
    header[: len(file_numbers)] = file_numbers
    return header
