"""Confined processes: one interface, several walls; the strongest that the machine allows is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from grader.errors import UsageError
from grader.sandbox.box import Box, Outcome, Sandbox
from grader.sandbox.bubblewrap import Bubblewrap
from grader.sandbox.launched import Landlock, Limits
from grader.sandbox.user import User

__all__ = ["NAMES", "Box", "Outcome", "Sandbox", "choose"]


class Wall(Sandbox, Protocol):
    """A sandbox that can say whether it works here."""

    def unusable(self) -> str | None:
        """Why not; None where it does."""
        ...


# strongest first
WALLS: dict[str, Callable[[], Wall]] = {"bubblewrap": Bubblewrap, "user": User, "landlock": Landlock}
LIMITS = "limits"
NAMES = ("auto", *WALLS, LIMITS)


def choose(name: str = "auto", required: bool = False) -> Sandbox:
    """The sandbox of that name, or the strongest that works here.

    Raises:
        UsageError: the one asked for does not work here, or none does and one is required.
    """
    if name == LIMITS:
        if required:
            raise UsageError("--require-sandbox: limits alone are no sandbox")
        return Limits()
    reasons: list[str] = []
    for known, make in WALLS.items():
        if name in ("auto", known):
            wall = make()
            if (reason := wall.unusable()) is None:
                return wall
            reasons.append(f"{known}: {reason}")
    if required or name != "auto":
        raise UsageError("no sandbox works here; " + "; ".join(reasons) + " (./grade doctor says more)")
    return Limits()
