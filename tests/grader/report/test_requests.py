"""``--report NAME=PATH``, any number, and ``--json PATH``: what is asked for, checked before anything is graded."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.home import ROOT
from grader.report import WRITERS, requests
from grader.result import Result
from tests.grader.builders import result


@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_has_its_module(name: str) -> None:
    module = importlib.import_module(f"grader.report.{WRITERS[name].module}")
    given = ["result", "told"] if WRITERS[name].audience == "site" else ["result"]
    assert list(inspect.signature(module.write).parameters) == [*given, "target"]
    assert WRITERS[name].about


def test_json_is_short_for_a_report(tmp_path: Path) -> None:
    first, second = requests([f"json={tmp_path / 'a'}"], str(tmp_path / "b=c"))
    assert (first.name, first.option, second.name, second.option) == ("json", "--report json", "json", "--json")
    for request in (first, second):
        request.write(result(), result())
        assert Result.model_fields["schema_"].default == json.loads(Path(request.target).read_bytes())["schema"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("json", "--report json: it takes NAME=PATH"),
        ("jsn=x", "--report jsn=x: there is no report `jsn`; there are: json"),
        ("json=", "--report json: `` is not the name of a file"),
        ("json=/absent/x", "--report json: there is no folder /absent"),
    ],
)
def test_wrong_usage(text: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        requests([text])
    assert told in str(caught.value)


def test_no_two_to_one_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="more than one report would be written to standard output"):
        requests(["json=-"], "-")
    with pytest.raises(UsageError, match="--report json: more than one report would be written to x"):
        requests(["json=x"], "./x")
    requests(["json=/dev/null"], "/dev/null")


@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_is_in_the_docs(name: str) -> None:
    assert f"`{name}`" in (ROOT / "docs" / "outputs.md").read_text()


def test_standard_output_by_its_other_names() -> None:
    assert [request.target for request in requests(["json=/dev/stdout"])] == ["-"]
    with pytest.raises(UsageError, match="more than one report would be written to standard output"):
        requests(["json=/dev/fd/1"], "-")
