"""Confined processes: one interface, several walls; the strongest that the machine allows is taken."""

from __future__ import annotations

from grader.errors import UsageError
from grader.sandbox.box import Box, Outcome, Sandbox
from grader.sandbox.bubblewrap import Bubblewrap
from grader.sandbox.limits import LimitsAlone

__all__ = ["NAMES", "Box", "Outcome", "Sandbox", "choose"]

NAMES = ("auto", "bubblewrap", "limits")


def choose(name: str = "auto", required: bool = False) -> Sandbox:
    """The sandbox of that name, or the strongest that works here.

    Raises:
        UsageError: the one asked for does not work here, or none does and one is required.
    """
    wall = Bubblewrap()
    reason = wall.unusable() if name != "limits" else "not asked for"
    if reason is None:
        return wall
    if name == "bubblewrap" or required:
        raise UsageError(f"no sandbox: {reason}; without --require-sandbox, limits alone would be used")
    return LimitsAlone()
