"""The result as JSON, versioned: ``schema`` is ``tensorgrade/result/1``."""

from __future__ import annotations

from typing import Any

from grader.report.target import put
from grader.result import SCHEMA, Result


def text(result: Result) -> str:
    """The result as JSON text; the same result gives the same bytes."""
    return result.model_dump_json(indent=2, by_alias=True) + "\n"


def write(result: Result, target: str) -> None:
    """Writes it."""
    put(text(result), target)


def schema() -> dict[str, Any]:
    """The JSON Schema of that text, made from the model."""
    found = Result.model_json_schema(by_alias=True, mode="serialization")
    found["properties"]["schema"] = {"const": SCHEMA}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found, "title": SCHEMA}
