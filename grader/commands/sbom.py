"""``./grade sbom [--out PATH]``: what the grader consists of where it runs, as a software bill of materials."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from grader.errors import EXIT_GRADED, UsageError
from grader.parsing import Parser
from grader.report.plain import dumps
from grader.report.stdout import shown
from grader.sbom import bill

DESCRIPTION = """\
Lists the Python packages, the Python and the system's packages that grade here, in CycloneDX's JSON.
In the TAs' image it is in /opt/tensorgrade/sbom.cdx.json, too.
"""


def run(arguments: Sequence[str]) -> int:
    """Writes it; returns the exit code."""
    parser = Parser(prog="grade sbom", description=DESCRIPTION)
    parser.add_argument("--out", type=Path, metavar="PATH", help="a file (default: standard output)")
    asked = parser.parse_args(arguments)
    text = dumps(bill())
    if asked.out is None:
        with shown():
            sys.stdout.write(text)
        return EXIT_GRADED
    try:
        asked.out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--out: {asked.out} cannot be written: {error.strerror}") from error
    return EXIT_GRADED
