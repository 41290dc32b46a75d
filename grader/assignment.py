"""The assignment as data: rows, points, checks, builds, limits; checked when it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, PositiveInt, model_validator

from grader.data import Strict, load_yaml
from grader.errors import UsageError
from grader.home import ROOT
from grader.result import Visibility

Role = Literal["direct", "whole"]


class Limits(Strict):
    """What a sandboxed process tree may use."""

    case_s: float = Field(gt=0, description="wall time of one case, seconds")
    wall_s: float = Field(gt=0, description="wall time of one check (or build), seconds")
    cpu_s: float = Field(gt=0, description="CPU time of one process, seconds")
    memory_mb: int = Field(gt=0, description="address space of one process, MiB")
    processes: int = Field(gt=0, description="processes and threads of the user")
    file_mb: int = Field(gt=0, description="size of a file written, MiB")
    disk_mb: int = Field(gt=0, description="all that one check (or build) may leave on the disk, MiB")
    output_kb: int = Field(gt=0, description="standard output and error kept, KiB")


class Submission(Strict):
    """Which files of a submission count."""

    files: list[str] = Field(min_length=1, description="paths taken from the submission")
    provided: list[str] = Field(description="files, or folders as a whole, laid beside them from the student template")
    language: Literal["c", "python"]
    packages: list[str] = Field([], description="Python packages of the grader's own that the code may import")
    partial: bool = Field(False, description="where one of the files is missing, the others are judged all the same")
    max_file_kb: int = Field(gt=0, description="largest file that is taken, KiB")


class Build(Strict):
    """One way to build the submission, or support code of ours."""

    of: Literal["submission", "reference", "kernels", "kernel_model"] = "submission"
    flags: list[str] = Field([], description="handed to the compiler")
    source: str | None = Field(None, description="for a build of the reference: its file")
    keeps: list[str] = Field([], description="for a build of the reference: the definitions that are kept of it")
    parts: list[str] = Field([], description="builds that tell which flag is at fault")
    says: str = Field("", description="for advice: what this build does to the code")
    environment: dict[str, str] = Field({}, description="variables set for what runs in it")
    compiler: str | None = Field(None, description="the one compiler that can make it; none: whichever is asked for")


class Fallback(Strict):
    """Where a check that cannot be made directly takes its evidence from."""

    check: str
    tensors: list[str] = Field(min_length=1, description="what it feeds first")
    beyond: list[str] = Field([], description="what it cannot reach: wrong there, something else is at fault")
    also: Fallback | None = Field(None, description="where that is right: what shows the rest, and is to be right too")

    @property
    def checks(self) -> list[str]:
        """All checks that the evidence comes from."""
        return [self.check, *(self.also.checks if self.also else [])]


class Curve(Strict):
    """A tensor that the report shows as a curve, beside what is expected where there is such a tensor."""

    title: str
    tensor: str
    across: str = Field(description="what is counted: step, epoch")
    first: int = Field(0, description="the number of the first value")
    bar: str = Field("", description="the option that holds what is to be reached")


class Check(Strict):
    """One thing that is run and compared; rows rest on checks."""

    title: str
    probe: str = Field(description="the driver's name of the way to probe")
    function: str = Field(description="the student's function that is looked at")
    at: str = Field("", description="where a mistake most likely stands, e.g. Network.forward; empty: the function")
    uses: list[str] = Field([], description="other functions of the student's that the probe calls")
    needs: list[str] = Field([], description="functions without which the check cannot be made")
    build: str
    support: list[str] = Field([], description="builds of our own that the probe uses")
    role: Role = "direct"
    official: bool = Field(False, description="judged by the handout's limits, not the measured ones")
    context: list[str] = Field([], description="tensors shown, not judged")
    calls: bool = Field(False, description="the order of calls explains a failure")
    seen_min: float = Field(
        1.0, gt=0, le=1, description="the least share of the calls that must be seen for them to outweigh wrong tensors"
    )
    allocates: str = Field("", description="the memory that the function allocates, for telling what was never set")
    fallback: Fallback | None = None
    cases_min: int = Field(1, ge=1, description="fewest cases that a fixture set must hold")
    cases_of: str | None = Field(None, description="the check whose cases it takes; none: it has its own")
    options: dict[str, str] = Field({}, description="handed to the probe, and to `derive`")
    files: dict[str, str] = Field({}, description="files of the repository that the probe may read, by option")
    derive: bool = Field(False, description="what is expected depends on what was handed back: see grader.derive")
    instead: list[str] = Field([], description="checks made where this one fails; the first that passes stands for it")
    blames: str | None = Field(
        None, description="for a check that stands in: the check that fails too, since what is replaced did not serve"
    )
    training: bool = Field(False, description="left out with --no-training")
    says: str = Field("", description="for a check that a row looks at, or takes evidence from: what its failure means")
    says_of: str = Field("", description="a text that the failure must hold for `says` to be its meaning; empty: any")
    limits: Limits | None = None
    curves: list[Curve] = Field([], description="shown in the report")
    visibility: Visibility = Field("visible", description="when students see what came of it; see grader.redact")


class Row(Strict):
    """A line of the point table: all its checks must pass, or each has points of its own."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    points: int = Field(gt=0)
    checks: list[str] = Field(min_length=1)
    parts: dict[str, PositiveInt] = Field({}, description="points of each check; empty: all or nothing")
    looks: list[str] = Field([], description="checks made for the advice alone")
    solves: list[str] = Field(
        [], description="the reference's solutions that it is about, by function; none: the functions of its checks"
    )
    credit: Literal["official", "direct"] | None = Field(
        None, description="`direct` leaves the row to its direct checks; `official` asks for all"
    )

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.parts and (list(self.parts) != self.checks or sum(self.parts.values()) != self.points):
            raise ValueError(f"the parts of row `{self.id}` are not its checks, or do not add up to {self.points}")
        return self


class Advice(Strict):
    """The second look: another build, told to the student, no points."""

    build: str
    checks: list[str] = Field(min_length=1)


class Memory(Strict):
    """Where the memory's errors and undefined behaviour are looked for."""

    title: str
    build: str
    support: dict[str, str] = Field({}, description="builds of our own that take the place of a check's")
    needs: str = Field(description="what to install where it cannot be built")


class Races(Strict):
    """Where threads that get into each other's way are looked for."""

    title: str
    build: str
    checks: list[str] = Field(min_length=1)
    costs: list[str] = Field([], description="rows that a race in one of their checks costs; none: advice alone")
    needs: str = Field(description="what to install where it cannot be built")
    marks: str = Field(description="what stands in a file that starts threads, a regular expression")


class Sanitizers(Strict):
    """Builds that watch the code as it runs; on failure, and with ``--sanitize``."""

    memory: Memory
    races: Races
    limits: Limits


class AxisDetails(Strict):
    """What is known of an axis beyond its name, for telling where a tensor is wrong."""

    says: str = Field(default="", description="what one index of it is, e.g. `layer`")
    split: list[str] = Field(default=[], description="the axes that it divides into, the slowest first")
    names: list[str] = Field(default=[], description="of its indices, for an axis with few")
    size: str = Field(default="", description="a parameter; of the axes that another divides into, one may lack it")
    padded_from: str = Field(default="", description="a parameter: indices from there on are padding")
    masked_by: str = Field(default="", description="an axis: where this one's index is larger, a mask forbids to write")
    chosen_by: list[str] = Field(default=[], description="whole-numbered inputs whose values are indices of this axis")
    passed_last_first: bool = Field(default=False, description="what flows through it comes to the last index first")


class TensorWords(Strict):
    """What is told of a tensor whose name does not say it."""

    says: str = Field(default="", description="what it is, e.g. `the order of a second call`")
    hint: str = Field(default="", description="what to think about where it is wrong, and nothing more is known")


class RealFiles(Strict):
    """How a check runs on the real files that a user brings (``--checkpoint``, ``--state``)."""

    check: str
    build: str
    limits: Limits


class Assignment(Strict):
    """An assignment, as ``assignments/<ID>/assignment.yaml`` says."""

    id: str
    title: str
    total: int = Field(gt=0)
    submission: Submission
    limits: Limits
    builds: dict[str, Build]
    rows: list[Row] = Field(min_length=1)
    checks: dict[str, Check]
    advice: Advice | None = None
    sanitizers: Sanitizers | None = None
    real_files: RealFiles | None = None
    backend_variable: str | None = Field(None, description="environment variable that names the backend")
    policies: dict[str, str] = Field({}, description="decisions of the course, handed to the probes and to `derive`")
    axes: dict[str, list[str]] = Field({}, description="names of the axes of `tensor`, or of `check.tensor`")
    axis_details: dict[str, AxisDetails] = Field({}, description="by the axes' names")
    tensors: dict[str, TensorWords] = Field(
        {}, description="what `tensor`, `check.tensor` or `check.tensor.*` is; `{}`: the number behind the dot"
    )
    factors: dict[str, str] = Field({}, description="by name, products of sizes that a result may be off by: `C / NH`")
    transcript: str | None = Field(None, description="check whose tensors make the handout's transcript")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (total := sum(row.points for row in self.rows)) != self.total:
            raise ValueError(f"the rows add up to {total} points, not to {self.total}")
        if len({row.id for row in self.rows}) != len(self.rows):
            raise ValueError("two rows bear the same id")
        self._known("check", self.checks, [c for row in self.rows for c in row.checks + row.looks])
        self._known("check", self.checks, [n for c in self.checks.values() for n in c.instead])
        self._known("check", self.checks, [c.blames for c in self.checks.values() if c.blames])
        self._known("check", self.checks, [c.cases_of for c in self.checks.values() if c.cases_of])
        self._known("check", self.checks, [f for c in self.checks.values() if c.fallback for f in c.fallback.checks])
        self._known("build", self.builds, [c.build for c in self.checks.values()])
        self._known("build", self.builds, [b for c in self.checks.values() for b in c.support])
        self._known("build", self.builds, [p for b in self.builds.values() for p in b.parts])
        if self.advice:
            self._known("build", self.builds, [self.advice.build])
            self._known("check", self.checks, self.advice.checks)
        if self.sanitizers:
            memory, races = self.sanitizers.memory, self.sanitizers.races
            self._known("build", self.builds, [memory.build, races.build, *memory.support, *memory.support.values()])
            self._known("check", self.checks, races.checks)
            self._known("row", {row.id: row for row in self.rows}, races.costs)
        if self.real_files:
            self._known("build", self.builds, [self.real_files.build])
            self._known("check", self.checks, [self.real_files.check])
        if self.transcript:
            self._known("check", self.checks, [self.transcript])
        self._hidden_alone()
        return self

    def _hidden_alone(self) -> None:
        """Nothing that students see may depend on a check that they do not see.

        An inferred operator's verdict decides what the wiring's evidence is worth: it is seen, or not inferred.
        """
        for name, check in self.checks.items():
            others = [*check.instead, *(check.fallback.checks if check.fallback else [])]
            if (told := check.visibility) == "visible" or not (check.fallback or name == self.transcript):
                apart = next((other for other in others if self.checks[other].visibility != told), None)
                if apart is None:
                    continue
                raise ValueError(f"check `{name}` is {told}, and `{apart}`, which stands in for it, is not")
            raise ValueError(f"check `{name}` cannot be {told}: what others show rests on it")

    @staticmethod
    def _known(kind: str, known: Mapping[str, object], names: list[str]) -> None:
        for name in names:
            if name not in known:
                raise ValueError(f"there is no {kind} `{name}`")

    @property
    def folder(self) -> Path:
        """``assignments/<ID>``."""
        return ROOT / "assignments" / self.id

    def row(self, row_id: str) -> Row:
        """The row of that id.

        Raises:
            UsageError: there is none.
        """
        for row in self.rows:
            if row.id == row_id:
                return row
        known = ", ".join(row.id for row in self.rows)
        raise UsageError(f"{self.id} has no row `{row_id}`; its rows are: {known}")

    def cases_min(self) -> dict[str, int]:
        """The fewest cases of each check that has its own."""
        return {name: check.cases_min for name, check in self.checks.items() if check.cases_of is None}

    @property
    def buffers(self) -> bool:
        """Whether results are added to what is in buffers beforehand, and an input that is not there is NULL."""
        return self.submission.language == "c"

    def words_of(self, check_id: str, tensor: str) -> TensorWords:
        """What is told of a check's tensor; of a check with another's cases, what is told of that one's."""
        owner = self.checks[check_id].cases_of if check_id in self.checks else None
        stem, _, number = tensor.rpartition(".")
        names = [name for check in (check_id, owner) for name in (f"{check}.{tensor}", f"{check}.{stem}.*")]
        found = next((self.tensors[name] for name in (*names, tensor) if name in self.tensors), TensorWords())
        return found.model_copy(update={"says": found.says.format(number)})

    def parts_of(self, axis: str) -> list[str]:
        """The names of the equal parts that an axis divides into first, e.g. Q, K and V; none where it has none."""
        split = self.axis_details.get(axis, AxisDetails()).split
        return self.axis_details.get(split[0], AxisDetails()).names if split else []

    def limits_of(self, check: Check) -> Limits:
        """The check's own limits, or the assignment's."""
        return check.limits or self.limits


def known_ids() -> list[str]:
    """The assignments that this repository holds."""
    return sorted(path.parent.name for path in (ROOT / "assignments").glob("*/assignment.yaml"))


def load(assignment_id: str) -> Assignment:
    """Loads an assignment by its id.

    Raises:
        UsageError: there is no such assignment.
        InfrastructureError: its data is wrong; the message names file, line and key.
    """
    if assignment_id not in known_ids():
        raise UsageError(f"there is no assignment `{assignment_id}`; there are: {', '.join(known_ids())}")
    return read(ROOT / "assignments" / assignment_id / "assignment.yaml")


def read(path: Path) -> Assignment:
    """The assignment that a file describes.

    Raises:
        InfrastructureError: its data is wrong; the message names file, line and key.
    """
    assignment = load_yaml(path, Assignment)
    files = _spread(ROOT / "student_template" / assignment.id, assignment.submission)
    rules = assignment.submission.model_copy(update={"provided": files})
    return assignment.model_copy(update={"submission": rules})


def _spread(template: Path, rules: Submission) -> list[str]:
    """The provided files, with those of each folder in its place; the files that count are left out."""
    found: list[str] = []
    for name in rules.provided:
        folder = template / name
        inside = sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
        found += [p.relative_to(template).as_posix() for p in inside] if folder.is_dir() else [name]
    return [name for name in found if name not in rules.files]
