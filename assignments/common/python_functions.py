"""A whole driver for submissions that are Python files of functions over NumPy arrays.

An assignment's ``driver.py`` says how each way to probe calls the student's module, and is done::

    PROBES = {"softmax": lambda module, given, params: {"y": module.softmax(given["x"])}}
    sys.exit(main(sys.argv, {"layers.py": ["softmax"]}, PROBES))

Each case imports the module in a process of its own. Inputs are copies: what the code writes to them is told as a
mistake, since a caller's arrays are not its own.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from assignments.common.importing import from_file, import_problem, to_scratch
from assignments.common.outcome import Unwritten, Wrong, is_empty, run
from assignments.common.probe_io import (
    STARTED,
    Job,
    Report,
    apply_limits,
    load_job,
    probe_cases,
    write_build,
)
from assignments.common.python_files import Build, defined, source_problem

Given = Mapping[str, Any]  # arrays by name
Probe = Callable[[ModuleType, Given, Mapping[str, Any]], Mapping[str, Any]]
Functions = Mapping[str, Sequence[str]]  # by file, the functions that a student writes


def main(argv: list[str], functions: Functions, probes: Mapping[str, Probe]) -> int:
    """Does one job: builds, or probes cases.

    Args:
        argv: the program's name, and the job's file.
        functions: by file, those that a student writes; what defines none of them blocks the checks that need it.
        probes: by the name that a check gives as its ``probe``: calls the module with a case's arrays and scalars, and
            returns arrays (or numbers) by the names that the oracle has for them.
    """
    job = load_job(argv)
    apply_limits(job.limits)
    sys.path[:] = [path for path in (job.stage, job.packages, *sys.path) if path]
    if job.step == "build":
        print(STARTED, flush=True)
        _build(job, functions)
        return 0
    import numpy  # noqa: F401 (what is imported here, the cases' processes have)

    probe_cases(job, _prober(functions, probes[job.probe]))
    return 0


def _build(job: Job, functions: Functions) -> None:
    build = Build()
    for file, names in functions.items():
        if problem := _problem(job, file):
            build.lost(file, file, problem)
            build.unavailable |= dict.fromkeys(names, build.unavailable[file])
            continue
        with open(os.path.join(job.stage, file), "rb") as opened:
            there = set(defined(ast.parse(opened.read()).body))
        build.unavailable |= {name: f"{file} defines no {name}" for name in names if name not in there}
    write_build(job, build)


def _problem(job: Job, file: str) -> str:
    """Why a file cannot be used; empty if it can."""
    path = os.path.join(job.stage, file)
    if not os.path.exists(path):
        return " is missing"
    with open(path, "rb") as opened:
        blob = opened.read()
    return source_problem(blob, file) or import_problem(job, lambda: _module(job, file))


def _module(job: Job, file: str) -> ModuleType:
    """The student's file as a module, from where it lies, in a folder that it may write to."""
    to_scratch(job)
    return from_file(os.path.basename(file).removesuffix(".py"), os.path.join(job.stage, file))


def _prober(functions: Functions, probe: Probe) -> Callable[[Job, dict[str, Any]], dict[str, Any]]:
    def probed(job: Job, case: dict[str, Any]) -> dict[str, Any]:
        def work(report: Report) -> None:
            from assignments.common import arrays

            file = next(name for name, known in functions.items() if job.function in known)
            module = _module(job, file)
            if is_empty(getattr(module, job.function)):
                raise Unwritten(f"{job.function} is empty")
            given, kept = arrays.read(case["inputs"]), arrays.read(case["inputs"])
            found = probe(module, given, case["params"])
            if changed := [name for name, array in given.items() if array.tobytes() != kept[name].tobytes()]:
                raise Wrong(f"{job.function} writes to {', '.join(changed)}, which it was only given to read")
            if nothing := [name for name, value in found.items() if value is None]:
                raise Wrong(f"{job.function} returns nothing for {', '.join(nothing)}")
            arrays.write(case["out"], found)

        return run(job, case, work)

    return probed
