"""What each course site makes of a result: what its students see, what costs an attempt, what is skipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as XML

import pytest

from grader.errors import NotShownError
from grader.redact import for_students
from grader.report import autolab, badge, check50, classroom50, gradescope, junit, prairielearn
from grader.result import Result, Verdict
from tests.grader.builders import RUNNER, check_result, result, row_result
from tests.grader.test_redact import MADE, OUTCOMES, SECRET, graded


def of_gradescope(given: Result, after_due: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gradescope.render(given, for_students(given, MADE, after_due)))
    return found


def seen(found: dict[str, Any], shown: tuple[str, ...] = ("visible",)) -> str:
    """All that students read of it: a hidden test shows nothing, and hides the total."""
    tests = [test for test in found["tests"] if test.get("visibility") in shown]
    rest = {name: value for name, value in found.items() if name not in ("tests", "score", "extra_data")}
    return json.dumps([rest, [{**test, "extra_data": {}} for test in tests]])


@pytest.mark.parametrize("shown", ["pass", "fail"])
def test_gradescope_s_students_see_nothing_of_a_hidden_check(shown: Verdict) -> None:
    first = seen(of_gradescope(graded("pass", shown)))
    assert "Closed" in first
    for hidden in OUTCOMES[1:]:
        found = seen(of_gradescope(graded(hidden, shown)))
        assert found == first
        assert SECRET not in found


@pytest.mark.parametrize("hidden", OUTCOMES)
def test_gradescope_s_score_is_the_true_one_all_the_same(hidden: Verdict) -> None:
    given = graded(hidden)
    found = of_gradescope(given)
    scored = [test for test in found["tests"] if "score" in test]
    assert found["score"] == given.score == sum(test["score"] for test in scored)
    assert sum(test["max_score"] for test in scored) == given.max_score
    assert all(test["score"] <= test["max_score"] for test in scored)
    unseen = {(test["name"], test["visibility"]) for test in found["tests"] if test["visibility"] != "visible"}
    assert unseen == {("Mixed", "after_due_date"), ("Closed", "hidden"), ("Parts", "hidden")}


def test_what_gradescope_shows_after_the_due_date_has_no_values() -> None:
    later = next(t for t in of_gradescope(graded("fail"))["tests"] if t["visibility"] == "after_due_date")
    assert later["output"] == "title of seen: pass\ntitle of late: fail (inferred)"
    assert [test["visibility"] for test in of_gradescope(graded("fail"), True)["tests"]].count("after_due_date") == 0


def test_prairielearn_costs_no_attempt_where_nothing_can_be_judged() -> None:
    found = json.loads(prairielearn.render(result(row_result("blocked"), problems=["x.c is missing\nreally"])))
    assert (found["gradable"], found["score"], found["format_errors"]) == (False, 0.0, ["x.c is missing really"])
    partly = result(row_result("blocked"), row_result(id="second"), problems=["x.c is missing"])
    assert json.loads(prairielearn.render(partly))["gradable"] is True
    nothing = result(row_result("hidden", points=0, max_points=0, withheld=10))
    assert json.loads(prairielearn.render(nothing))["score"] == 0.0


def test_prairielearn_s_file_stays_within_its_limit() -> None:
    noisy = check_result("crashed", detail="\U0001f600" * 9_000, output="\U0001f600" * 400_000)
    rows = [row_result("crashed", id=f"r{n}", checks=[noisy] * 20) for n in range(40)]
    text = prairielearn.render(result(*rows, problems=["\U0001f600" * 100_000]))
    assert len(text.encode()) < 1_000_000


def test_autolab_reads_the_two_last_lines() -> None:
    given = result(row_result("fail", detail="a: b"), row_result(id="second"))
    lines = autolab.render(given).split("\n")
    assert lines[0] == "X1: 10/20"
    assert json.loads(lines[-2]) == {"scores": {"first": 0, "second": 10}, "scoreboard": [10]}
    told = json.loads(lines[-3])["Rows"]
    assert told["first"] == {"passed": False, "hint": "fail\N{RATIO} a\N{RATIO} b"}
    assert told["second"] == {"passed": True}


def test_check50_skips_what_cannot_be_judged() -> None:
    given = result(row_result("blocked"), row_result("fail", id="second"), row_result(id="third"))
    found = json.loads(check50.render(given))["results"]
    assert [one["passed"] for one in found] == [None, False, True]
    assert found[1]["cause"] == {"rationale": "fail", "help": None}
    assert found[1]["log"][0] == "f alone: fail"


def test_junit_says_what_failed_and_what_was_skipped() -> None:
    wrong = check_result("fail", file="x.c", line=7)
    given = result(
        row_result("blocked"), row_result("fail", id="second", checks=[wrong]), problems=["x.c:\x1b no\x00"], timing={}
    )
    unusable, skipped, failed = XML.fromstring(junit.render(given)).iter("testcase")
    (failure,) = unusable.iter("failure")
    assert (failure.text, unusable.attrib["classname"]) == ("x.c:\\x1b no\\x00", "X1.submission")
    assert skipped.find("skipped") is not None
    assert (failed.attrib["file"], failed.attrib["line"]) == ("x.c", "7")


def test_classroom50_takes_the_submission_s_identity_from_the_runner(tmp_path: Path) -> None:
    environment = {**RUNNER, "ASSIGNMENT_TYPE": "group", "USERNAME": "ignored"}
    found = json.loads(classroom50.render(result(), environment, classroom50.commit_time({"GITHUB_SHA": "HEAD"})))
    assert (found["owner"], found["assignment_type"], found["submission"]) == ("o", "group", "submit/1")
    lacking = {name: value for name, value in RUNNER.items() if name not in ("OWNER", "COMMIT_URL")}
    with pytest.raises(NotShownError, match=r"classroom50: the runner's COMMIT_URL, OWNER are not in the environment"):
        classroom50.render(result(), lacking, classroom50.commit_time({}))


def test_classroom50_needs_the_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotShownError, match="no clone that holds the graded commit"):
        classroom50.commit_time({})


@pytest.mark.parametrize(("points", "colour"), [(10, "#2a7f3f"), (9, "#8a6100"), (6, "#8a6100"), (5, "#b3352b")])
def test_the_badge_shows_score_and_colour(points: int, colour: str) -> None:
    text = badge.render(result(row_result("pass" if points == 10 else "fail", points=points)))
    assert f'aria-label="X1: {points}/10"' in text
    assert f'fill="{colour}"' in text
