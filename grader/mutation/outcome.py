"""What came of grading a mutant, and the journal that keeps it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from grader.data import Strict
from grader.errors import InfrastructureError
from grader.mutation.changes import Mutant
from grader.result import Result, RowResult, Verdict

State = Literal["killed", "survived", "equivalent", "build failed"]


class Outcome(Strict):
    """A graded mutant.

    Attributes:
        key: hash of the mutated file and of all that its grading rests on.
        id: the mutant's name.
        region: the function, and the row that is about it.
        row: the id of that row.
        kind: the operator that made it.
        line: in the reference's file.
        diff: what it changes.
        state: ``killed`` (it costs points), ``equivalent`` (it costs none, and every output is the reference's to the
            byte), ``survived`` (it costs none, and an output differs), or ``build failed`` (it is no program).
        verdict: of its own row.
        lost: points lost, by row.
        by_rule: rows lost to checks of the whole program alone, which any mistake may fail.
        detail: what the first lost row says.
        told: advice on it, which costs nothing.
        differs: for one that survived: the first case whose output differs.
        seconds: wall time of the grading.
    """

    key: str
    id: str
    region: str
    row: str
    kind: str
    line: int
    diff: str
    state: State
    verdict: Verdict | None = None
    lost: dict[str, int] = Field(default={})
    by_rule: list[str] = Field(default=[])
    detail: str = ""
    told: list[str] = Field(default=[])
    differs: str = ""
    seconds: float = 0.0

    @property
    def elsewhere(self) -> list[str]:
        """Rows that were lost beside its own, the whole program's rule apart."""
        return [row for row in self.lost if row != self.row and row not in self.by_rule]

    @property
    def exact(self) -> bool:
        """Whether it cost its own row and, that rule apart, no other."""
        return self.row in self.lost and not self.elsewhere


def of_result(mutant: Mutant, key: str, row: str, result: Result) -> Outcome:
    """The outcome that a result stands for; one without loss counts as ``survived`` until it is proved equivalent."""
    lost = {r.id: r.max_points - r.points for r in result.rows if r.points < r.max_points}
    own = next((r for r in result.rows if r.id == row), None)
    blamed = own if own is not None and own.id in lost else next((r for r in result.rows if r.id in lost), None)
    return Outcome(
        key=key,
        id=mutant.id,
        region=mutant.region.name,
        row=row,
        kind=mutant.change.kind,
        line=mutant.line,
        diff=mutant.diff(),
        state=_state(result, bool(lost)),
        verdict=own.verdict if own is not None else None,
        lost=lost,
        by_rule=[r.id for r in result.rows if r.id in lost and _by_the_whole_alone(r)],
        detail=blamed.detail if blamed is not None else "",
        told=[note.text for note in result.advice],
        seconds=result.timing.get("total", 0.0),
    )


def ran_out_of_time(result: Result) -> bool:
    """Whether a check of it did not end in time."""
    return any(check.verdict == "timed_out" for row in result.rows for check in row.checks)


def _state(result: Result, lost: bool) -> State:
    if any(problem.startswith("it does not compile") for problem in result.problems):
        return "build failed"
    return "killed" if lost else "survived"


def _by_the_whole_alone(row: RowResult) -> bool:
    failed = [check for check in row.checks if not check.passed]
    return bool(failed) and all(check.role == "whole" for check in failed)


class Journal:
    """The outcomes so far, a JSON line each: a study that was stopped goes on where it was."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "journal.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            blob = self.path.read_bytes() if self.path.exists() else b""
        except OSError as error:
            raise InfrastructureError(f"cannot use {folder}: {error.strerror}") from error
        self.known = {outcome.key: outcome for line in blob.splitlines() if (outcome := _read(line)) is not None}

    def add(self, outcome: Outcome) -> None:
        """Takes an outcome down at once."""
        self.known[outcome.key] = outcome
        with self.path.open("a", encoding="utf-8") as file:
            file.write(outcome.model_dump_json() + "\n")


def _read(line: bytes) -> Outcome | None:
    """An outcome; None for a line that was cut short, or written by another version."""
    try:
        return Outcome.model_validate(json.loads(line))
    except (ValueError, ValidationError):
        return None
