"""A tensor's evidence in words: what it is, what is wrong, where, by how much, how widely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.explain.words import listed
from grader.result import Evidence, RowResult
from grader.score import describe, measured_error

NOT_FINITE = "NaN or infinity"


def evidence_lines(evidence: Evidence) -> Iterator[str]:
    """The lines of one tensor."""
    yield from _lines(evidence, evidence.tensor)


def joined_lines(evidence: Sequence[Evidence]) -> Iterator[str]:
    """The lines of several tensors; those of which the same is to be said are told together."""
    alike: dict[str, list[Evidence]] = {}
    for one in evidence:
        told = "\n".join(_lines(one, "")) if one.expected is None else one.tensor  # numbers are each tensor's own
        alike.setdefault(told, []).append(one)
    for group in alike.values():
        yield from _lines(group[0], listed([one.tensor for one in group]), len(group) == 1)


def _lines(evidence: Evidence, name: str, alone: bool = True) -> Iterator[str]:
    told = evidence.reason == "missing"  # then `describe` says it
    says = f" ({evidence.says})" if evidence.says and alone and name and not told else ""
    name = f"{name}{says} [{', '.join(str(n) for n in evidence.shape)}]"
    if evidence.ok:
        yield f"{name}: ok, error {measured_error(evidence)}"
        return
    if evidence.expected is None:
        yield f"{name}, case {evidence.case}: {describe(evidence)}"
        return
    if evidence.size == 1:
        yield f"{name}: wrong (case {evidence.case}):"
    else:
        share = f"{evidence.wrong} of {evidence.size} wrong (case {evidence.case})"
        yield f"{name}: {share}, furthest off at {evidence.place}:"
    yield f"  {numbers(evidence)}"
    if evidence.layers:
        yield f"  {layers(evidence)}"


def numbers(evidence: Evidence) -> str:
    """What came back at the element furthest off beside what should have; nothing that is no number."""
    parts = [f"got {_number(evidence.got)}, expected {_number(evidence.expected)}"]
    if evidence.absolute is not None and evidence.got is not None:
        relative = f", relative {_number(evidence.relative)}" if evidence.relative is not None else ""
        parts.append(f"off by {_number(evidence.absolute)}{relative}, allowed {_number(evidence.allowed)}")
    if evidence.before is not None:
        parts.append(f"before the call it held {_number(evidence.before)}")
    return "; ".join(parts)


def layers(evidence: Evidence) -> str:
    """In which layers a tensor is wrong, and which of them the gradient comes to first."""
    if len(evidence.layers) == 1:
        return f"wrong in layer {evidence.layers[0]} alone"
    told = ", ".join(str(layer) for layer in evidence.layers)
    return f"wrong in layers {told}; first wrong layer in backward order: {evidence.layers[-1]}"


def upstream_words(row: RowResult) -> str:
    """Of a row that others break: what is to be done about it."""
    return f"mend {listed(row.upstream)} first: the whole program runs over what is wrong there"


def _number(value: float | None) -> str:
    return NOT_FINITE if value is None else f"{value:.6g}"
