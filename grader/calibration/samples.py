"""What is graded: the reference in all its arithmetics, the right variants, and the known mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from grader.assignment import Assignment
from grader.calibration import arithmetic
from grader.calibration.arithmetic import OPENMP
from grader.home import ROOT
from grader.known import c, python
from grader.known.entries import MISTAKES, VARIANTS, Kind, folder, load

UNOPTIMISED = ("-O0",)  # for mistakes: half of a grading is the compiler's time


@dataclass(frozen=True)
class Sample:
    """A submission whose rightness is known.

    Attributes:
        name: what it is called in the evidence.
        files: its files, by the assignment's paths; more than count, where the framework is another.
        row: the row that is wrong in it; empty: all is right.
        compiler: that builds it; None: the usual one.
        flags: for the compiler, behind the assignment's.
        environment: of what runs, beside the assignment's.
    """

    name: str
    files: Mapping[str, str]
    row: str = ""
    compiler: str | None = None
    flags: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def reference(assignment: Assignment) -> dict[str, str]:
    """The solved files."""
    folder = ROOT / "reference" / assignment.id
    return {name: (folder / name).read_text("utf-8") for name in assignment.submission.files}


def samples(assignment: Assignment) -> list[Sample]:
    """All of them: first the right ones."""
    own = _in_c if assignment.submission.language == "c" else _in_python
    return [*_arithmetics(assignment), *own(assignment)]


def _arithmetics(assignment: Assignment) -> Iterator[Sample]:
    """The reference, rounding otherwise."""
    how, files = arithmetic.load(assignment.id), reference(assignment)
    for number in range(how.repeats):
        yield Sample(f"reference-{number + 1}" if how.repeats > 1 else "reference", files)
    for compiler, flags in how.builds():
        for threads in how.threads if OPENMP in flags else [1]:
            name = f"{compiler} {flags}" + (f", {threads} threads" if OPENMP in flags else "")
            environment = {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"} if OPENMP in flags else {}
            yield Sample(name, files, compiler=compiler, flags=tuple(flags.split()), environment=environment)
    for backend in how.backends:
        yield Sample(f"{backend} backend", files, environment={str(assignment.backend_variable): backend})
    for framework in how.frameworks:
        yield Sample(framework.name, {**files, **framework.files(assignment)})


def _in_c(assignment: Assignment) -> Iterator[Sample]:
    ((name, solved),) = reference(assignment).items()
    for variant in _entries(assignment, VARIANTS, c.Variant):
        yield Sample(variant.name, {name: variant.source(solved)}, flags=tuple(variant.flags.split()))
    for mistake in _entries(assignment, MISTAKES, c.Mistake):
        if mistake.serial == "wrong":
            yield Sample(mistake.name, {name: mistake.source(solved)}, mistake.row, flags=UNOPTIMISED)


def _in_python(assignment: Assignment) -> Iterator[Sample]:
    solved = reference(assignment)
    for variant in _entries(assignment, VARIANTS, python.Right):
        yield Sample(variant.name, variant.files(solved))
    for mistake in _entries(assignment, MISTAKES, python.Mistake):
        yield Sample(mistake.name, mistake.files(solved), mistake.row)


def _entries(assignment: Assignment, file: str, kind: type[Kind]) -> list[Kind]:
    """The known submissions that a file holds; none where the assignment has no such file."""
    path = folder(assignment.id) / file
    return load(path, kind) if path.is_file() else []
