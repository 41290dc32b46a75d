"""The driver of HW2: runs inside the sandbox, calls the student's code, hands back tensors and facts.

``python3 -I -S driver.py JOB.json``; the job's form is `assignments.common.probe_io.Job`. Nothing here knows
an expected value, and nothing here imports the student's code: each case does so in a process of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from assignments.common.probe_io import STARTED, Job, apply_limits, load_job, probe_cases
from assignments.HW2.probes import load
from assignments.HW2.probes.build import build_reference, build_submission

Probe = Callable[[Job, dict[str, Any]], dict[str, Any]]
KERNELS, KERNEL_MODEL = "kernels", "kernel_model"  # CUDA kernels, and what they run in
MOST_TIMED_OUT = 2  # cases of a check


def _probes() -> dict[str, Probe]:
    from assignments.HW2.cuda import calls, nvcc, speed
    from assignments.HW2.probes import autodiff, loop, loss, network, training

    return {
        "nvcc": nvcc.probe_nvcc,
        "gpu": calls.probe_gpu,
        "gpu_kernels": calls.Kernels(),
        "speed": speed.probe_speed,
        "order": autodiff.probe_order,
        "gradients": autodiff.probe_gradients,
        "accumulation": autodiff.probe_accumulation,
        "calls": autodiff.probe_calls,
        "scalar": autodiff.probe_scalar,
        "linear_init": network.probe_linear_init,
        "linear_forward": network.probe_linear_forward,
        "network_init": network.probe_network_init,
        "network_forward": network.probe_network_forward,
        "network_dropout": network.probe_network_dropout,
        "loss": loss.probe_loss,
        "training_loop": loop.probe_training,
        "validation_loop": loop.probe_validation,
        "run": training.probe_run,
    }


def sparing(probe: Probe) -> Probe:
    """Tries no further cases of a check when two have not ended in time: it is lost, and each would take as long."""
    spent: list[str] = []

    def tried(job: Job, case: dict[str, Any]) -> dict[str, Any]:
        if len(spent) >= MOST_TIMED_OUT:
            return {"status": "timed_out", "detail": f"not tried, since {' and '.join(spent)} did not end in time"}
        status = probe(job, case)
        if status["status"] == "timed_out":
            spent.append(case["id"])
        return status

    return tried


def _builder(of: str) -> Callable[[Job], None]:
    if of in (KERNELS, KERNEL_MODEL):
        from assignments.HW2.kernels.build import build_kernels, build_model

        return build_kernels if of == KERNELS else build_model
    return build_reference if of == "reference" else build_submission


def _reserves(job: Job) -> bool:
    """Whether it takes addresses without using them, as AddressSanitizer does; the sandbox counts what is used."""
    return job.options.get("runtime") == "address"


def main(argv: list[str]) -> int:
    """Does one job; each case's status is a line of the judge's open file."""
    job = load_job(argv)
    apply_limits({name: value for name, value in job.limits.items() if not (_reserves(job) and name == "memory_mb")})
    if job.step == "build":
        print(STARTED, flush=True)
        _builder(str(job.options.get("of")))(job)
        return 0
    if job.probe == KERNELS:
        from assignments.HW2.kernels.probe import probe_kernels

        probe_cases(job, sparing(probe_kernels))
        return 0
    sys.path.append(job.packages)  # what is imported here, the cases' processes have
    probe = _probes()[job.probe]
    load.preload(job)
    probe_cases(job, sparing(probe))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
