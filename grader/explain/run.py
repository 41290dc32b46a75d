"""The step of a grading that explains what failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from grader import places
from grader.assignment import Check
from grader.cases import DOES_NOT_FIT
from grader.explain.observed import observe
from grader.explain.why import explain
from grader.fixtures import Dictionary
from grader.judge import Explained, Judged
from grader.result import Explanation

if TYPE_CHECKING:
    from grader.grading import Grading

FAILED = ("fail", "crashed", "timed_out")
GUESSES = ("pattern", "place")  # kinds of explanations that rest on how the numbers look


def explain_failures(grading: Grading) -> None:
    """Explains the checks that failed; the whole program only where every part of it is right by itself."""
    direct = [judged for name, judged in grading.judged.items() if grading.check(name).role == "direct"]
    parts_are_right = all(judged.verdict == "pass" for judged in direct)
    for name, judged in grading.judged.items():
        told = parts_are_right or grading.check(name).role == "direct"
        if told and judged.verdict in FAILED and not judged.inferred:
            judged.explained = _explained(grading, name, judged)
    for row in grading.rows:
        _without_guesses(grading, [name for name in row.checks if name in grading.judged])


def _without_guesses(grading: Grading, names: Sequence[str]) -> None:
    """Where a mistake of a function is named, what another check of the row would guess about it is left out."""
    named = {_where(grading.check(name)) for name in names if _is_named(grading.judged[name].explained)}
    for name in names:
        explained = grading.judged[name].explained
        if _where(grading.check(name)) in named and not _is_named(explained):
            kept = [one for one in explained.explanations if one.kind not in GUESSES]
            grading.judged[name].explained = replace(explained, explanations=kept)


def _where(check: Check) -> str:
    return check.at or check.function


def _is_named(explained: Explained) -> bool:
    return any(one.kind == "fault" for one in explained.explanations)


def _explained(grading: Grading, name: str, judged: Judged) -> Explained:
    """The explanation of one check.

    What was handed back is the submission's, and may be of any kind: what cannot be explained costs nothing.
    """
    tolerances, dictionary = grading.judge.tolerances, grading.fixtures.dictionary
    cases, check = grading.cases(name), grading.check(name)
    try:
        with np.errstate(all="ignore"):
            observed = observe(grading.assignment, tolerances, dictionary, name, check, cases, judged)
            return _placed(grading, dictionary, explain(observed, grading.options.explain, grading.fixtures.public))
    except DOES_NOT_FIT:
        return Explained()


def _placed(grading: Grading, dictionary: Dictionary, explained: Explained) -> Explained:
    """With the place of the function that a known mistake stands in, where that is not the one looked at."""
    elsewhere = {fault.id: fault.at for fault in dictionary.faults if fault.at}

    def placed(one: Explanation) -> Explanation:
        function = elsewhere.get(one.fault or "")
        place = places.find(grading.taken, function) if function else None
        if place is None:
            return one
        return one.model_copy(update={"hint": f"{one.hint} ({function}: {place.file}:{place.line})"})

    return replace(explained, explanations=[placed(one) for one in explained.explanations])
