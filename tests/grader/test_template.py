"""Cutting the template from the reference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader import assignment as assignments
from grader import template
from grader.errors import InfrastructureError

C = """\
int f(void) {
    //| // TODO (A2)
    // BEGIN SOLUTION
    return 1;
    // END SOLUTION
    //|
    //| return 0;
}
"""
PYTHON = "def f():\n    #| raise NotImplementedError\n    # BEGIN SOLUTION\n    return 1\n    # END SOLUTION\n"


def test_the_solution_is_cut_and_the_hint_stands() -> None:
    assert template.cut(C, "x.c") == "int f(void) {\n    // TODO (A2)\n    \n    return 0;\n}\n"
    assert template.cut(PYTHON, "x.py") == "def f():\n    raise NotImplementedError\n"


def test_line_ends_are_kept() -> None:
    assert template.cut(C.replace("\n", "\r\n"), "x.c").count("\r\n") == 5
    assert template.cut(C.rstrip("\n"), "x.c").endswith("}")


def test_a_hint_inside_of_the_solution_goes_with_it() -> None:
    inside = "// BEGIN SOLUTION\n//| never shown\n// END SOLUTION\nx\n"
    assert template.cut(inside, "x.c") == "x\n"


def test_a_mark_within_a_line_is_text() -> None:
    text = 'say("// BEGIN SOLUTION");\n// BEGIN SOLUTION\n// END SOLUTION\n'
    assert template.cut(text, "x.c") == 'say("// BEGIN SOLUTION");\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("// BEGIN SOLUTION\n// BEGIN SOLUTION\n// END SOLUTION\n", "x.c:2: the solution's marks do not pair up"),
        ("a\n// END SOLUTION\n", "x.c:2: the solution's marks do not pair up"),
        ("// BEGIN SOLUTION\n", "x.c: a solution is not ended, or there is none"),
        ("int x;\n", "x.c: a solution is not ended, or there is none"),
        ("", "x.c: a solution is not ended, or there is none"),
    ],
)
def test_marks_that_do_not_pair_up(text: str, said: str) -> None:
    with pytest.raises(InfrastructureError, match=re.escape(said)):
        template.cut(text, "x.c")


@pytest.mark.parametrize("name", assignments.known_ids())
def test_the_committed_templates_are_what_cutting_gives(name: str) -> None:
    assert template.stale(assignments.load(name)) == []


@pytest.mark.parametrize("name", assignments.known_ids())
def test_no_mark_is_left_in_a_template(name: str) -> None:
    for _, path in template.pairs(assignments.load(name)):
        text = path.read_text("utf-8")
        assert "SOLUTION" not in text
        assert not re.search(r"^\s*(//|#)\|", text, re.MULTILINE)


def test_the_ten_functions_of_a2_are_left_to_do() -> None:
    ((_, path),) = template.pairs(assignments.load("A2"))
    assert path.read_text("utf-8").count("TODO (A2)") >= 10


def test_a_stale_template_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solved, cut = tmp_path / "solved.c", tmp_path / "template.c"
    solved.write_text(C)
    monkeypatch.setattr(template, "pairs", lambda _: [(solved, cut)])
    table = assignments.load("A2")
    assert template.stale(table) == [cut]
    assert template.write(table) == [cut]
    assert template.stale(table) == template.write(table) == []
    cut.write_text("changed by hand\n")
    assert template.stale(table) == [cut]
