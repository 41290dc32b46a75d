"""What this machine can do: whether it can grade, behind which walls, and what to install or allow."""

from grader.doctor.findings import Finding, State
from grader.doctor.machine import examine

__all__ = ["Finding", "State", "examine"]
