"""Canvas's gradebook, to be imported there.

https://community.canvaslms.com and the importer's source say how it is read: the student by ID, then SIS User ID, then
SIS Login ID, then name; `Section` is the last column before the assignment's; the second row may say how many points
there are. An empty cell leaves the grade as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.report.batch import Entry, table

HEADER = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS_POSSIBLE = "    Points Possible"  # the importer knows the row by these words, blanks aside


def render(entries: Sequence[Entry], column: str) -> str:
    """The gradebook; ``column`` is the assignment's heading in Canvas, e.g. ``A2 (12345)``."""
    most = max((result.max_score for _, result in entries if result), default=0)
    rows: list[Sequence[object]] = [(*HEADER, column), (POINTS_POSSIBLE, "", "", "", "", most)]
    for student, result in entries:
        known = (student.name, student.id, student.sis_id, student.login, student.section)
        rows.append((*known, result.score if result else ""))
    return table(rows)
