"""What rows ask for, in words: every row has its text, and nothing in it contradicts the data."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import assignment as assignments
from grader import guide, tolerances
from grader.errors import InfrastructureError
from grader.fixtures import FaultText
from grader.tolerances import Limit
from tests.grader.builders import assignment


@pytest.mark.parametrize("name", assignments.known_ids())
def test_every_row_of_every_assignment_is_explained(name: str) -> None:
    found = assignments.load(name)
    assert guide.of_rows(found).keys() == {row.id for row in found.rows}
    for row in found.rows:
        for check in row.checks:
            assert guide.limits(found, check, tolerances.load()), f"{check}: no limit"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("first: {asks: a, formula: f, mistakes: [m]}\nother: {asks: a, formula: f, mistakes: [m]}", "other"),
        ("{}", "first"),
        ("first: {asks: a, formula: f, mistakes: []}", "mistakes"),
        ("first: {asks: a, formula: " + "f" * 77 + ", mistakes: [m]}", "longer than 76"),
        ("first: {asks: a, formula: f, mistakes: [m], points: 3}", "points"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / guide.FILE).write_text(text)
    monkeypatch.setattr(type(assignment()), "folder", tmp_path)
    with pytest.raises(InfrastructureError, match=told):
        guide.of_rows(assignment())


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"scale": "max", "rtol": 1e-4}, "within 0.0001 of the tensor's largest element"),
        ({"scale": "element", "rtol": 1e-3}, "each element within 0.001 of itself"),
        ({"scale": "absolute", "atol": 0.02}, "each element within 0.02"),
        ({"scale": "absolute", "atol": 0.0}, "exactly"),
        ({"scale": "order"}, "each node once, and before those that it was computed from"),
    ],
)
def test_limits_in_words(limit: dict[str, object], words: str) -> None:
    assert guide.in_words(Limit.model_validate({"source": "made up", **limit})) == words


@pytest.mark.parametrize("scale", sorted(Limit.model_fields["scale"].annotation.__args__))  # type: ignore[union-attr]
def test_every_kind_of_limit_has_words(scale: str) -> None:
    assert guide.in_words(Limit.model_validate({"source": "made up", "scale": scale}))


def test_mistakes_are_told_by_their_hint() -> None:
    def fault(row: str, says: str, hint: str) -> FaultText:
        return FaultText(id=says, row=row, check="probe", says=says, hint=hint)

    known = [fault("first", "a", "x"), fault("other", "b", "x"), fault("first", "c", "y"), fault("first", "d", "x")]
    assert guide.mistakes(assignment().rows[0], known) == [("x", ["a", "d"]), ("y", ["c"])]
