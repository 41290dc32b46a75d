"""How an assignment's CUDA kernels are compiled and run, as data: ``assignments/<ID>/cuda.yaml``."""

from __future__ import annotations

from pydantic import Field, PositiveInt

from grader.assignment import Assignment, Check, Limits
from grader.data import Strict, load_yaml

FILE = "cuda.yaml"


class Speed(Strict):
    """What is timed to compare backends."""

    support: list[str] = Field(description="builds of the reference's parts")
    batches: dict[str, PositiveInt] = Field(description="by backend, how many batches are timed; the rest is scaled")


class Settings(Strict):
    """What is taken of a submission, how it is compiled, and what it may use."""

    source: str = Field(description="the student's file, taken where it is there")
    library: str = Field(description="what it is compiled into; one that is handed in is not used")
    flags: list[str]
    max_file_kb: int = Field(gt=0)
    packages: list[str] = Field(description="Python packages of the extra `cuda` that the framework imports")
    speed: Speed
    limits: Limits

    def check(self, probe: str, function: str, support: list[str] | None = None) -> Check:
        """A check of the driver's that belongs to no row."""
        given = {"title": probe, "probe": probe, "function": function, "build": "plain", "support": support or []}
        return Check.model_validate({**given, "limits": self.limits})


def load(assignment: Assignment) -> Settings | None:
    """The settings of an assignment; None where it has no CUDA backend.

    Raises:
        InfrastructureError: the data is wrong.
    """
    path = assignment.folder / FILE
    return load_yaml(path, Settings) if path.is_file() else None
