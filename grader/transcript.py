"""The handout's own test, printed as it prints, from tensors that were handed back.

How it prints is the assignment's business: ``assignments/<ID>/transcript.py`` has a ``render``.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from grader.assignment import Assignment

if TYPE_CHECKING:
    from grader.judge import Judged


def transcript_of(assignment: Assignment, judged: Mapping[str, Judged]) -> str:
    """The transcript, empty where the check was not made or handed nothing back."""
    name = assignment.transcript
    if name is None or name not in judged or not judged[name].tensors:
        return ""
    case = next(iter(judged[name].tensors))
    expected = judged[name].expected[case]
    module = importlib.import_module(f"assignments.{assignment.id}.transcript")
    text: str = module.render(judged[name].params[case], judged[name].tensors[case], expected)
    return text
