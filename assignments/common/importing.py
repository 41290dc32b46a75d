"""A student's Python file as a module: imported from where it lies, in a process and a folder of the case's own."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from types import ModuleType

from assignments.common.outcome import explain
from assignments.common.probe_io import Job, Report, in_own_process


def from_file(name: str, path: str) -> ModuleType:
    """A file as a module of this name, which others then import too."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def to_scratch(job: Job) -> None:
    """Goes to a folder that can be written to: some programs leave files in the current one."""
    path = os.path.join(job.out, "scratch")
    os.makedirs(path, exist_ok=True)
    os.chdir(path)


def import_problem(job: Job, load: Callable[[], object]) -> str:
    """Why what ``load`` imports cannot be imported, found out in a process of its own; empty if it can."""

    def work(report: Report) -> None:
        try:
            load()
        except BaseException as error:
            report.send(problem=explain(error, job))
            raise

    ending = in_own_process(work, job.limits["case_s"])
    problem = ending.merged().get("problem")
    if not problem and ending.status == "ok":
        return ""
    ends = "it does not end" if ending.status == "timed_out" else "it ends the program"
    return f" cannot be imported: {problem or ends}"
