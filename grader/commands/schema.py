"""``./grade schema``: the JSON Schema of a result, as ``docs/result.schema.json`` holds it."""

from __future__ import annotations

import sys

from grader.errors import EXIT_GRADED
from grader.parsing import Parser
from grader.report.json import schema
from grader.report.plain import dumps
from grader.report.stdout import shown


def run(arguments: list[str]) -> int:
    """Prints it; returns the exit code."""
    Parser(prog="grade schema", description="The JSON Schema of a result.").parse_args(arguments)
    with shown():
        sys.stdout.write(dumps(schema()))
    return EXIT_GRADED
