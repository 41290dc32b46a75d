"""Submissions that are alike: found under other names, comments and order; the template alone makes no pair."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.home import ROOT
from grader.similarity.pairs import alike, read
from tests.support import run_command

SOLVED = ROOT / "reference" / "A2" / "train_gpt2.c"
TEMPLATE = ROOT / "student_template" / "A2" / "train_gpt2.c"


def hand_in(folder: Path, who: str, text: str, name: str = "train_gpt2.c") -> None:
    (folder / who).mkdir(parents=True)
    (folder / who / name).write_text(text)


def disguised(text: str) -> str:
    """Other names, other comments, other blanks."""
    renamed = re.sub(r"\bdinp\b", "grad_in", re.sub(r"\bsum\b", "acc", text))
    return renamed.replace("    ", "  ").replace(";\n", "; // mine\n", 40)


def test_a_copy_is_found_under_other_names_and_shown_side_by_side(tmp_path: Path) -> None:
    folder, page = tmp_path / "in", tmp_path / "page.html"
    solved = SOLVED.read_text()
    hand_in(folder, "ann", solved)
    hand_in(folder, "bob", disguised(solved))
    hand_in(folder, "cid", TEMPLATE.read_text())
    hand_in(folder, "dan", TEMPLATE.read_text() + "\n// <script>alert(1)</script>\n")
    hand_in(folder, "eve", "", "notes.txt")
    done = run_command("similarity", folder, "--html", page)
    assert done.exit == 0, done.stderr
    assert re.search(r"^\s*(9\d|100)%  ann  bob$", done.stdout, re.MULTILINE)
    assert "1 pairs" in done.stdout  # what two templates share is the template
    text = page.read_text(encoding="utf-8")
    assert text.count("<mark>") > 2
    assert "<script" not in text


def test_three_of_a_small_class_who_share_are_three_pairs() -> None:
    shared = read("a.py", b"".join(b"def f%d(x):\n    return x * %d + len(x)\n" % (n, n) for n in range(9)))
    found = alike({who: {"a.py": shared} for who in ("ann", "bob", "cid")}, 0.3, 10)
    assert [(pair.a, pair.b) for pair in found] == [("ann", "bob"), ("ann", "cid"), ("bob", "cid")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere",), "there is nothing at"),
        ((".", "--min", "2"), "--min"),
        ((".",), "fewer than two"),
    ],
)
def test_what_cannot_be_compared_is_told(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    hand_in(tmp_path, "ann", TEMPLATE.read_text())
    done = run_command("similarity", *arguments, cwd=tmp_path)
    assert done.exit == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
