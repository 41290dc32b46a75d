"""The result as one HTML file: no network, no script, light and dark, on a phone and on paper.

Whatever comes from the student's side is escaped by the templates and made visible by `texts.visible`; a content
security policy forbids all but the page's own styles, should anything get through.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grader.report import html_charts, html_pictures, kernels
from grader.report.evidence import layers
from grader.report.html_calls import call_rows
from grader.report.target import put
from grader.report.texts import bounded, visible
from grader.result import Evidence, Result, RowResult, Verdict, words
from grader.score import describe, measured_error

TEMPLATES = Path(__file__).parent / "templates"
MOST_DRAWN = 900_000  # characters of all heat maps; the page stays below 2 MB
MOST_NAMES = 100  # of files that are listed
SIGNS: dict[Verdict, str] = {
    "pass": "✓",
    "fail": "✗",
    "not_implemented": "–",
    "crashed": "✗",
    "timed_out": "✗",
    "blocked": "■",
    "hidden": "?",
}


@dataclass
class Pen:
    """Draws heat maps until the page has enough of them."""

    left: int = MOST_DRAWN

    def heat_map(self, evidence: Evidence) -> html_pictures.HeatMap | None:
        """The pictures of a wrong tensor, or None."""
        found = html_pictures.heat_map(evidence)
        if found is None or found.size > self.left:
            return None
        self.left -= found.size
        return found


@cache
def _environment() -> Environment:
    found = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(
        bounded=bounded, number=html_charts.number, describe=describe, layers=layers, measured=measured_error
    )
    found.globals.update(
        sign=SIGNS.__getitem__,
        words=words,
        again=again,
        strip=html_charts.strip,
        curve=html_charts.curve,
        call_rows=call_rows,
        kernels_compiled=kernels.compiled,
        kernels_ran=kernels.ran,
        speed_lines=kernels.speed_lines,
        most_names=MOST_NAMES,
    )
    return found


def _finalize(value: object) -> object:
    """What is put into the page: text is made visible and bounded, wherever it comes from; then it is escaped."""
    return visible(bounded(value)) if isinstance(value, str) and not isinstance(value, Markup) else value


def page(template: str, **values: object) -> str:
    """A page from one of the templates."""
    return _environment().get_template(template).render(**values)


def parts(template: str, **values: object) -> Iterator[str]:
    """The same bit by bit: a page of thousands of lines need not lie in memory."""
    return _environment().get_template(template).generate(**values)


def text(result: Result) -> str:
    """The page."""
    return page("report.html.j2", r=result, heat_map=Pen().heat_map)


def write(result: Result, target: str) -> None:
    """Writes it."""
    put(text(result), target)


def again(result: Result, row: RowResult) -> str:
    """The command that grades a row once more."""
    return f"./grade {result.assignment} {shlex.quote(result.submission.origin)} --only {row.id}"
