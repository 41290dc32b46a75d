"""The class's pages: one a class and assignment, and an index; each one file, no script, no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from grader.batch.ledger import Ledger
from grader.batch.overview import Overview, Person, overview
from grader.batch.work import REPORT
from grader.report import html
from grader.report.target import put, put_parts

INDEX = "index.html"


def parts(seen: Overview) -> Iterator[str]:
    """The page of an assignment, bit by bit."""
    return html.parts("class.html.j2", c=seen, link=lambda person: link(seen.assignment, person))


def link(assignment: str, person: Person) -> str:
    """Where a student's own page is, seen from the class's."""
    return f"{quote(assignment)}/{quote(person.key)}/{REPORT}"


def write(ledger: Ledger, assignment: str, out: Path) -> list[Path]:
    """Writes the page of an assignment, and the index anew.

    Raises:
        NotShownError: one cannot be written.
    """
    target = out / f"{assignment}.html"
    put_parts(parts(overview(ledger, assignment)), str(target))
    names: Sequence[str] = [row[0] for row in ledger.rows("SELECT DISTINCT assignment FROM submissions ORDER BY 1")]
    counts = {
        name: ledger.rows("SELECT count(*), count(run) FROM gradebook WHERE assignment = ?", name)[0] for name in names
    }
    lines = [(name, f"{quote(name)}.html", counts[name][0], counts[name][1]) for name in names]
    put(html.page("index.html.j2", lines=lines), str(out / INDEX))
    return [target, out / INDEX]
