"""The result as JSON: whole or not at all, and JSON that every reader takes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from grader.errors import NotShownError, UsageError
from grader.report import json as report
from grader.result import Result, RowResult
from tests.grader.builders import check_result, evidence, result, row_result

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


def test_every_field_says_what_it_is_by_its_schema() -> None:
    assert Result.model_json_schema(by_alias=True)["properties"].keys() >= KEYS - {"schema"}


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


def test_written_to_a_file(tmp_path: Path) -> None:
    report.write(result(), str(tmp_path / "r.json"))
    assert json.loads((tmp_path / "r.json").read_bytes())["score"] == 10
    assert os.listdir(tmp_path) == ["r.json"]


def test_an_earlier_result_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target, kept = tmp_path / "r.json", tmp_path / "kept"
    report.write(result(row_result("fail")), str(target))
    os.link(target, kept)
    report.write(result(), str(target))
    assert json.loads(target.read_bytes())["score"] == 10
    assert json.loads(kept.read_bytes())["score"] == 0, "it was written over, not replaced"


def test_an_earlier_result_stays_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "r.json"
    report.write(result(), str(target))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NotShownError, match=r"cannot write .*r\.json: No space left"):
        report.write(result(row_result("fail")), str(target))
    assert json.loads(target.read_bytes())["score"] == 10
    assert os.listdir(tmp_path) == ["r.json"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    for target in (tmp_path, tmp_path / "absent" / "r.json"):
        with pytest.raises(NotShownError, match="cannot write"):
            report.write(result(), str(target))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["", "absent/r.json", "."])
def test_a_target_that_cannot_become_a_file_is_wrong_usage(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--json: "):
        report.check_target(str(tmp_path / name) if name else "")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["-", "/dev/null", "r.json"])
def test_a_target_that_can(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    report.check_target(name)


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    report.write(result(), str(pipe))
    assert json.loads(os.read(reader, 1 << 16))["score"] == 10
    assert pipe.is_fifo()
    os.close(reader)


def test_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    report.write(result(), "-")
    assert json.loads(capsys.readouterr().out)["score"] == 10
