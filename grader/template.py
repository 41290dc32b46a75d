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


def solutions(text: str, name: str) -> list[range]:
    """The marked regions of a solved file: the numbers of their lines from 0, both marks among them.

    Raises:
        InfrastructureError: the marks do not pair up, or there are none.
    """
    found: list[range] = []
    begun: int | None = None
    for number, line in enumerate(text.splitlines()):
        begins, ends = bool(_BEGIN.match(line)), bool(_END.match(line))
        if (begins and begun is not None) or (ends and begun is None):
            raise InfrastructureError(f"{name}:{number + 1}: the solution's marks do not pair up")
        if ends and begun is not None:
            found.append(range(begun, number + 1))
        begun = number if begins else None if ends else begun
    if begun is not None or not found:
        raise InfrastructureError(f"{name}: a solution is not ended, or there is none")
    return found


def cut(text: str, name: str) -> str:
    """The template of a solved file.

    Raises:
        InfrastructureError: the marks do not pair up, or there is nothing to cut.
    """
    left_out = {number for region in solutions(text, name) for number in region}
    kept: list[str] = []
    for number, line in enumerate(text.splitlines(keepends=True)):
        if number not in left_out:
            match = _TEMPLATE_ONLY.match(line)
            kept.append(match["indent"] + match["text"] if match else line)
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
            template.parent.mkdir(parents=True, exist_ok=True)
            template.write_text(cut(solved.read_text("utf-8"), str(solved)), encoding="utf-8")
    return written
