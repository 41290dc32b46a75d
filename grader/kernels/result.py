"""What came of a submission's kernels: the one model that the terminal and JSON show."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from grader.result import BuildInfo, Record, SubmissionInfo

SCHEMA = "tensorgrade/kernels/1"

KernelVerdict = Literal["pass", "fail", "not_implemented", "crashed", "timed_out", "blocked"]


class Mistake(Record):
    """Something that a kernel, or what launches it, does wrong."""

    kind: str = Field(description="e.g. bounds, race, barrier, unwritten, launch, copy, leak, signature, values")
    text: str = Field(description="one sentence")
    hint: str = Field(description="what to think about; may be empty")
    file: str
    line: int | None
    cases: list[str] = Field(description="the cases in which it is seen")


class KernelEvidence(Record):
    """A call whose result is wrong."""

    case: str
    call: str = Field(description="what is called: add of [3, 1, 5] and [1, 4, 1]")
    reason: str = Field(description="missing, nan, not finite, differs")
    wrong: int = Field(description="elements beyond the limit")
    size: int
    error: float | None = Field(description="error in the limit's metric; null: not a number, or infinite")
    limit: float
    index: list[int] | None = Field(description="the element furthest off")
    got: float | None
    expected: float | None


class KernelResult(Record):
    """One kernel."""

    id: str
    title: str
    function: str
    verdict: KernelVerdict
    detail: str = Field(description="the most likely mistake, in one sentence; empty: none")
    cases: int = Field(description="how many were tried")
    failed_cases: list[str]
    mistakes: list[Mistake]
    evidence: list[KernelEvidence]
    notes: list[str] = Field(description="worth knowing, and no mistake")
    output: str = Field(description="what the code printed, cut to the limit; on failure only")


class KernelsResult(Record):
    """All kernels of a submission. They cost no points."""

    schema_: str = Field(default=SCHEMA, alias="schema")
    grader: str
    assignment: str
    where: str = Field(description="what the kernels ran on: the execution model, or a GPU by its name")
    sandbox: str
    submission: SubmissionInfo
    build: BuildInfo | None
    problems: list[str] = Field(description="why they could not be judged")
    kernels: list[KernelResult]
    timing: dict[str, float] = Field(description="seconds; the one part that differs from run to run")

    @property
    def passed(self) -> bool:
        """Whether all kernels are right."""
        return not self.problems and all(kernel.verdict == "pass" for kernel in self.kernels)
