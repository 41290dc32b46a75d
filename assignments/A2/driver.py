"""The driver of A2: runs inside the sandbox, calls the student's code, hands back tensors.

``python3 -I -S driver.py JOB.json``; the job's form is `assignments.common.probe_io.Job`. Nothing here
knows an expected value.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from assignments.common.probe_io import STARTED, Job, apply_limits, load_job, probe_cases


def _probes() -> dict[str, Callable[[Job, dict[str, Any]], dict[str, Any]]]:
    from assignments.A2.native import functions, programs  # ctypes is not needed for a build

    return {
        "function": functions.probe_function,
        "zero_grad": programs.probe_zero_grad,
        "wiring": programs.probe_wiring,
        "adds": programs.probe_adds,
        "no_targets": programs.probe_no_targets,
        "update": programs.probe_update,
        "ten_steps": programs.probe_ten_steps,
    }


def main(argv: list[str]) -> int:
    """Does one job; each case's status is a line of the judge's open file."""
    job = load_job(argv)
    if job.step == "build":
        apply_limits(job.limits)
        from assignments.A2.native.build import build_operators, build_submission  # probes do without

        print(STARTED, flush=True)
        (build_operators if job.options.get("of") == "reference" else build_submission)(job)
        return 0
    if tool := _sanitizer(job):
        return _under(tool, job)
    apply_limits(job.limits)
    probe_cases(job, _probes()[job.probe])
    return 0


def _sanitizer(job: Job) -> str:
    """The sanitizer that the job's build was made for; empty: none."""
    if not any(flag.startswith("-fsanitize=") for flag in job.flags):
        return ""
    from assignments.A2.native import sanitizers  # ordinary probes do without

    return sanitizers.sanitizer_of(job)


def _under(tool: str, job: Job) -> int:
    """Probes a build with a sanitizer; what that reports is handed back with each case's status."""
    from assignments.A2.native import races, sanitizers

    sanitizers.enter(job)
    sanitizers.apply_limits_beside(job.limits, tool)
    probe_cases(job, sanitizers.reporting(races.probe_races if tool == "thread" else _probes()[job.probe]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
