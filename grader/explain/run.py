"""The step of a grading that explains what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.explain.observed import observe
from grader.explain.why import explain
from grader.judge import DOES_NOT_FIT, Explained, Judged

if TYPE_CHECKING:
    from grader.grading import Grading

FAILED = ("fail", "crashed", "timed_out")


def explain_failures(grading: Grading) -> None:
    """Explains the checks that failed; the whole program only where every part of it is right by itself."""
    direct = [judged for name, judged in grading.judged.items() if grading.check(name).role == "direct"]
    parts_are_right = all(judged.verdict == "pass" for judged in direct)
    for name, judged in grading.judged.items():
        told = parts_are_right or grading.check(name).role == "direct"
        if told and judged.verdict in FAILED and not judged.inferred:
            judged.explained = _explained(grading, name, judged)


def _explained(grading: Grading, name: str, judged: Judged) -> Explained:
    """The explanation of one check.

    What was handed back is the submission's, and may be of any kind: what cannot be explained costs nothing.
    """
    tolerances, dictionary = grading.judge.tolerances, grading.fixtures.dictionary
    cases, check = grading.cases(name), grading.check(name)
    try:
        with np.errstate(all="ignore"):
            observed = observe(grading.assignment, tolerances, dictionary, name, check, cases, judged)
            return explain(observed, grading.options.explain, grading.fixtures.public)
    except DOES_NOT_FIT:
        return Explained()
