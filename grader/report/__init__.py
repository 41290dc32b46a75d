"""Writers: each turns a result into one form, and knows nothing of how it came about.

A writer is a module of this package with ``write(result: Result, target: str) -> None``; `grader.report.target.put`
does the writing. Its line in `WRITERS` says who reads what it writes; one for a course site takes both results.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from grader.errors import UsageError
from grader.report import target
from grader.result import Result

# student: gets the result without what students may not see yet. staff: gets it whole. site: a course site that hides
# by itself what students may not see gets both.
Audience = Literal["student", "staff", "site"]


@dataclass(frozen=True)
class Writer:
    """A form that a result can take.

    Attributes:
        module: of this package.
        audience: who reads it.
        about: what it is for, for the help text.
        once: it adds to what is there, and is written at the end alone.
    """

    module: str
    audience: Audience
    about: str
    once: bool = False


WRITERS = {
    "json": Writer("json", "staff", "the whole result, for programs"),
    "html": Writer("html", "student", "a page with pictures, in one file"),
    "staff-html": Writer("html", "staff", "the same, with what students do not see"),
    "junit": Writer("junit", "student", "JUnit XML, for GitLab, Jenkins and others"),
    "gradescope": Writer("gradescope", "site", "Gradescope's results.json"),
    "prairielearn": Writer("prairielearn", "student", "PrairieLearn's results.json"),
    "autolab": Writer("autolab", "student", "Autolab's standard output"),
    "github": Writer("github", "student", "GitHub Actions: annotations, and the step's summary", once=True),
    "classroom50": Writer("classroom50", "student", "Classroom 50's result.json"),
    "check50": Writer("check50", "student", "the JSON of check50"),
    "markdown": Writer("markdown", "student", "Markdown, as GitHub and GitLab show it"),
    "badge": Writer("badge", "student", "the score as an SVG badge"),
}


@dataclass(frozen=True)
class Request:
    """A report that was asked for; ``option`` is how, for messages."""

    name: str
    target: str
    option: str

    @property
    def writer(self) -> Writer:
        """Its line in the table."""
        return WRITERS[self.name]

    def write(self, result: Result, told: Result) -> None:
        """Writes it; ``told`` is the result as students may see it.

        Raises:
            NotShownError: it cannot be written.
        """
        module = importlib.import_module(f"grader.report.{self.writer.module}")
        if self.writer.audience == "site":
            module.write(result, told, self.target)
        else:
            module.write(told if self.writer.audience == "student" else result, self.target)


def requests(reports: Iterable[str], json: str | None = None) -> list[Request]:
    """What ``--report NAME=PATH`` (any number) and ``--json PATH`` ask for, checked before anything is graded.

    Raises:
        UsageError: there is no such writer, two would write to one place, or a place cannot become a file.
    """
    asked = [_request(text) for text in reports]
    if json is not None:
        asked.append(Request("json", target.named(json), "--json"))
    for request in asked:
        target.check(request.option, request.target)
    _distinct(asked)
    return asked


def _request(text: str) -> Request:
    name, equals, path = text.partition("=")
    if not equals:
        raise UsageError(f"--report {text}: it takes NAME=PATH, e.g. --report json=result.json")
    if name not in WRITERS:
        raise UsageError(f"--report {text}: there is no report `{name}`; there are: {', '.join(WRITERS)}")
    return Request(name, target.named(path), f"--report {name}")


def _distinct(asked: Sequence[Request]) -> None:
    places = [target.place(request.target) for request in asked]
    for request, place in zip(asked, places, strict=True):
        if place and places.count(place) > 1:
            where = "standard output" if request.target == target.STDOUT else request.target
            raise UsageError(f"{request.option}: more than one report would be written to {where}")
