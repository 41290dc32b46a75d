"""The student's functions under ThreadSanitizer: in a program of their own, with OpenMP's threads."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from assignments.A2.native.buffers import UNITS, Region
from assignments.A2.native.model import write_checkpoint
from assignments.A2.native.names import SIGNATURES
from assignments.A2.native.sanitizers import HOST, settings
from assignments.common.probe_io import ITEM_SIZE, Job, Report, Tensor, in_own_process, read_tensors

HYPER = ("lr", "beta1", "beta2", "eps", "weight_decay")
MOST_STEPS = 2  # the second step is like all that follow; the first alone allocates
MOST_REGIONS = 4096  # bytes of the file that names them


def _written(path: str, data: bytes | memoryview) -> str:
    with open(path, "wb") as file:
        file.write(data)
    return path


def _function(job: Job, case: dict[str, Any], tensors: dict[str, Tensor], regions: str) -> list[str]:
    """The arguments for one call of an operator."""
    signature = SIGNATURES[job.function]
    sizes = [str(case["params"][name]) for name in signature.sizes]
    files = [
        _written(f"{case['out']}.{name}", tensors[name].data) if name in tensors else "-" for name in signature.pointers
    ]
    return ["function", job.function, regions, *sizes, "--", *files]


def _steps(case: dict[str, Any], tensors: dict[str, Tensor]) -> list[str]:
    """The arguments for steps of the whole program."""
    params, checkpoint = case["params"], f"{case['out']}.checkpoint"
    write_checkpoint(checkpoint, params, tensors)
    tokens = _written(f"{case['out']}.tokens", bytes(tensors["inputs"].data) + bytes(tensors["targets"].data))
    sizes = [str(params["B"]), str(params["T"]), str(min(int(params["steps"]), MOST_STEPS))]
    return ["steps", checkpoint, tokens, *sizes, *(str(params[name]) for name in HYPER)]


def probe_races(job: Job, case: dict[str, Any]) -> dict[str, Any]:
    """Runs a case's function, or the whole program, under ThreadSanitizer; its reports lie in the job's ``out``."""
    tensors, regions = read_tensors(case["inputs"]), f"{case['out']}.regions"
    whole = job.probe != "function"
    arguments = _steps(case, tensors) if whole else _function(job, case, tensors, regions)
    host = os.path.join(job.build, HOST)
    environment = {**settings(job, "thread"), "TG_MEMORY_MB": str(int(job.limits["memory_mb"]))}
    if whole:  # the operators have probes of their own, and would be reported from each layer
        environment["TSAN_OPTIONS"] += ":halt_on_error=1"

    def work(_: Report) -> None:
        os.execve(host, [host, *arguments], environment)

    ending = in_own_process(work, job.limits["case_s"])
    return {
        "status": "ok" if ending.status == "exited" and ending.code == 0 else ending.status,
        "code": ending.code,
        "regions": [] if whole else _regions(job, tensors, regions),
    }


def _regions(job: Job, tensors: dict[str, Tensor], path: str) -> list[Region]:
    """Where the program has laid the tensors; it is the program's word."""
    found: list[Region] = []
    with contextlib.suppress(OSError, ValueError, IndexError, KeyError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, encoding="ascii") as file:
            for line in file.read(MOST_REGIONS).splitlines():
                index, address, size = (int(word) for word in line.split())
                name = SIGNATURES[job.function].pointers[index]
                kind = tensors[name].dtype
                found.append(Region(name, address, address, address + size, ITEM_SIZE[kind], UNITS[kind]))
    return found
