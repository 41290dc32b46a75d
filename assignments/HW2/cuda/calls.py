"""Calls the launchers of the student's ``combine.so`` on a GPU, many cases in one process.

To make a context on a GPU takes longer than all calls of a case. A kernel that goes out of bounds ends the context for
good, and with it the process; the cases after it get a new one.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from assignments.common import arrays
from assignments.common.probe_io import Job, Report, in_own_process

Status = dict[str, Any]
Case = dict[str, Any]

DRIVER = "libcuda.so.1"
MOST_PROCESSES = 4  # of one kernel's cases: what breaks so often breaks always
NAME_BYTES = 256
FLOATS, INTS = (np.ctypeslib.ndpointer(kind, ndim=1, flags="C_CONTIGUOUS") for kind in (np.float32, np.int32))


class Driver:
    """The NVIDIA driver, asked for what the student's library does not tell; None where it cannot be loaded."""

    def __init__(self) -> None:
        try:
            self.library: ctypes.CDLL | None = ctypes.CDLL(DRIVER)
        except OSError:
            self.library = None

    def words(self, code: int) -> str:
        """An error's own words."""
        text = ctypes.c_char_p()
        assert self.library is not None
        self.library.cuGetErrorString(code, ctypes.byref(text))
        said = text.value.decode("ascii", "replace") if text.value else "it has no words for it"
        return f"CUDA error {code}: {said}"

    def problem(self) -> str:
        """What has gone wrong in the current context; empty: nothing, or it cannot be asked."""
        if self.library is None:
            return ""
        code = int(self.library.cuCtxSynchronize())
        return self.words(code) if code else ""

    def device(self) -> tuple[str, str]:
        """The first GPU's name; or what keeps it from being used."""
        if self.library is None:
            return "", f"{DRIVER} cannot be loaded"
        count, name = ctypes.c_int(), ctypes.create_string_buffer(NAME_BYTES)
        for code in (self.library.cuInit(0), self.library.cuDeviceGetCount(ctypes.byref(count))):
            if code:
                return "", self.words(int(code))
        if not count.value:
            return "", "the driver knows no GPU"
        self.library.cuDeviceGetName(name, NAME_BYTES, 0)
        return name.value.decode("ascii", "replace"), ""


def probe_gpu(job: Job, case: Case) -> Status:
    """``device``: the GPU's name, as the sandbox sees it; in a process of its own, since a context does not fork."""
    del case

    def work(report: Report) -> None:
        device, problem = Driver().device()
        report.send(device=device, problem=problem)

    ending = in_own_process(work, job.limits["case_s"])
    told = ending.merged()
    if ending.status == "ok" and told.get("device"):
        return {"status": "ok", "device": str(told["device"])}
    return {"status": "wrong", "detail": str(told.get("problem") or f"the driver {ending.status.replace('_', ' ')}")}


def grouped(given: dict[str, arrays.Array]) -> Iterator[tuple[str, str, list[arrays.Array]]]:
    """(call, function, arguments) of tensors named ``<call>.<function>.<position>.<kind>.<name>``.

    A scalar has no axes, and an array one.
    """
    found: dict[tuple[str, str], list[arrays.Array]] = {}
    for name in sorted(given):
        call, function, _, kind, *_ = name.split(".")
        found.setdefault((call, function), []).append(given[name].reshape(() if kind == "scalar" else -1))
    for (call, function), arguments in found.items():
        yield call, function, arguments


def call(library: ctypes.CDLL, function: str, arguments: list[arrays.Array]) -> arrays.Array:
    """Calls a launcher; the array that it has written, its first argument."""
    launcher = getattr(library, function)
    values: list[Any] = [a if a.ndim else a.item() for a in arguments]
    launcher.argtypes = [_type(a) for a in arguments]
    launcher.restype = None
    launcher(*values)
    return arguments[0]


def _type(argument: arrays.Array) -> Any:
    whole = argument.dtype == np.int32
    if argument.ndim:
        return INTS if whole else FLOATS
    return ctypes.c_int if whole else ctypes.c_float


class Kernels:
    """The cases of one kernel, made in as few processes as their crashes allow."""

    def __init__(self) -> None:
        self.told: dict[str, Status] = {}
        self.processes = 0

    def __call__(self, job: Job, case: Case) -> Status:
        """The status of a case; the first one asked for is made together with all that follow it."""
        if case["id"] not in self.told:
            self._make(job, job.cases[job.cases.index(case) :])
        return self.told[case["id"]]

    def _make(self, job: Job, cases: list[Case]) -> None:
        if self.processes >= MOST_PROCESSES:
            self.told |= {
                case["id"]: {"status": "crashed", "detail": "not tried: others have crashed"} for case in cases
            }
            return
        self.processes += 1
        ending = in_own_process(lambda report: _make_all(job, cases, report), job.limits["case_s"])
        reported = {str(line.get("made")): line for line in ending.lines}
        for case in cases:
            line = reported.get(case["id"])
            if line is None:
                self.told[case["id"]] = _unfinished(ending.status, ending.code, ending.merged())
                return
            self.told[case["id"]] = {"status": "ok"}
            if problem := line.get("problem"):
                self.told[case["id"]] = {"status": "crashed", "code": 0, "detail": str(problem)}
                return


def _unfinished(status: str, code: int, told: dict[str, Any]) -> Status:
    found: Status = {"status": "exited" if status == "ok" else status, "code": code}
    return {**found, "detail": str(told["error"])} if "error" in told else found


def _make_all(job: Job, cases: list[Case], report: Report) -> None:
    library, driver = ctypes.CDLL(job.options["library"]), Driver()
    for case in cases:
        written = {n: call(library, f, given) for n, f, given in grouped(arrays.read(case["inputs"]))}
        sys.stdout.flush()
        problem = driver.problem()
        if not problem:
            arrays.write(case["out"], written)
        report.send(made=case["id"], problem=problem)
        if problem:
            os._exit(0)  # the context is lost
