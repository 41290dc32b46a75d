"""Grading again after a save: the rows that it touches, and everything where that is unclear."""

from __future__ import annotations

import pytest

from grader import again
from grader import assignment as assignments
from grader.home import ROOT
from grader.result import AdviceNote
from grader.submission import Taken
from tests.grader.builders import assignment, check_result, result, row_result

A2 = assignments.load("A2")
HW2 = assignments.load("HW2")


def taken(name: str, **changes: tuple[str, str]) -> Taken:
    """The reference as a submission, with some text in place of other."""
    rules = assignments.load(name).submission
    texts = {file: (ROOT / "reference" / name / file).read_text() for file in rules.files}
    for old, new in changes.values():
        held = [file for file, text in texts.items() if old in text]
        assert held, old
        texts[held[0]] = texts[held[0]].replace(old, new, 1)
    return Taken("here", {file: text.encode() for file, text in texts.items()})


def touched(name: str, old: str, new: str) -> list[str] | None:
    found = assignments.load(name)
    return again.touched(found, taken(name), taken(name, change=(old, new)))


C: list[tuple[str, str, list[str] | None]] = [
    ("dscore[t2] * scale", "dscore[t2]", ["attention_backward", "adamw"]),
    ("dx[c] += r *", "dx[c] -= r *", ["layernorm_backward", "adamw"]),
    ("for (int l = L - 1; l >= 0; l--)", "for (int l = 0; l < L; l++)", ["gpt2_backward", "adamw"]),
    ("// score[t2] = scale * q[t] . k[t2]", "// another word", []),
    ("#include <math.h>", "#include <tgmath.h>", None),
]


@pytest.mark.parametrize(("old", "new", "rows"), C)
def test_rows_of_c(old: str, new: str, rows: list[str] | None) -> None:
    assert touched("A2", old, new) == rows


def test_the_forward_pass_touches_everything() -> None:
    text = taken("A2").files["train_gpt2.c"].decode()
    head = next(line for line in text.splitlines() if line.startswith("void gpt2_forward("))
    assert touched("A2", head, head + " ;") is None
    helper = next(line for line in text.splitlines() if "residual_into_layer(" in line and line.endswith("{"))
    assert touched("A2", helper, helper + " ;") is None, "the forward pass uses it"


PYTHON: list[tuple[str, str, set[str] | None]] = [
    ("def topological_sort(", "def topological_sort(  # here\n    ", set()),
    ("class Linear(", "class Linear(  # here\n    ", set()),
]


@pytest.mark.parametrize(("old", "new", "rows"), PYTHON)
def test_comments_touch_nothing(old: str, new: str, rows: set[str]) -> None:
    assert touched("HW2", old, new) == []


def test_rows_of_python() -> None:
    loss = touched("HW2", "def binary_cross_entropy_loss(", "@staticmethod\ndef binary_cross_entropy_loss(")
    assert loss == ["binary_cross_entropy_loss", "training_loop", "validation_loop", "accuracy"]
    linear = touched("HW2", "class Linear(", "@object\nclass Linear(")
    assert linear is not None
    assert {"linear_init", "linear_forward", "network_init", "network_forward", "training_loop"} <= set(linear)
    assert "topological_sort" not in linear
    sort = touched("HW2", "def topological_sort(", "@object\ndef topological_sort(")
    assert sort == ["topological_sort", "backpropagate", "accuracy"]


def test_a_file_that_comes_or_cannot_be_taken_touches_everything() -> None:
    less = Taken("here", dict(list(taken("HW2").files.items())[:1]))
    assert again.touched(HW2, less, taken("HW2")) is None
    broken = Taken("here", taken("A2").files, problems=["it is 200 MB"])
    assert again.touched(A2, broken, taken("A2")) is None


@pytest.mark.parametrize("changes", [{"inferred": True}, {"verdict": "blocked"}])
def test_inferred_rows_are_not_left_as_they_were(changes: dict[str, object]) -> None:
    assert again.trusted(result())
    row = row_result("fail", checks=[check_result("fail").model_copy(update=changes)])
    assert not again.trusted(result(row))
    assert not again.trusted(result(problems=["it does not compile"]))


def test_new_rows_stand_beside_the_others() -> None:
    data = assignment().model_dump()
    data |= {"total": 20, "rows": [*data["rows"], {**data["rows"][0], "id": "second", "checks": ["other"]}]}
    data["checks"]["other"] = data["checks"]["probe"]
    two = type(assignment()).model_validate(data)
    old = result(
        row_result("fail", checks=[check_result("fail")]),
        row_result("fail", id="second", checks=[check_result("fail", id="other")]),
        advice=[AdviceNote(check="probe", text="old"), AdviceNote(check="other", text="kept")],
    )
    new = result(row_result(), complete=False, advice=[AdviceNote(check="probe", text="new")])
    found = again.beside(two, old, new)
    assert [(row.id, row.verdict) for row in found.rows] == [("first", "pass"), ("second", "fail")]
    assert (found.score, found.max_score, found.complete) == (10, 20, True)
    assert [note.text for note in found.advice] == ["kept", "new"]
