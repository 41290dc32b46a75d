"""Assignments in Python that come with a framework: whose it is, and which backend answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from grader import submission as submissions
from grader.assignment import Assignment
from grader.errors import UsageError
from grader.submission import Taken

OURS, SUBMITTED = "ours", "submitted"
KERNELS = ("auto", "cuda")  # backends that rows run on only where the kernels are right: see grader.cuda
OWN_FRAMEWORK = "own-framework"  # a file of the stage: the framework is the student's, and runs in cases alone


def with_backend(assignment: Assignment, backend: str | None) -> Assignment:
    """The assignment with another backend for what runs; what runs on kernels is decided when these are known.

    Raises:
        UsageError: the assignment has no backends.
    """
    if backend is None:
        return assignment
    variable = assignment.backend_variable
    if variable is None:
        raise UsageError(f"{assignment.id} has no backends; --backend is not for it")
    if backend in KERNELS:
        return assignment
    builds = {
        name: build.model_copy(update={"environment": {**build.environment, variable: backend}})
        for name, build in assignment.builds.items()
    }
    return assignment.model_copy(update={"builds": builds})


def with_submitted_framework(assignment: Assignment, taken: Taken, path: Path, ours: Path) -> Taken:
    """What was taken, with the submission's own versions of the provided files on top; lacking ones stay ours.

    Raises:
        UsageError: the assignment has no framework.
    """
    if assignment.submission.language != "python":
        raise UsageError(f"{assignment.id} has no framework; --framework is not for it")
    own = [name for name in taken.ignored if name.endswith(".py")]
    if not own:
        return taken
    found = submissions.take(path, assignment.submission.model_copy(update={"files": own, "provided": []}), ours)
    return replace(
        taken,
        files={**found.files, **taken.files, OWN_FRAMEWORK: b"yes"},
        hashes={**found.hashes, **taken.hashes},
        ignored=[name for name in taken.ignored if name not in found.files],
        problems=taken.problems + found.problems,
    )
