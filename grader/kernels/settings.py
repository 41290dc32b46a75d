"""The kernels of an assignment as data: ``assignments/<ID>/kernels.yaml``."""

from __future__ import annotations

from pydantic import Field

from grader.assignment import Assignment, Build, Check, Limits, Submission
from grader.data import Strict, load_yaml
from grader.errors import UsageError

FILE = "kernels.yaml"
PROBE = "kernels"  # the driver's name of the way to probe
BUILD, MODEL = "kernels", "kernel_model"
ADDRESS = "kernels_address"  # the build, and the check, that AddressSanitizer looks at


class Kernel(Strict):
    """A kernel and the function that launches it."""

    id: str
    title: str
    function: str


class Settings(Strict):
    """What is taken of a submission, how it is built, and what it may use."""

    submission: Submission
    limits: Limits
    builds: dict[str, Build]
    kernels: list[Kernel] = Field(min_length=1)


def load(assignment: Assignment) -> Settings:
    """The kernels of an assignment.

    Raises:
        UsageError: it has none.
        InfrastructureError: the data is wrong.
    """
    path = assignment.folder / FILE
    if not path.is_file():
        raise UsageError(f"{assignment.id} has no CUDA kernels")
    return load_yaml(path, Settings)


def as_assignment(assignment: Assignment, settings: Settings) -> Assignment:
    """The assignment with its kernels as its checks, for the engine."""
    checks = {
        kernel.id: Check.model_validate(
            {"title": kernel.title, "probe": PROBE, "function": kernel.function, "build": BUILD}
        )
        for kernel in settings.kernels
    }
    whole = {"title": "arrays of functions", "probe": PROBE, "function": "", "build": ADDRESS}
    checks[ADDRESS] = Check.model_validate({**whole, "options": {"runtime": "address"}})
    changes = {"submission": settings.submission, "limits": settings.limits, "builds": settings.builds}
    return assignment.model_copy(update={**changes, "checks": checks})
