"""The one result model: everything a renderer may show. Renderers know this and nothing else."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA = "tensorgrade/result/1"

# hidden: what came of it is not told, good or bad; see grader.redact.
Verdict = Literal["pass", "fail", "not_implemented", "crashed", "timed_out", "blocked", "hidden"]
# When the student sees what came of a check: at once, after the due date, never.
Visibility = Literal["visible", "after_due", "hidden"]

# The graver of two: what a row shows when its checks end differently.
GRAVITY: tuple[Verdict, ...] = ("pass", "hidden", "not_implemented", "fail", "timed_out", "crashed", "blocked")


# fault: it equals a known mistake's tensors. pattern: what its values have to do with the right ones. place: where it
# is wrong. crash: in which cases the code does not end well. calls: the calls made are not the right ones.
ExplanationKind = Literal["fault", "pattern", "place", "crash", "calls", "memory", "race"]
# moved: made, and right, at another place. changed: with other arguments.
StepKind = Literal["same", "changed", "missing", "extra", "moved"]


def words(verdict: Verdict, inferred: bool = False) -> str:
    """A verdict in words."""
    return verdict.replace("_", " ") + (" (inferred)" if inferred else "")


class Record(BaseModel):
    """Base of the result's parts: frozen, no unknown keys, no NaN in JSON (null in its place)."""

    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="null")


# The levels of a picture's cells, from the most negative to the most positive; the letter in the middle is zero.
LEVELS = "abcdefghijklmnopqrs"
BLANK = "j"
NOT_FINITE = "!"


class Picture(Record):
    """A wrong tensor seen from above: a string for each row of cells, a letter for each cell (see `LEVELS`).

    A cell stands for ``tall`` by ``wide`` elements and shows the one that is furthest off. Levels of ``expected`` and
    ``got`` follow the root of the value's share of the largest expected magnitude; those of ``off`` are half decades
    beyond what is allowed, signed, `BLANK` within it. `NOT_FINITE` is a cell with a NaN or an infinity.
    """

    axes: list[str] = Field(description="names of the tensor's axes; the last runs across, the others down")
    parts: list[str] = Field(description="names of the equal parts of the last axis, e.g. Q, K, V; empty: it has none")
    row_parts: list[str] = Field(description="the same of the axis before it")
    rows: int = Field(description="elements down")
    columns: int = Field(description="elements across")
    tall: int = Field(description="elements of a cell, down")
    wide: int = Field(description="elements of a cell, across")
    expected: list[str]
    got: list[str]
    off: list[str]


class Series(Record):
    """Values over steps or epochs; null: not finite."""

    title: str
    across: str = Field(description="what is counted: step, epoch")
    first: int = Field(description="the number of the first value")
    every: int = Field(description="each so many-th value is shown")
    got: list[float | None]
    expected: list[float | None] = Field(description="empty: there is nothing to compare with")
    bar: float | None = Field(description="what is to be reached")


class Evidence(Record):
    """The comparison of one tensor: the worst case of it."""

    tensor: str
    says: str = Field(default="", description="what the tensor is; empty: its name says it")
    case: str
    shape: list[int]
    ok: bool
    reason: str = Field(description="why it failed: missing, shape, type, not finite, order, differs; empty: passed")
    note: str
    error: float | None = Field(description="error in the limit's metric; null: not a number, or infinite")
    limit: float
    of_allowed: bool = Field(False, description="the error is a share of what is allowed at that element, the limit 1")
    index: list[int] | None = Field(description="the element furthest off")
    place: str = Field(description="that index with the axes' names, e.g. [l=1, o=17, c=3]")
    got: float | None
    expected: float | None
    absolute: float | None
    relative: float | None
    allowed: float | None
    before: float | None = Field(default=None, description="what its buffer held before the call, if that is known")
    wrong: int = Field(description="elements beyond the limit, in that case")
    size: int
    layers: list[int] = Field(description="layers with elements beyond the limit")
    failed_cases: list[str]
    honest: float | None = Field(default=None, description="largest error of any right variant, as `error` is measured")
    weakest_wrong: float | None = Field(default=None, description="smallest error of any known mistake")
    weakest_is: str = Field(default="", description="which mistake that is")
    picture: Picture | None = Field(default=None, description="of a wrong tensor, with public fixtures alone")


class Explanation(Record):
    """What a failure looks like, best first; a writer shows ``text``, then ``hint``."""

    kind: ExplanationKind
    text: str = Field(description="one sentence")
    hint: str = Field(description="what to think about; it gives no solution away; may be empty")
    fault: str | None = Field(description="id in the fault dictionary; of two at once, both, joined by `+`")
    tensors: list[str] = Field(description="the tensors that it explains")
    cases: list[str] = Field(description="the cases in which they are wrong")


class CallStep(Record):
    """A call that was made beside the one that is right; the steps in order are both records, aligned."""

    kind: StepKind
    function: str
    layer: int | None = Field(description="the layer that the call belongs to")
    made_at: int | None = Field(description="its place among the calls made, from 1; null: it is not made")
    right_at: int | None = Field(description="its place among the right calls, from 1; null: it should not be made")
    made: dict[str, str | int] = Field(description="argument → name of a struct field, or size")
    right: dict[str, str | int]
    wrong: list[str] = Field(description="the arguments that differ")
    text: str = Field(description="what is wrong, in a sentence; empty for a right call")


class CheckResult(Record):
    """What came of one check."""

    id: str
    title: str
    function: str
    role: Literal["direct", "whole"]
    verdict: Verdict
    inferred: bool
    detail: str = Field(description="one sentence for whatever is not in the evidence")
    evidence: list[Evidence]
    calls_differ: str = Field(default="", description="first difference of the calls made from the right ones")
    output: str = Field(default="", description="what the code printed, cut to the limit; on failure only")
    visibility: Visibility = "visible"
    series: list[Series] = Field(default=[], description="what is shown as a curve, with public fixtures alone")
    explanations: list[Explanation] = Field(default=[], description="why it failed, as far as that can be told")
    call_steps: list[CallStep] = Field(default=[], description="where calls differ: both records, aligned, of one case")
    calls_case: str = Field(default="", description="the case that the call steps are of")
    file: str = Field(default="", description="the student's file that holds the function; empty: not found")
    line: int | None = Field(default=None, description="the line at which it begins, from 1 on")
    verdicts: dict[str, Verdict] = Field(default={}, description="by fixture set, where it was made on several")
    evidence_of: str = Field(default="", description="the set, of several, that what is told here is of")

    @property
    def passed(self) -> bool:
        """Whether it counts."""
        return self.verdict == "pass"


class UnderSet(Record):
    """A row as one of several fixture sets alone would have it."""

    set: str
    points: int
    verdict: Verdict


class RowResult(Record):
    """A line of the point table."""

    id: str
    title: str
    points: int
    max_points: int
    verdict: Verdict
    inferred: bool
    detail: str
    checks: list[CheckResult]
    withheld: int = Field(default=0, description="points that untold checks decide; not in max_points")
    under: list[UnderSet] = Field(default=[], description="the row by fixture set, where there were several")
    decided_by: list[str] = Field(default=[], description="of several sets, those that give it no more than it has")
    upstream: list[str] = Field(default=[], description="ids of the rows that break it, where it is right by itself")


class AdviceNote(Record):
    """Something worth knowing that costs no points."""

    check: str
    text: str


class BuildInfo(Record):
    """How the submission was built."""

    compiler: str
    version: str
    flags: list[str]


class KernelLine(Record):
    """What came of one CUDA kernel."""

    id: str
    title: str
    verdict: Verdict
    cases: int = Field(description="how many were tried")
    failed_cases: list[str]
    told: list[str] = Field(description="what is wrong, a sentence each, the likeliest cause first")


class Kernels(Record):
    """The submission's own CUDA kernels: beside the rows, at no points."""

    file: str
    sha256: str | None = Field(default=None, description="of the file; null: there is none that is taken")
    compiled: bool | None = Field(description="by nvcc; null: that was not tried")
    compiler: str = Field(description="e.g. nvcc 13.0.88; empty: there is none")
    errors: list[str] = Field(description="what nvcc says against the file, with its lines")
    ran_on: str = Field(description="a GPU by its name, or the execution model; empty: not run")
    not_on_gpu: str = Field(description="why they were not run on a GPU; empty: they were")
    rows_on: str = Field(description="the backend that the rows were judged on")
    rows_why: str = Field(description="why that is not cuda; empty: it is")
    kernels: list[KernelLine]
    notes: list[str] = Field(description="worth knowing, e.g. what compute-sanitizer reports")


class SubmissionInfo(Record):
    """What was graded."""

    origin: str
    hashes: dict[str, str]
    ignored: list[str]
    refused: list[str] = Field(
        default=[], description="what of an archive was not taken as it stands, with the reasons"
    )


class FixtureInfo(Record):
    """Against what it was graded."""

    set: str
    seed: int | None
    digest: str


class Provenance(Record):
    """What decides a result beside the submission, the fixtures, the build and the sandbox: hashes (sha256, hex)."""

    grader: str = Field(description="of the grader's own code")
    assignment: str = Field(description="of its data, driver and probes, template files, and the reference's operators")
    tolerances: str = Field(description="of the assignment's limits")
    replaced: dict[str, str] = Field(description="by check, of what stood in for the set's cases: real files, own data")
    seeds: dict[str, int] = Field(description="by case, what random numbers began from; public fixtures alone")


class Machine(Record):
    """Where it was graded. A line that differs from machine to machine, and decides nothing by itself."""

    system: str = Field(description="e.g. Linux x86_64")
    python: str
    numpy: str


class Chosen(Record):
    """The options of the run that made a result; `./grade replay` takes them again."""

    rows: list[str] = Field(description="the rows that were asked for; empty: all")
    compiler: str | None = Field(description="--cc; null: the first that is there")
    flags: list[str] = Field(description="--cflags")
    second_look: bool
    sanitize: bool
    training: bool
    full: bool
    real_files: bool = Field(description="--checkpoint and --state were given")
    explain: str
    staff: bool = Field(description="checks that students do not see were made")
    after_due: bool
    backend: str | None
    framework: str


class Result(Record):
    """The result of grading one submission."""

    schema_: str = Field(default=SCHEMA, alias="schema")
    grader: str
    assignment: str
    title: str
    score: int
    max_score: int
    complete: bool = Field(description="false if only some rows were asked for; then `score` is of these alone")
    sandbox: str
    fixtures: FixtureInfo
    beside: list[FixtureInfo] = Field(
        default=[], description="the other sets that it was graded against: the worse counts, check by check"
    )
    submission: SubmissionInfo
    build: BuildInfo | None
    problems: list[str] = Field(description="why the submission could not be judged, or not in full")
    rows: list[RowResult]
    advice: list[AdviceNote]
    kernels: Kernels | None = Field(
        default=None, description="the submission's CUDA kernels, where those were asked for"
    )
    transcript: str = Field(description="the handout's own test, as it prints")
    provenance: Provenance | None = Field(default=None, description="null: of a grader that did not tell")
    options: Chosen | None = Field(default=None, description="null: of a grader that did not tell")
    machine: Machine | None = Field(default=None, description="null: of a grader that did not tell")
    timing: dict[str, float] = Field(description="seconds; the one part that differs from run to run")

    @property
    def sets(self) -> list[str]:
        """The fixture sets that it was graded against."""
        return [*(one.set for one in self.beside), self.fixtures.set]

    def score_under(self, name: str) -> int:
        """The score as one of several fixture sets alone would have it."""
        return sum(next((one.points for one in row.under if one.set == name), row.points) for row in self.rows)
