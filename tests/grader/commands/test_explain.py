"""``./grade explain``: a row in words, from the data."""

from __future__ import annotations

import pytest

from grader import assignment as assignments
from grader import cli
from grader.assignment import Assignment


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(["explain", *arguments]) == 0
    return capsys.readouterr().out


def test_a_row_says_what_is_checked_and_what_goes_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "A2", "attention_backward")
    for piece in (
        "A2, attention_backward: 20 points",
        "for t2 <= t:",
        "cases: small, ones, one-head, tails, accumulate",
        "dpreatt, dinp, datt: within 0.0001 of the tensor's largest element",
        "stopped after 5 s a case",
        "the factor 1/sqrt(HS) is missing in dQ and dK",
        "./grade A2 PATH --only attention_backward",
    ):
        assert piece in text
    assert len(said(capsys, "A2", "attention_backward", "--all")) > len(text)


@pytest.mark.parametrize("name", assignments.known_ids())
def test_every_row_is_readable_at_80_columns(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for row in assignments.load(name).rows:
        text = said(capsys, name, row.id)
        assert max(len(line) for line in text.splitlines()) <= 80, row.id
        assert f"{row.points} points" in text


def test_parts_are_told_with_their_points(capsys: pytest.CaptureFixture[str]) -> None:
    assert "two calls add up, 4 points" in said(capsys, "HW2", "backpropagate")


def test_a_function_names_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert "A2, gelu_backward and residual_backward: 10 points" in said(capsys, "A2", "residual_backward")
    assert "A2, gpt2_backward wires" in said(capsys, "A2", "gpt2_backward"), "the row of that name comes first"


def test_without_a_row_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "A2")
    assert "   20  attention_backward\n" in text
    assert "  100  total" in text


def test_a_row_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "A2", "attention"]) == 2
    assert "A2 has no row `attention`; its rows are: zero_grad" in capsys.readouterr().err


def test_a_hidden_check_is_named_and_no_more(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    a2 = assignments.load("A2")
    hidden = a2.checks["no_targets"].model_copy(update={"visibility": "hidden"})
    changed = a2.model_copy(update={"checks": {**a2.checks, "no_targets": hidden}})

    def load(name: str) -> Assignment:
        return changed

    monkeypatch.setattr(assignments, "load", load)
    text = said(capsys, "A2", "gpt2_backward")
    assert "gpt2_backward without targets stops with an error: not shown to students" in text
    assert "stopped: exactly" not in text
