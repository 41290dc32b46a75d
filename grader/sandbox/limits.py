"""Limits alone: what a laptop has. The result says ``sandbox: none``."""

from __future__ import annotations

from grader.sandbox.box import Box, Outcome, run_confined


class LimitsAlone:
    """An own session with bounded time and output; the driver lowers its resource limits itself."""

    name = "none"

    def run(self, box: Box) -> Outcome:
        """Runs the command as the same user, with the box's environment alone."""
        return run_confined(box.command, box)
