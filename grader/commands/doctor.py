"""``./grade doctor``: what this machine can do, and what to install or allow."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from grader.doctor import Finding, State, examine
from grader.errors import EXIT_BELOW_MINIMUM, EXIT_GRADED, EXIT_INFRASTRUCTURE
from grader.parsing import Parser
from grader.report.plain import dumps
from grader.report.stdout import shown
from grader.report.texts import printable

SCHEMA = "tensorgrade/doctor/1"
MARKS: dict[State, str] = {"ok": "ok", "absent": "--", "broken": "NO"}
DESCRIPTION = """\
Tells whether this machine can grade, behind which sandbox, and what to install or allow.
exit codes: 0 it can, 1 it can, but behind no sandbox, 3 it cannot
"""


def run(arguments: Sequence[str]) -> int:
    """Looks, tells, returns the exit code."""
    parser = Parser(prog="grade doctor", description=DESCRIPTION)
    parser.add_argument("--json", action="store_true", help="as JSON")
    asked = parser.parse_args(arguments)
    found = list(examine())
    code = _code(found)
    with shown():
        sys.stdout.write(_as_json(found, code) if asked.json else _as_table(found, code))
    return code


def _code(found: Sequence[Finding]) -> int:
    if any(finding.state == "broken" for finding in found):
        return EXIT_INFRASTRUCTURE
    taken = next(finding for finding in found if finding.name == "sandbox that is taken")
    return EXIT_GRADED if taken.state == "ok" else EXIT_BELOW_MINIMUM


SUMS = {
    EXIT_GRADED: "this machine can grade",
    EXIT_BELOW_MINIMUM: "this machine can grade, but behind no sandbox: its scores are not to be trusted",
    EXIT_INFRASTRUCTURE: "this machine cannot grade: see what is marked NO",
}


def _as_json(found: Sequence[Finding], code: int) -> str:
    content = {"schema": SCHEMA, "exit": code, "found": [finding.model_dump() for finding in found]}
    return dumps(content)


def _as_table(found: Sequence[Finding], code: int) -> str:
    width = max(len(finding.name) for finding in found)
    lines = []
    for finding in found:
        lines.append(f"{MARKS[finding.state]}  {finding.name:<{width}}  {printable(finding.found)}")
        if finding.advice:
            lines.append(f"    {'':<{width}}  → {finding.advice}")
    return "\n".join([*lines, "", SUMS[code], ""])
