"""The explanations of one failed check."""

from __future__ import annotations

from collections.abc import Sequence

from grader.explain.dictionary import Lookup, Match
from grader.explain.levels import Level
from grader.explain.observed import Observed
from grader.explain.words import listed
from grader.judge import Explained
from grader.result import Explanation


def explain(observed: Observed, level: Level, public: bool) -> Explained:
    """The explanations of a failed check, best first."""
    if level == "none":
        return Explained()
    matches = Lookup(observed).matches()
    return Explained([_of_match(observed, match) for match in matches])


def _of_match(observed: Observed, match: Match) -> Explanation:
    verb = "equals" if len(match.tensors) == 1 else "equal"
    cases = list(dict.fromkeys(case for tensor in match.tensors for case in observed.wrong[tensor]))
    return Explanation(
        kind="fault",
        text=f"{listed(match.tensors)} {verb} what comes out when {_says(match)}",
        hint="; ".join(dict.fromkeys(fault.hint for fault in match.faults if fault.hint)),
        fault="+".join(fault.id for fault in match.faults),
        tensors=list(match.tensors),
        cases=cases,
    )


def _says(match: Match) -> str:
    found = [match.faults, *match.alike]
    return ", or when ".join(_both([fault.says for fault in faults]) for faults in found)


def _both(says: Sequence[str]) -> str:
    return says[0] if len(says) == 1 else f"two mistakes come together: {says[0]}, and {says[1]}"
