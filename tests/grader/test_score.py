"""Points: each row on its own evidence."""

from __future__ import annotations

import pytest

from grader.assignment import Row
from grader.result import GRAVITY, CheckResult, Verdict
from grader.score import describe, gravest, score_row, score_rows
from tests.grader.builders import assignment, check_result, evidence

ROW = Row.model_validate({"id": "adamw", "title": "AdamW", "points": 10, "checks": ["alone", "whole"]})
NOT_PASSED = [verdict for verdict in GRAVITY if verdict != "pass"]


def results(alone: Verdict, whole: Verdict) -> dict[str, CheckResult]:
    return {
        "alone": check_result(alone, id="alone"),
        "whole": check_result(whole, id="whole", role="whole"),
    }


def test_all_checks_passed() -> None:
    row = score_row(ROW, results("pass", "pass"))
    assert (row.points, row.max_points, row.verdict) == (10, 10, "pass")


@pytest.mark.parametrize("verdict", NOT_PASSED)
def test_one_check_is_enough_to_lose_the_row(verdict: Verdict) -> None:
    for found in (results(verdict, "pass"), results("pass", verdict)):
        row = score_row(ROW, found)
        assert (row.points, row.verdict) == (0, verdict)


def test_the_direct_checks_speak_first() -> None:
    assert score_row(ROW, results("fail", "crashed")).verdict == "fail"


def test_direct_credit_leaves_the_whole_program_out() -> None:
    row = ROW.model_copy(update={"credit": "direct"})
    assert score_row(row, results("pass", "fail")).points == 10
    assert score_row(row, results("fail", "pass")).points == 0


def test_direct_credit_without_a_direct_check_rests_on_the_whole() -> None:
    row = ROW.model_copy(update={"credit": "direct", "checks": ["whole"]})
    assert score_row(row, results("pass", "fail")).points == 0


def test_a_check_without_a_result_is_an_error_and_no_point() -> None:
    with pytest.raises(KeyError):
        score_row(ROW, {})


def test_a_row_in_parts_has_the_points_of_what_passed() -> None:
    row = ROW.model_copy(update={"parts": {"alone": 7, "whole": 3}})
    assert score_row(row, results("pass", "pass")).points == 10
    assert score_row(row, results("pass", "fail")).points == 7
    assert score_row(row, results("crashed", "pass")).points == 3
    assert score_row(row, results("fail", "fail")).points == 0


@pytest.mark.parametrize("verdict", NOT_PASSED)
def test_any_verdict_is_graver_than_a_pass(verdict: Verdict) -> None:
    assert gravest(["pass", verdict, "pass"]) == verdict


def test_a_pass_shows_its_closest_call() -> None:
    near = check_result(evidence=[evidence(error=1e-9), evidence(tensor="dbias", error=5e-5)])
    row = ROW.model_copy(update={"checks": ["alone"]})
    assert score_row(row, {"alone": near}).detail == "largest error 5.0e-05 in dbias (limit 1e-04)"


def test_a_failure_shows_its_first_wrong_tensor() -> None:
    row = score_row(ROW, results("fail", "pass"))
    assert row.detail == "dinp[b=1, c=2] is 1.5, should be 1 (3 of 6 wrong)"


def test_inferred_is_said_of_the_deciding_checks() -> None:
    found = {"alone": check_result(inferred=True), "whole": check_result(role="whole")}
    assert score_row(ROW, found).inferred
    found = {"alone": check_result(inferred=True), "whole": check_result("fail", role="whole")}
    assert not score_row(ROW, found).inferred


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("missing", "dinp was not handed back"),
        ("shape", "dinp has shape [3], should be [2, 3]"),
        ("type", "dinp is of type [3]"),
    ],
)
def test_what_is_wrong_before_the_numbers(reason: str, said: str) -> None:
    assert describe(evidence(False, reason=reason, note="[3]", got=None, expected=None)) == said


def test_not_finite_is_said_in_words() -> None:
    assert describe(evidence(False, got=None)).startswith("dinp[b=1, c=2] is not a finite number, should be 1")


@pytest.mark.parametrize(
    ("share", "told"),
    [(0.0, "0 %"), (1e-9, "less than 0.01 %"), (1.7e-3, "0.2 %"), (0.031, "3 %"), (0.43, "43 %"), (1.0, "100 %")],
)
def test_a_share_of_what_is_allowed_is_told_in_percent(share: float, told: str) -> None:
    found = check_result(evidence=[evidence(error=share, limit=1.0, of_allowed=True)])
    row = assignment().rows[0]
    assert score_row(row, {"probe": found}).detail == f"largest error in dinp: {told} of what is allowed"


def test_rows_come_in_the_order_of_the_table() -> None:
    rows = [
        {"id": "one", "title": "One", "points": 4, "checks": ["probe"]},
        {"id": "two", "title": "Two", "points": 6, "checks": ["probe"]},
    ]
    table = assignment(rows=rows)
    scored = score_rows(table, table.rows[::-1], {"probe": check_result()})
    assert [(row.id, row.points) for row in scored] == [("one", 4), ("two", 6)]
