"""The two ways in which the grader itself ends: wrong usage, and an error of the infrastructure."""

from __future__ import annotations

EXIT_GRADED = 0
EXIT_BELOW_MINIMUM = 1
EXIT_USAGE = 2
EXIT_INFRASTRUCTURE = 3


class GraderError(Exception):
    """An error with one clear message for the user and an exit code; never a score."""

    exit_code = EXIT_INFRASTRUCTURE
    kind = "infrastructure error, nothing was scored"


class UsageError(GraderError):
    """The command, or the submission it names, is not something that can be graded."""

    exit_code = EXIT_USAGE
    kind = "usage"


class InfrastructureError(GraderError):
    """The machine or the installation is at fault; the submission was not judged."""


class NotShownError(GraderError):
    """The submission was judged, but what came of it could not be written where it was to be."""

    kind = "infrastructure error"
