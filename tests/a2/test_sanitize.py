"""The sanitizers through the real command: each mistake with function, line and words; right code is clean."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from grader import assignment, fixtures, sandbox, submission, tolerances
from grader.assignment import Assignment
from grader.errors import InfrastructureError
from grader.grading import Grading
from grader.known.entries import Entry
from grader.options import Options
from grader.result import Result
from tests.a2.patches import HERE, REFERENCE, SOLVED, SOURCE, Patch, Variant, load, region, write
from tests.support import ROOT, Graded, grade, grade_fully, run_command


class Strict(BaseModel):
    """Base of what the file holds: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Change(Strict):
    """A text for another."""

    replace: str
    by: str


class Fault(Strict):
    """A mistake in a function; the file's head explains the keys."""

    function: str
    check: str = ""
    insert: str = ""
    replace: str = ""
    by: str = ""
    also: Change | None = None
    line: str
    says: str

    def apply(self, text: str) -> str:
        """The text with the mistake in it."""
        begin = "// BEGIN SOLUTION\n"
        first = Change(replace=begin, by=f"{begin}    {self.insert}\n") if self.insert else None
        for change in (first, Change(replace=self.replace, by=self.by) if self.replace else None, self.also):
            if change is not None:
                text = Patch(replace=change.replace, by=change.by, within=self.function).apply(text)
        return text

    def lines(self, text: str) -> set[int]:
        """The numbers of the lines that may be named."""
        start, end = region(text, self.function)
        before = text.count("\n", 0, start)
        inside = enumerate(text[start:end].splitlines(), start=before + 1)
        return {number for number, line in inside if any(words in line for words in self.line.split("|"))}


class Faulty(Entry):
    """A submission with mistakes."""

    options: list[str]
    faults: list[Fault]
    slow: bool = False

    def source(self) -> str:
        """The reference with all of them."""
        text = REFERENCE.read_text(encoding="utf-8")
        for fault in self.faults:
            text = fault.apply(text)
        return text


FAULTY = load(Path(__file__).with_name("sanitized.yaml"), Faulty)
QUICK = "memory-that-ends-the-run"
MARKED = [pytest.param(one, id=one.name, marks=[] if one.name == QUICK else [pytest.mark.slow]) for one in FAULTY]
VARIANTS = load(HERE / "variants.yaml", Variant)


def told(result: Graded, check: str) -> list[str]:
    """What the sanitizers say of a check: advice to one that has passed, to any other its explanation."""
    if check in result.checks and result.checks[check]["verdict"] != "pass":
        return [e["text"] for e in result.checks[check]["explanations"] if e["kind"] in ("memory", "race")]
    return [note["text"] for note in result.result["advice"] if note["check"] == check]


@cache
def watches_threads() -> bool:
    return shutil.which("clang") is not None and any(Path("/usr/lib").glob("llvm*/lib/libarcher.so"))


def needs_clang(faulty: Faulty) -> None:
    if faulty.name == "races" and not watches_threads():
        pytest.skip("races need clang and LLVM's OpenMP")


@pytest.mark.parametrize("faulty", MARKED)
def test_a_mistake_is_named_with_its_line(faulty: Faulty, tmp_path: Path) -> None:
    needs_clang(faulty)
    source = faulty.source()
    look = grade if "--sanitize" in faulty.options else grade_fully
    result = look("--cflags=-O0", write(tmp_path / faulty.name, source), *faulty.options)
    for fault in faulty.faults:
        texts = told(result, fault.check or fault.function)
        lines = {f" at {SOURCE}:{number}" for number in fault.lines(source)}
        assert lines, f"{fault.function}: no line has {fault.line}"
        assert any(fault.says in text and any(f"{at}:" in text for at in lines) for text in texts), (
            fault,
            lines,
            texts,
        )


def test_right_code_is_clean() -> None:
    result = grade("--reference", "--sanitize")
    threads = "8 of them with threads" if watches_threads() else ""
    assert result.result["score"] == 100
    assert told(result, "sanitize") == [f"sanitizers: clean (12 checks; {threads})"]


def test_right_code_is_not_looked_at_unasked() -> None:
    result = grade_fully("--reference", "--only", "gelu_residual_backward")
    assert "sanitizers" not in result.result["timing"]
    assert result.result["advice"] == []


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_right_solutions_are_clean_however_they_are_written(variant: Variant, tmp_path: Path) -> None:
    result = grade(write(tmp_path / variant.name, variant.source(SOLVED)), f"--cflags={variant.flags}", "--sanitize")
    assert [text[:17] for text in told(result, "sanitize")] == ["sanitizers: clean"], result.result["advice"]
    assert result.result["score"] == 100, result.said()


@pytest.mark.slow
def test_a_loop_that_is_not_shared_out_is_named(tmp_path: Path) -> None:
    """The second look sees that the tensors differ with threads, and ThreadSanitizer says where."""
    if not watches_threads():
        pytest.skip("races need clang and LLVM's OpenMP")
    change = Fault(
        function="residual_backward",
        insert="#pragma omp parallel",
        line="dinp1[i] += dout[i];",
        says="residual_backward has two threads write `dinp1`",
    )
    source = change.apply(REFERENCE.read_text(encoding="utf-8"))
    result = grade_fully(write(tmp_path / "twice", source), "--only", "gelu_residual_backward")
    assert result.result["score"] == 10
    (line,) = change.lines(source)
    assert any(change.says in text and f"at {SOURCE}:{line}:" in text for text in told(result, "residual_backward"))


def graded_under(policy: Assignment, source: str, folder: Path) -> Result:
    """Grades ``matmul_backward`` alone under another policy."""
    taken = submission.take(write(folder, source), policy.submission, ROOT / "student_template" / "A2")
    options = Options(rows=["matmul_backward"], second_look=False, flags=["-O0"])
    chosen, found = sandbox.choose(), fixtures.load(fixtures.set_folder("A2", "public"))
    return Grading(policy, taken, found, chosen, tolerances.load(), options, lambda text: None).run()


def with_costs(build: str = "races") -> Assignment:
    """A2 with a policy under which races cost the row of ``matmul_backward``."""
    ours = assignment.load("A2")
    assert ours.sanitizers is not None
    races = ours.sanitizers.races.model_copy(update={"costs": ["matmul_backward"], "build": build})
    return ours.model_copy(update={"sanitizers": ours.sanitizers.model_copy(update={"races": races})})


def test_a_policy_lets_a_race_cost_the_row(tmp_path: Path) -> None:
    if not watches_threads():
        pytest.skip("races need clang and LLVM's OpenMP")
    racy = next(faulty for faulty in FAULTY if faulty.name == "races").source()
    (row,) = graded_under(with_costs(), racy, tmp_path / "racy").rows
    assert (row.points, row.verdict) == (0, "fail")
    assert "matmul_backward has two threads write `dweight`" in row.detail
    (row,) = graded_under(with_costs(), REFERENCE.read_text(encoding="utf-8"), tmp_path / "right").rows
    assert (row.points, row.verdict) == (10, "pass")


def test_a_policy_that_cannot_be_followed_gives_no_score(tmp_path: Path) -> None:
    """Without the tool, the row would be given to whoever has a race."""
    policy = with_costs()
    lacking = policy.builds["races"].model_copy(update={"compiler": "no-such-clang"})
    policy = policy.model_copy(update={"builds": {**policy.builds, "races": lacking}})
    with pytest.raises(InfrastructureError, match="depend on races"):
        graded_under(policy, REFERENCE.read_text(encoding="utf-8"), tmp_path)


def test_what_has_no_sanitizers_says_so() -> None:
    done = run_command("HW2", "--reference", "--sanitize")
    assert done.exit == 2
    assert "--sanitize: HW2 has no sanitizers" in done.stderr
