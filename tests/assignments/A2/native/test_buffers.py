"""Guarded buffers: one element too far is a fault, one too early is seen, and both have a name."""

from __future__ import annotations

import ctypes
import faulthandler
import math
import signal
import struct

import pytest

from assignments.A2.native.buffers import PAGE, Fault, GuardedBuffer
from assignments.common.probe_io import Ending, Report, Tensor, floats, in_own_process

SIZES = [1, 3, 1023, 1024, 1025]


def buffer(count: int) -> GuardedBuffer:
    return GuardedBuffer("dinp", floats([float(i) for i in range(count)]))


def ending(address: int, write: bool = False) -> Ending:
    """What comes of a touch of four bytes at ``address``, in a process of its own."""

    def work(report: Report) -> None:
        faulthandler.disable()  # pytest's own would tell of it
        cell = ctypes.c_float.from_address(address)
        report.send(value=repr(cell.value))
        if write:
            cell.value = 1.0

    return in_own_process(work, 20.0)


@pytest.mark.parametrize("count", SIZES)
def test_the_data_is_there(count: int) -> None:
    made = buffer(count)
    assert made.end - made.address == 4 * count
    assert made.end % PAGE == 0
    assert ctypes.string_at(made.address, 4 * count) == made.data()
    assert made.result() == made.tensor
    assert not made.changed()
    assert not made.written_in_front()


@pytest.mark.parametrize("count", SIZES)
def test_one_element_too_far_is_a_fault(count: int) -> None:
    made = buffer(count)
    assert ending(made.end - 4, write=True).status == "ok"
    for write in (False, True):
        assert ending(made.end, write).code in (signal.SIGSEGV, signal.SIGBUS)


@pytest.mark.parametrize("count", SIZES)
def test_one_element_too_early_reads_nan(count: int) -> None:
    assert math.isnan(ctypes.c_float.from_address(buffer(count).address - 4).value)


@pytest.mark.parametrize("count", SIZES)
def test_a_write_in_front_is_seen(count: int) -> None:
    made = buffer(count)
    ctypes.c_float.from_address(made.address - 4).value = 0.0
    assert made.written_in_front()
    assert not made.changed()


def test_a_write_is_seen_and_handed_back() -> None:
    made = buffer(3)
    ctypes.c_float.from_address(made.address + 8).value = 7.0
    assert made.changed()
    assert struct.unpack("<3f", made.result().data) == (0.0, 1.0, 7.0)


def test_a_negative_zero_over_a_zero_is_a_change() -> None:
    made = buffer(1)
    ctypes.c_float.from_address(made.address).value = -0.0
    assert made.changed()


def test_addresses_have_names() -> None:
    made = buffer(3)
    assert made.describe(made.end) == "past the end of dinp, at element 3 of 3"
    assert made.describe(made.end + 40) == "past the end of dinp, at element 13 of 3"
    assert made.describe(made.address - 4) == "before the start of dinp, at element -1 of 3"
    assert made.describe(made.end + PAGE) is None
    assert made.describe(0) is None


def test_an_empty_tensor_has_no_element() -> None:
    made = GuardedBuffer("empty", Tensor("F32", [0], b""))
    assert made.address == made.end
    assert ending(made.address).code in (signal.SIGSEGV, signal.SIGBUS)


@pytest.mark.parametrize(
    ("report", "described", "said"),
    [
        ({"fault": "1000f0000", "write": 1}, "past the end of dinp", "writes past the end of dinp"),
        ({"fault": "1000f0000", "write": 0}, None, "reads outside of every buffer"),
        ({"fault": "8"}, None, "touches memory through a NULL pointer"),
    ],
)
def test_a_fault_in_words(report: dict[str, object], described: str | None, said: str) -> None:
    fault = Fault.from_report(report)
    assert fault is not None
    assert fault.sentence(described) == said


def test_no_fault_was_reported() -> None:
    assert Fault.from_report({"done": True}) is None
