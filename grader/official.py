"""The handout's own test on real files, for the assignments that have some.

What those files are is the assignment's business: ``assignments/<ID>/real_files.py`` reads and makes them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from grader.assignment import Assignment
from grader.errors import UsageError
from grader.fixture_build import reference
from grader.options import Options
from grader.progress import News, Progress

Say = Callable[[str], None]


def _module(assignment: Assignment) -> ModuleType:
    if assignment.real_files is None:
        raise UsageError(
            f"{assignment.id} has no real files: --checkpoint, --state and `fixtures state` are not for it"
        )
    return importlib.import_module(f"assignments.{assignment.id}.real_files")


def with_real_files(
    assignment: Assignment, options: Options, checkpoint: Path, state: Path, progress: Progress
) -> Options:
    """The options with the assignment's whole-program check on the given files, built as the handout builds it.

    Raises:
        UsageError: a file is missing, of another size, magic or version.
    """
    module = _module(assignment)
    real = assignment.real_files
    assert real is not None
    case = module.real_case(real.check, checkpoint.resolve(), state.resolve())
    check = assignment.checks[real.check].model_copy(update={"build": real.build, "limits": real.limits})
    steps = int(case.entry.params["steps"])

    def follow(entry: dict[str, Any]) -> None:
        done = entry.get("step")
        if isinstance(done, int) and 0 <= done <= steps:
            progress(News("said", real.check, f"step {done} of {steps}"))

    return replace(
        options,
        replaced={real.check: case},
        changed_checks={real.check: check},
        probe_options={real.check: {"checkpoint": str(checkpoint.resolve())}},
        follow={real.check: follow},
        second_look=False,
        real_files=True,
    )


def make_state(assignment: Assignment, size: str, out: Path, say: Say) -> list[Path]:
    """Makes a pair of real files with weights of our own; returns their paths.

    Raises:
        UsageError: the assignment has no such files, or ``out`` cannot be made.
    """
    module = _module(assignment)
    maker = reference(assignment.id, "state")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{out} cannot be made: {error.strerror}") from error
    say(f"making a {size} model and its ten steps (float64; 124M takes some minutes and 14 GiB)")
    case, expected = maker.make(size)
    paths: list[Path] = module.write_pair(out, size, case, expected)
    return paths
