"""The second look: what other compiler flags do to the code. Told to the student, worth no points."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader import redact
from grader.assignment import Check
from grader.engine import Built
from grader.judge import Judged
from grader.result import AdviceNote
from grader.score import describe

if TYPE_CHECKING:
    from grader.grading import Grading
    from grader.run import Run


@dataclass(frozen=True)
class Note:
    """An advice on one check."""

    check: str
    text: str

    def record(self) -> AdviceNote:
        """As it stands in the result."""
        return AdviceNote(check=self.check, text=self.text)


def second_look(run: Run, built: Built) -> list[Note]:
    """Checks that pass in the ordinary build and fail in the advice's, with the flag that does it."""
    look = run.assignment.advice
    if look is None:
        return []
    if not built.report.ok:
        first = next((line for line in built.report.messages.splitlines() if "error" in line), "")
        return [Note("build", f"it does not compile as the Makefile does it: {first}")]
    names = [n for n in look.checks if n in run.grading.checks and _passed(run, n, built)]
    futures = {n: run.pool.submit(run.probe, n, run.grading.check(n), built, (), False) for n in names}
    failed = {n: judged for n, future in futures.items() if (judged := future.result()).verdict != "pass"}
    return _explained(run, failed, look.build) if failed else []


def start_looks(run: Run, built: Built) -> dict[str, Future[Judged]]:
    """Starts the checks that rows look at for the advice alone, as far as they can be made."""
    names = dict.fromkeys(look for row in run.grading.rows for look in row.looks)
    checks = {name: run.grading.check(name) for name in names if run.grading.made(name)}
    missing = built.report.unavailable
    return {
        name: run.pool.submit(run.probe, name, check, built)
        for name, check in checks.items()
        if not any(part in missing for part in check.needs)
    }


def looked_at(grading: Grading, looks: dict[str, Future[Judged]]) -> list[Note]:
    """What failed looks mean; where a function of theirs is not right, that has been said, and shows in them too."""
    notes = []
    for name, future in looks.items():
        judged, check = future.result(), grading.check(name)
        resting = [c for row in grading.rows if name in row.looks for c in row.checks if grading.seen(c)]
        if judged.verdict != "pass" and all(_right_alone(grading, c) for c in resting):
            notes.append(Note(name, _meaning(check, judged)))
    return notes


def _right_alone(grading: Grading, name: str) -> bool:
    """Whether a check has passed, and by itself: not with a part of ours in place of a wrong one."""
    judged, check = grading.judged[name], grading.check(name)
    return judged.verdict == "pass" and judged.detail not in [grading.check(other).title for other in check.instead]


def _meaning(check: Check, judged: Judged) -> str:
    """What a failed look means; where it fails otherwise than it is known to, that alone is told."""
    detail = f" ({judged.detail})" if judged.detail else ""
    if check.says_of and check.says_of not in judged.detail:
        return f"it fails on {check.title}{detail}"
    return check.says + detail


def _passed(run: Run, name: str, built: Built) -> bool:
    judged = run.grading.judged.get(name)
    missing = any(part in built.report.unavailable for part in run.grading.check(name).needs)
    return judged is not None and judged.verdict == "pass" and not judged.inferred and not missing


def _explained(run: Run, failed: dict[str, Judged], build: str) -> list[Note]:
    parts = {part: run.engine.build(part) for part in run.assignment.builds[build].parts}
    notes = []
    for name, judged in failed.items():
        check = run.grading.check(name)
        guilty = [
            part
            for part, built in parts.items()
            if built.report.ok and run.probe(name, check, built, (), False).verdict != "pass"
        ]
        notes.append(Note(name, _sentence(run, name, judged, guilty, build)))
    return notes


def _sentence(run: Run, name: str, judged: Judged, guilty: list[str], build: str) -> str:
    check = run.grading.check(name)
    evidence = run.grading.judge.result(name, check, judged).evidence
    wrong = next((e for e in evidence if not e.ok), None)
    public = run.grading.fixtures.manifest.set == redact.PUBLIC
    what = describe(wrong, values=public) if wrong else judged.detail
    reasons = [run.assignment.builds[part].says for part in guilty or [build]]
    if not guilty:
        reasons.append("neither flag alone shows it each time, as when two threads write the same element")
    return f"right as graded; {' and '.join(r for r in reasons if r)}: {what}"
