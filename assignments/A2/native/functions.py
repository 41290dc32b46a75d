"""Probe ``function``: one operator, called alone on guarded, prefilled buffers."""

from __future__ import annotations

import ctypes
from typing import Any

from assignments.A2.native.buffers import Fault, GuardedBuffer, marked
from assignments.A2.native.library import load, undefined_called
from assignments.A2.native.names import SIGNATURES
from assignments.common.probe_io import (
    ITEM_SIZE,
    Ending,
    Job,
    Report,
    Tensor,
    in_own_process,
    read_tensors,
    write_tensors,
)


def other_values(buffer: GuardedBuffer) -> None:
    """Moves the floats of a buffer on by one place; its integers, which must stay in range, stay as they are."""
    data = bytes(buffer.tensor.data)
    step = ITEM_SIZE[buffer.tensor.dtype] if buffer.tensor.dtype == "F32" else 0
    buffer.fill(data[step:] + data[:step])


def own_values(buffer: GuardedBuffer) -> None:
    """Puts the tensor's own values back."""
    buffer.fill(bytes(buffer.tensor.data))


class FunctionProbe:
    """One call of one function: its buffers, the call, what came of it."""

    def __init__(self, job: Job, case: dict[str, Any]) -> None:
        self.job = job
        self.case = case
        self.signature = SIGNATURES[job.function]
        tensors = read_tensors(case["inputs"])
        names = [name for name in self.signature.pointers if name in tensors]
        self.buffers = {name: GuardedBuffer(name, tensors[name]) for name in names}

    def results(self) -> dict[str, Tensor]:
        """The result tensors as they are now; one that was passed as NULL is left out."""
        return {n: b.result() for n, b in self.buffers.items() if n in self.signature.results}

    def call(self, report: Report) -> None:
        """Calls the function, in the case's own process, and hands the results back.

        It is called once before, in the same place with other values: what it keeps of that call must not show.
        """
        library = load(self.job, report)
        addresses = [self.buffers[n].address if n in self.buffers else None for n in self.signature.pointers]
        pointers = (ctypes.c_void_p * len(addresses))(*addresses)
        values = [self.case["params"][name] for name in self.signature.sizes]
        sizes = (ctypes.c_int * len(values))(*values)
        function = getattr(library, f"tg_probe_{self.job.function}")
        buffers = list(self.buffers.values())
        report.send(regions=[buffer.region for buffer in buffers])
        touched = False
        for prepare in (other_values, own_values):
            for buffer in buffers:
                prepare(buffer)
            with marked(buffers):
                function(pointers, sizes)
            touched = touched or any(buffer.changed() for buffer in buffers)
        self._hand_back(report, touched, bool(library.tg_faults_are_reported()))

    def _hand_back(self, report: Report, touched: bool, watched: bool) -> None:
        results = self.signature.results
        buffers = self.buffers.values()
        report.send(
            untouched=not touched,
            changed_inputs=[b.name for b in buffers if b.name not in results and b.changed()],
            written_in_front=[b.name for b in buffers if b.written_in_front()],
            watched=watched,
        )
        write_tensors(self.case["out"], self.results())

    def describe(self, address: int) -> str | None:
        """Where an address lies in relation to the nearest buffer, results first."""
        ordered = sorted(self.buffers.values(), key=lambda b: abs(address - b.end))
        return next((text for b in ordered if (text := b.describe(address))), None)

    def verdict(self, ending: Ending) -> dict[str, Any]:
        """The status line of this case."""
        merged = ending.merged()
        status = {**merged, "status": ending.status, "code": ending.code}
        fault = Fault.from_report(merged)
        if fault is not None:
            status["detail"] = fault.sentence(self.describe(fault.address))
        elif merged.get("written_in_front"):
            names = ", ".join(merged["written_in_front"])
            status.update(status="crashed", detail=f"writes before the start of {names}")
        elif merged.get("watched") is False:
            handler = "it puts a signal handler of its own in place, under which a fault does not show"
            status.update(status="crashed", detail=handler)
        elif (told := undefined_called(ending)) is not None:
            status["detail"] = told
        if merged.get("changed_inputs"):
            names = ", ".join(merged["changed_inputs"])
            status["advice"] = [f"{self.job.function} writes to {names}, which it should only read"]
        return status


def probe_function(job: Job, case: dict[str, Any]) -> dict[str, Any]:
    """Probes ``job.function`` on one case; the tensors lie in the case's ``out`` file afterwards."""
    probe = FunctionProbe(job, case)
    return probe.verdict(in_own_process(probe.call, job.limits["case_s"]))
