"""The result as JSON, versioned: ``schema`` is ``tensorgrade/result/1``."""

from __future__ import annotations

from grader.report.target import put
from grader.result import Result


def text(result: Result) -> str:
    """The result as JSON text; the same result gives the same bytes."""
    return result.model_dump_json(indent=2, by_alias=True) + "\n"


def write(result: Result, target: str) -> None:
    """Writes it."""
    put(text(result), target)
