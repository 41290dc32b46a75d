"""Cutting the student template from the reference: nothing is written twice.

In the reference, the lines from ``BEGIN SOLUTION`` to ``END SOLUTION`` (in a comment) are the solution and
are left out of the template. A line ``//| text`` or ``#| text`` stands in the template alone: there its
marker is taken off.
"""

from __future__ import annotations

import re
from pathlib import Path

from grader.assignment import Assignment
from grader.errors import InfrastructureError
from grader.home import ROOT

_BEGIN = re.compile(r"^\s*(?://|#)\s*BEGIN SOLUTION\s*$")
_END = re.compile(r"^\s*(?://|#)\s*END SOLUTION\s*$")
_TEMPLATE_ONLY = re.compile(r"^(?P<indent>\s*)(?://|#)\| ?(?P<text>.*)$", re.DOTALL)


def cut(text: str, name: str) -> str:
    """The template of a solved file.

    Raises:
        InfrastructureError: the marks do not pair up, or there is nothing to cut.
    """
    kept: list[str] = []
    inside, regions = False, 0
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        begins, ends = bool(_BEGIN.match(line)), bool(_END.match(line))
        if (begins and inside) or (ends and not inside):
            raise InfrastructureError(f"{name}:{number}: the solution's marks do not pair up")
        regions += begins
        if not inside and not begins:
            match = _TEMPLATE_ONLY.match(line)
            kept.append(match["indent"] + match["text"] if match else line)
        inside = begins or (inside and not ends)
    if inside or not regions:
        raise InfrastructureError(f"{name}: a solution is not ended, or there is none")
    return "".join(kept)


def pairs(assignment: Assignment) -> list[tuple[Path, Path]]:
    """(solved file, template file) of each file that the assignment names."""
    return [
        (ROOT / "reference" / assignment.id / name, ROOT / "student_template" / assignment.id / name)
        for name in assignment.submission.files
    ]


def stale(assignment: Assignment) -> list[Path]:
    """Template files that are not what cutting gives."""
    return [
        template
        for solved, template in pairs(assignment)
        if not template.is_file() or template.read_text("utf-8") != cut(solved.read_text("utf-8"), str(solved))
    ]


def write(assignment: Assignment) -> list[Path]:
    """Writes the template files that are stale; returns them."""
    written = stale(assignment)
    for solved, template in pairs(assignment):
        if template in written:
            template.write_text(cut(solved.read_text("utf-8"), str(solved)), encoding="utf-8")
    return written
