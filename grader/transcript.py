"""The handout's own test, printed as it prints, from tensors that were handed back.

How it prints is the assignment's business: ``assignments/<ID>/transcript.py`` has a ``render``.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from grader.assignment import Assignment
from grader.cases import DOES_NOT_FIT

if TYPE_CHECKING:
    from grader.judge import Judged


def transcript_of(assignment: Assignment, judged: Mapping[str, Judged]) -> str:
    """The transcript, empty where the check was not made, or handed nothing back that can be printed."""
    name = assignment.transcript
    if name is None or name not in judged or not judged[name].tensors:
        return ""
    case = next(iter(judged[name].tensors))
    expected = judged[name].expected[case]
    module = importlib.import_module(f"assignments.{assignment.id}.transcript")
    try:
        with np.errstate(all="ignore"):
            text: str = module.render(judged[name].params[case], judged[name].tensors[case], expected)
    except DOES_NOT_FIT:
        return ""
    return text
