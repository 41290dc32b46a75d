"""The result as JSON that every reader takes."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from grader.home import ROOT
from grader.report import json as report
from grader.result import RowResult
from tests.grader.builders import check_result, evidence, result, row_result
from tests.support import run_command

KEYS = {"schema", "assignment", "score", "max_score", "sandbox", "fixtures", "rows"}
ROW_KEYS = {"id", "title", "points", "max_points", "verdict", "inferred", "checks"}


def refuse(constant: str) -> float:
    raise AssertionError(f"{constant} is not JSON")


def failed(value: float) -> RowResult:
    """A row whose evidence holds ``value`` wherever it can."""
    numbers = dict.fromkeys(["error", "got", "expected", "absolute", "relative", "allowed"], value)
    return row_result("fail", checks=[check_result("fail", evidence=[evidence(False, **numbers)])])


def test_the_keys_that_others_rely_on() -> None:
    found = json.loads(report.text(result()))
    assert found["schema"] == "tensorgrade/result/1"
    assert found.keys() >= KEYS
    assert found["rows"][0].keys() >= ROW_KEYS
    assert found["rows"][0]["checks"][0].keys() >= {"id", "verdict", "evidence"}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_no_token_that_json_lacks(value: float) -> None:
    text = report.text(result(failed(value), timing={"total": value}))
    found = json.loads(text, parse_constant=refuse)
    assert found["rows"][0]["checks"][0]["evidence"][0]["got"] is None


def test_the_same_result_gives_the_same_bytes() -> None:
    assert report.text(result()) == report.text(result())
    assert report.text(result()).endswith("}\n")


def test_text_of_the_student_stays_text() -> None:
    hostile = '"}]}\x1b[2J\x00\u2028\\'
    text = report.text(result(row_result("fail", detail=hostile)))
    assert json.loads(text)["rows"][0]["detail"] == hostile
    assert "\x1b" not in text


def test_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    report.write(result(), "-")
    assert json.loads(capsys.readouterr().out)["score"] == 10


def test_the_schema_in_the_docs_is_the_model_s() -> None:
    kept = ROOT / "docs" / "result.schema.json"
    made = run_command("schema").stdout
    assert kept.read_text() == made, "make it anew: ./grade schema >docs/result.schema.json"
    Draft202012Validator.check_schema(json.loads(made))
