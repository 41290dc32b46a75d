"""Tables over many results: read back as spreadsheets and Canvas read them."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.report import canvas
from grader.report import csv as table
from grader.report.batch import Line, Student, cell
from tests.grader.builders import result, row_result
from tests.grader.report.random_results import results, texts

ANN = Student("Last, Ann", id="7", sis_id="s1", login="ann", section="1")
BOB = Student("=cmd", login="@bob")
LINES = [
    Line.of(ANN, result(row_result(), row_result("fail", id="second", points=3))),
    Line.of(BOB, result(row_result("blocked"), problems=["x.c is missing\nmore"])),
    Line.of(Student("Nobody"), None),
]


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_canvas_reads_it_back() -> None:
    assert read(canvas.render(LINES, "A2 (12345)")) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "A2 (12345)"],
        ["    Points Possible", "", "", "", "", "20"],
        ["Last, Ann", "7", "s1", "ann", "1", "13"],
        ["'=cmd", "", "", "'@bob", "", "0"],
        ["Nobody", "", "", "", "", ""],
    ]


def test_the_table_has_a_column_for_each_row() -> None:
    head, ann, bob, nobody = read(table.render(LINES))
    assert head[:6] == ["student", "id", "sis_id", "login", "section", "score"]
    assert head[-2:] == ["first", "second"]
    found = dict(zip(head, ann, strict=True))
    assert (found["score"], found["max_score"], found["first"], found["second"]) == ("13", "20", "10", "3")
    assert dict(zip(head, bob, strict=True))["problem"] == "x.c is missing"
    assert nobody == ["Nobody", *[""] * (len(head) - 1)]


def test_nobody_gives_an_empty_table() -> None:
    assert len(read(table.render([]))) == 1
    assert len(read(canvas.render([], "A2 (1)"))) == 2


@given(texts)
def test_no_cell_is_a_formula(text: str) -> None:
    found = cell(text)
    assert not found.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert found.isprintable()


@pytest.mark.parametrize("name", ["a;=cmd", 'a; "=cmd"', "a;;+1;-1", "a\t=cmd", ";@x", "=1;=2"])
@pytest.mark.parametrize("parting", [",", ";", "\t", ",;", ",;\t"])
def test_no_cell_is_a_formula_whatever_parts_the_cells(name: str, parting: str) -> None:
    """As a spreadsheet reads them: a quote counts where a cell begins, and a user may choose several separators."""
    for text in (table.render([Line(Student(name, section=name), "1")]), canvas.render([Line(ANN, name)], name)):
        quoted = re.compile(f'(?:^|(?<=[{parting}]))"(?:[^"]|"")*"(?=[{parting}]|$)', re.MULTILINE)
        cells = re.split(f"[{parting}\n]", quoted.sub("quoted", text))
        assert not [one for one in cells if one.lstrip(' "').startswith(("=", "+", "-", "@"))]


def test_a_cell_with_a_semicolon_is_one_cell() -> None:
    assert canvas.render([Line(Student("Last; Ann", "7"), "1")], "A2 (1)").splitlines()[-1] == '"Last; Ann",7,,,,1'


def test_quoted_cells_are_read_back() -> None:
    for name in ('Last, "Ann"', '"', '""', ";", "a;b,c"):
        assert read(canvas.render([Line(Student(name), "1")], "A2 (1)"))[-1] == [name, "", "", "", "", "1"]


@settings(max_examples=20)
@given(st.lists(st.builds(Line.of, st.builds(Student, name=texts, login=texts, section=texts), results()), max_size=3))
def test_one_line_for_each_student_whatever_their_names(lines: list[Line]) -> None:
    for text, more in ((table.render(lines), 1), (canvas.render(lines, "A2 (1)"), 2)):
        rows = read(text)
        assert len(rows) == len(lines) + more
        assert len({len(row) for row in rows}) == 1
        assert text.count("\n") == len(rows)
