"""An assignment that is wrong in itself is refused when it is loaded."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from grader import assignment as assignments
from grader.assignment import Assignment
from grader.errors import UsageError
from tests.grader.builders import assignment, assignment_data

ROW = {"id": "first", "title": "First", "points": 10, "checks": ["probe"]}
CHECK = assignment_data()["checks"]["probe"]


@pytest.mark.parametrize("name", assignments.known_ids())
def test_the_committed_ones_load(name: str) -> None:
    loaded = assignments.load(name)
    assert loaded.id == name
    assert sum(row.points for row in loaded.rows) == loaded.total
    assert loaded.folder.is_dir()


def test_an_unknown_one_names_those_there_are() -> None:
    with pytest.raises(UsageError, match="no assignment `Z9`; there are: A2"):
        assignments.load("Z9")


def test_the_made_up_one_is_right() -> None:
    assert assignment().row("first").points == 10
    with pytest.raises(UsageError, match="second"):
        assignment().row("second")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"total": 11}, "the rows add up to 10 points, not to 11"),
    ({"rows": []}, "at least 1 item"),
    ({"rows": [{**ROW, "points": 5}, {**ROW, "points": 5}]}, "two rows bear the same id"),
    ({"rows": [{**ROW, "checks": []}]}, "at least 1 item"),
    ({"rows": [{**ROW, "checks": ["other"]}]}, "there is no check `other`"),
    ({"rows": [{**ROW, "points": 0}]}, "greater than 0"),
    ({"rows": [{**ROW, "points": -10}]}, "greater than 0"),
    ({"rows": [{**ROW, "points": 10.0}]}, "valid integer"),
    ({"rows": [{**ROW, "id": "First Row"}]}, "should match pattern"),
    ({"checks": {"probe": {**CHECK, "build": "fast"}}}, "there is no build `fast`"),
    ({"checks": {"probe": {**CHECK, "support": ["operators"]}}}, "there is no build `operators`"),
    ({"checks": {"probe": {**CHECK, "fallback": {"check": "no", "tensors": ["t"]}}}}, "there is no check `no`"),
    ({"checks": {"probe": {**CHECK, "fallback": {"check": "probe", "tensors": []}}}}, "at least 1 item"),
    ({"checks": {"probe": {**CHECK, "cases_min": 0}}}, "greater than or equal to 1"),
    ({"builds": {"plain": {"flags": [], "parts": ["fast"]}}}, "there is no build `fast`"),
    ({"advice": {"build": "fast", "checks": ["probe"]}}, "there is no build `fast`"),
    ({"advice": {"build": "plain", "checks": ["other"]}}, "there is no check `other`"),
    ({"transcript": "other"}, "there is no check `other`"),
    ({"rows": [{**ROW, "parts": {"probe": 9}}]}, "do not add up to 10"),
    ({"rows": [{**ROW, "parts": {"other": 10}}]}, "are not its checks"),
    ({"rows": [{**ROW, "parts": {"probe": 0}}]}, "greater than 0"),
    ({"rows": [{**ROW, "looks": ["other"]}]}, "there is no check `other`"),
    ({"checks": {"probe": {**CHECK, "instead": ["other"]}}}, "there is no check `other`"),
    ({"checks": {"probe": {**CHECK, "cases_of": "other"}}}, "there is no check `other`"),
    ({"colour": "red"}, "Extra inputs are not permitted"),
    ({"submission": {"files": [], "provided": [], "language": "c", "max_file_kb": 8}}, "at least 1 item"),
]


@pytest.mark.parametrize(("changes", "said"), REFUSED)
def test_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Assignment.model_validate({**assignment_data(), **changes})


@pytest.mark.parametrize("limit", sorted(assignment_data()["limits"]))
def test_a_limit_of_nothing_is_refused(limit: str) -> None:
    limits = assignment_data()["limits"]
    with pytest.raises(ValidationError, match="greater than 0"):
        assignment(limits={**limits, limit: 0})
    del limits[limit]
    with pytest.raises(ValidationError, match="Field required"):
        assignment(limits=limits)


def test_a_check_may_have_limits_of_its_own() -> None:
    own = {**assignment_data()["limits"], "wall_s": 99.0}
    table = assignment(checks={"probe": {**CHECK, "limits": own}})
    assert table.limits_of(table.checks["probe"]).wall_s == 99.0
    assert assignment().limits_of(assignment().checks["probe"]).wall_s == 10.0
