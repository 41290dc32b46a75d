"""Autolab's standard output: the feedback, a line for its layout, and the scores on the last line.

https://docs.autolabproject.com/lab/ and https://docs.autolabproject.com/features/formatted-feedback/ say how it is
read. The problems of the assessment bear the rows' ids. Autolab puts quotes around every word before a colon on the
last line before it reads it, so that line holds names and numbers alone.
"""

from __future__ import annotations

import json
from typing import Any

from grader.report.plain import headline, remarks, row_line, row_text, row_title
from grader.report.target import put
from grader.result import Result, RowResult

STAGE = "Rows"
COLON = "\N{RATIO}"  # looks like one
MOST_OF_A_ROW = 4_000  # characters; Tango keeps 1000 KB of output


def write(result: Result, target: str) -> None:
    """Writes it."""
    put(render(result), target)


def render(result: Result) -> str:
    """The result as Autolab reads it."""
    texts = [f"{row_title(row)}\n{row_text(row, MOST_OF_A_ROW)}\n" for row in result.rows]
    feedback = [text for text in (headline(result), remarks(result), *texts) if text]
    rows = {row.id: _told(row) for row in result.rows}
    layout = {"_presentation": "semantic", "stages": [STAGE], STAGE: {"_order": list(rows), **rows}}
    scores = {"scores": {row.id: row.points for row in result.rows}, "scoreboard": [result.score]}
    return "\n".join([*feedback, json.dumps(layout), json.dumps(scores)]) + "\n"


def _told(row: RowResult) -> dict[str, Any]:
    if row.verdict == "pass":
        return {"passed": True}
    return {"passed": False, "hint": row_line(row).replace(":", COLON)}
