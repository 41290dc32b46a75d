"""Canvas's gradebook, to be imported there.

https://community.canvaslms.com and the importer's source say how it is read: the student by ID, then SIS User ID, then
SIS Login ID, then name; `Section` is the last column before the assignment's; the second row may say how many points
there are. An empty cell leaves the grade as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.report.batch import Line, table

HEADER = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS_POSSIBLE = "    Points Possible"  # the importer knows the row by these words, blanks aside


def render(lines: Sequence[Line], column: str) -> str:
    """The gradebook; ``column`` is the assignment's heading in Canvas, e.g. ``A2 (12345)``."""
    most = max((line.most for line in lines), default=0)
    rows: list[Sequence[object]] = [(*HEADER, column), (POINTS_POSSIBLE, "", "", "", "", most)]
    for line in lines:
        known = line.student
        rows.append((known.name, known.id, known.sis_id, known.login, known.section, line.mark))
    return table(rows)
