"""What was found, and what it means for grading."""

from __future__ import annotations

from typing import Literal

from grader.result import Record

# ok; something weaker takes its place; grading cannot be done without it
State = Literal["ok", "absent", "broken"]


class Finding(Record):
    """One thing that was looked at.

    Attributes:
        name: what.
        state: ``ok``; ``absent`` where something weaker takes its place; ``broken`` where grading cannot be done so.
        found: what there is.
        advice: what to install or allow; empty: nothing.
    """

    name: str
    state: State
    found: str
    advice: str = ""
