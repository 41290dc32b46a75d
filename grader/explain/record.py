"""The recorded calls of the case that tells most, where they are not the right ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.call_steps import Step, layer_of, steps
from grader.explain.observed import Observed

MOST_CALLS = 500  # of a record that is looked at: it comes from the sandbox


@dataclass(frozen=True)
class Record:
    """A record that differs.

    Attributes:
        case: its case.
        steps: the calls made and the right ones, aligned.
        layers: the layers in the order in which they should be gone through.
        sizes: the case's sizes.
    """

    case: str
    steps: Sequence[Step]
    layers: Sequence[int]
    sizes: Mapping[str, int]


def differing_record(observed: Observed) -> Record | None:
    """The record with most right calls among those that differ; None where all are right, or none was made."""
    found: list[Record] = []
    for case in observed.fixtures:
        if case.id not in observed.judged.calls:
            continue
        made, right = observed.judged.calls[case.id]
        try:
            aligned = steps(made[:MOST_CALLS], right)
        except RecursionError:
            continue
        ended = case.id in observed.judged.endings
        while ended and aligned and aligned[-1].kind == "missing":
            aligned.pop()  # it came no further
        if any(step.kind != "same" for step in aligned):
            layers = list(dict.fromkeys(n for call in right if (n := layer_of(call)) is not None))
            sizes = {name: value for name, value in case.entry.params.items() if isinstance(value, int)}
            found.append(Record(case.id, aligned, layers, sizes))
    return max(found, key=lambda record: len(record.steps), default=None)
