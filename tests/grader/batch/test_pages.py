"""The class's page: true to the ledger, inert, one file."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from pathlib import Path

from grader.batch import pages
from grader.batch.ledger import FILE, Ledger
from grader.batch.overview import overview
from tests.grader.batch.made_up import ROWS, WHYS, class_of


class Elements(HTMLParser):
    """The elements of a page, and their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_what_the_page_says_is_what_the_ledger_holds(tmp_path: Path) -> None:
    seen = overview(class_of(tmp_path, 60), "A2")
    scores = [person.score for person in seen.scored]
    assert len(seen.people) == 60
    assert 0 < len(seen.unscored) < 10
    assert sum(found.count for found in seen.bins) == len(scores)
    assert [row.id for row in seen.rows] == [name for name, _ in ROWS]
    for place, row in enumerate(seen.rows):
        got = [person.points[place] for person in seen.scored]
        assert row.passed == sum(points == row.most for points in got)
        assert len(row.lost) == row.of - row.passed
    counts = [len(mistake.people) for mistake in seen.mistakes]
    assert counts == sorted(counts, reverse=True)
    assert {mistake.text for mistake in seen.mistakes} == set(WHYS)
    assert all(person.crashed == bool({"crashed", "timed_out"} & set(person.verdicts)) for person in seen.people)
    assert seen.slowest[0].seconds == max(person.seconds for person in seen.people)


def test_a_score_at_an_edge_is_counted_once(tmp_path: Path) -> None:
    seen = overview(class_of(tmp_path, 40, seed=3), "A2")
    assert seen.bins[0].low == 0
    assert seen.bins[-1].high == seen.most
    for before, after in zip(seen.bins, seen.bins[1:], strict=False):
        assert before.high == after.low


def test_the_page_is_inert_and_leads_to_each_student(tmp_path: Path) -> None:
    book = class_of(tmp_path, 30)
    page, index = pages.write(book, "A2", tmp_path)
    text = page.read_text(encoding="utf-8")
    elements = Elements()
    elements.feed(text)
    assert not {"script", "iframe", "img", "link", "object"} & {tag for tag, _ in elements.found}
    assert not any(name.startswith("on") for _, attributes in elements.found for name in attributes)
    assert html.escape(WHYS[2]) in text
    links = {str(attributes["href"]) for tag, attributes in elements.found if tag == "a"}
    scored = overview(book, "A2").scored
    assert {f"A2/{person.key}/report.html" for person in scored} <= links
    assert not re.search(r"https?://", text.replace("http://www.w3.org/2000/svg", ""))
    assert 'href="A2.html"' in index.read_text(encoding="utf-8")


def test_an_empty_ledger_has_a_page(tmp_path: Path) -> None:
    page, _ = pages.write(Ledger(tmp_path / FILE), "A2", tmp_path)
    assert "0 graded" in page.read_text(encoding="utf-8")


def test_the_same_ledger_gives_the_same_bytes(tmp_path: Path) -> None:
    book = class_of(tmp_path, 10)
    assert [p.read_bytes() for p in pages.write(book, "A2", tmp_path)] == [
        p.read_bytes() for p in pages.write(book, "A2", tmp_path)
    ]
