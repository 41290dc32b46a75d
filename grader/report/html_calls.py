"""The calls that were made beside the right ones, as the HTML report lists them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from grader.result import CallStep, CheckResult, StepKind

KEPT = 2  # right calls that are shown before and after a wrong one
MOST = 200  # steps that are shown
SIGNS: dict[StepKind, str] = {"same": "✓", "changed": "✗", "missing": "–", "extra": "+", "moved": "↕"}


@dataclass(frozen=True)
class CallRow:
    """A step of the list, or some right calls that are left out of it."""

    kind: str = ""
    sign: str = ""
    right: str = ""
    made: str = ""
    text: str = ""
    skipped: int = 0


def call_rows(check: CheckResult) -> Iterator[CallRow]:
    """The steps of a check; of a long run of right ones only those beside the wrong ones."""
    steps = check.call_steps[:MOST]
    runs = [(right, list(run)) for right, run in groupby(steps, key=lambda step: step.kind == "same")]
    for place, (right, run) in enumerate(runs):
        before = KEPT if place > 0 else 0
        after = KEPT if place < len(runs) - 1 else 0
        if right and len(run) > before + after + 1:
            yield from map(_row, run[:before])
            yield CallRow(skipped=len(run) - before - after)
            yield from map(_row, run[len(run) - after :])
        else:
            yield from map(_row, run)


def _row(step: CallStep) -> CallRow:
    right = _call(step.right_at, step, step.right)
    made = _call(step.made_at, step, step.made)
    return CallRow(step.kind, SIGNS[step.kind], right, made or "not made", step.text)


def _call(place: int | None, step: CallStep, arguments: Mapping[str, str | int]) -> str:
    """A call in a line: its number, the function, and the arguments that say where it is."""
    if place is None:
        return ""
    names = step.wrong or list(arguments)[:1]
    return f"{place}. {step.function}({_listed(names, arguments)})"


def _listed(names: Sequence[str], arguments: Mapping[str, str | int]) -> str:
    told = ", ".join(f"{name} = {arguments[name]}" for name in names if name in arguments)
    return told + (", …" if len(arguments) > len(names) else "")
