"""Markdown as GitHub and GitLab show it: the table, then what each lost row rests on.

Text from the student's side stands in code spans and code blocks alone, whose fences are longer than any inside: no
link, no picture, no mention and no HTML comes out of it.
"""

from __future__ import annotations

import re

from grader.report.plain import clip, headline, one_line, remarks, row_text
from grader.report.target import put
from grader.result import Result, RowResult, words

MOST_OF_A_ROW = 6_000  # characters
MOST_OF_A_CELL = 300
_RUNS = re.compile("`+")
_SIGNS = re.compile(r"[!-/:-@\[-`{-~]")
SIGNS = {"pass": "✅", "not_implemented": "⬜", "blocked": "⬜", "hidden": "🔒"}
LOST = "❌"


def write(result: Result, target: str) -> None:
    """Writes it."""
    put(render(result), target)


def render(result: Result, most: int = MOST_OF_A_ROW) -> str:
    """The result as Markdown; at most so many characters for each row."""
    parts = [f"## {escaped(result.title)}\n\n**{headline(result)}**\n", _table(result)]
    if told := remarks(result):
        parts.append(block(told))
    parts += [_details(row, most) for row in result.rows if row.verdict not in SIGNS]
    parts.append(_facts(result))
    return "\n".join(parts)


def escaped(text: str) -> str:
    """Text of ours, e.g. a title, in which no sign is markup."""
    return _SIGNS.sub(r"\\\g<0>", one_line(text))


def span(text: str) -> str:
    """Text as a code span; a backslash keeps its bars from ending a cell of a table."""
    text = one_line(text, MOST_OF_A_CELL).strip()
    if not text:
        return ""
    fence = _fence(text, 1)
    pad = " " if "`" in (text[0], text[-1]) else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")


def block(text: str) -> str:
    """Text as a code block."""
    fence = _fence(text, 3)
    return f"{fence}text\n{text}\n{fence}\n"


def _fence(text: str, least: int) -> str:
    return "`" * max([least, *(len(run) + 1 for run in _RUNS.findall(text))])


def _table(result: Result) -> str:
    lines = ["| row | points | | |", "|---|---:|---|---|"]
    for row in result.rows:
        sign = SIGNS.get(row.verdict, LOST)
        verdict = f"{sign} {words(row.verdict, row.inferred)}"
        lines.append(f"| {span(row.title)} | {row.points}/{row.max_points} | {verdict} | {span(row.detail)} |")
    lines.append(f"| **total** | **{result.score}/{result.max_score}** | | |\n")
    return "\n".join(lines)


def _details(row: RowResult, most: int) -> str:
    summary = f"<summary>{row.id}: {words(row.verdict, row.inferred)}</summary>"
    return f"<details>{summary}\n\n{block(clip(row_text(row), most))}\n</details>\n"


def _facts(result: Result) -> str:
    sets = span(" and ".join(result.sets))
    return f"Fixtures {sets}, sandbox {span(result.sandbox)}, grader {span(result.grader)}.\n"
