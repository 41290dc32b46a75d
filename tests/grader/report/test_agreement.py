"""All writers, over random results: each output is what its platform reads, and all agree on the total."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as XML

from hypothesis import given
from jsonschema import Draft202012Validator

from grader.home import ROOT
from grader.report import (
    WRITERS,
    autolab,
    badge,
    canvas,
    check50,
    classroom50,
    github,
    gradescope,
    html,
    junit,
    markdown,
    prairielearn,
)
from grader.report import csv as table
from grader.report import json as whole
from grader.report.batch import Line, Student
from grader.result import Result
from tests.grader.builders import RUNNER
from tests.grader.report.random_results import results

SCHEMAS = Path(__file__).parent / "schemas"
MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
Points = dict[str, int]
MOST_BYTES = 1_000_000  # PrairieLearn's limit, the lowest


def refuse(constant: str) -> float:
    raise AssertionError(f"{constant} is not JSON")


@cache
def schema(name: str) -> Draft202012Validator:
    path = ROOT / "docs" / "result.schema.json" if name == "the result" else SCHEMAS / f"{name}.json"
    found = json.loads(path.read_bytes())
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


def parsed(text: str, name: str) -> Any:
    """JSON that fits the schema of that name."""
    assert len(text.encode()) < MOST_BYTES
    found = json.loads(text, parse_constant=refuse)
    schema(name).validate(found)
    return found


# Each reads an output as its platform does: the total, the most, and the points of the rows.


def of_json(given: Result) -> tuple[int, int, Points]:
    found = json.loads(whole.text(given), parse_constant=refuse)
    schema("the result").validate(found)
    return found["score"], found["max_score"], {row["id"]: row["points"] for row in found["rows"]}


def of_gradescope(given: Result) -> tuple[int, int, Points]:
    found = parsed(gradescope.render(given, given), "gradescope")
    tests = found["tests"]
    assert found["score"] == sum(test["score"] for test in tests)
    return (
        found["score"],
        sum(test["max_score"] for test in tests),
        {test["extra_data"]["row"]: test["score"] for test in tests},
    )


def of_prairielearn(given: Result) -> tuple[int, int, Points]:
    found = parsed(prairielearn.render(given), "prairielearn")
    tests = found["tests"]
    most = sum(test["max_points"] for test in tests)
    score = found["score"] * most
    assert abs(score - round(score)) < 1e-6
    points = [test["points"] for test in tests]
    assert sum(points) == round(score)
    return round(score), most, dict(zip((row.id for row in given.rows), points, strict=True))


def of_autolab(given: Result) -> tuple[int, int, Points]:
    lines = autolab.render(given).rstrip().split("\n")
    last = re.sub(r"([a-zA-Z0-9]+):", r'"\1":', lines[-1])  # what Autolab does to it
    assert last == lines[-1]
    scores = parsed(last, "autolab")
    layout = json.loads(lines[-2])
    assert layout["_presentation"] == "semantic"
    for stage in layout["stages"]:
        assert layout[stage].keys() == {"_order", *layout[stage]["_order"]}
    assert scores["scoreboard"] == [sum(scores["scores"].values())]
    return scores["scoreboard"][0], given.max_score, scores["scores"]


def of_check50(given: Result) -> tuple[int, int, Points]:
    found = parsed(check50.render(given), "check50")["results"]
    points = {one["name"]: one["data"]["points"] for one in found}
    return sum(points.values()), sum(one["data"]["max_points"] for one in found), points


def of_classroom50(given: Result) -> tuple[int, int, Points]:
    found = parsed(classroom50.render(given, RUNNER, MIDNIGHT), "classroom50")
    points = [test["score"] for test in found["tests"]]
    assert sum(points) == found["score"]
    return found["score"], found["max-score"], dict(zip((row.id for row in given.rows), points, strict=True))


def of_junit(given: Result) -> tuple[int, int, Points]:
    top = XML.fromstring(junit.render(given).encode())
    cases = list(top.iter("testcase"))
    for suite in (top, *top):
        counted = {kind: len(list(top.iter(kind))) for kind in ("failure", "error", "skipped")}
        told = {
            kind: int(suite.attrib[name]) for kind, name in zip(counted, ("failures", "errors", "skipped"), strict=True)
        }
        assert told == counted
        assert int(suite.attrib["tests"]) == len(cases)
    points, most = {}, 0
    for case in cases:
        values = {p.attrib["name"]: p.attrib["value"] for p in case.iter("property")}
        if values:
            points[case.attrib["classname"].split(".")[1]] = int(values["points"])
            most += int(values["max_points"])
        assert (case.find("failure") is None and case.find("skipped") is None) == (values.get("verdict") == "pass")
    return sum(points.values()), most, points


def of_markdown(given: Result) -> tuple[int, int, Points]:
    text = markdown.render(given)
    total = re.search(r"^\| \*\*total\*\* \| \*\*(\d+)/(\d+)\*\* \|", text, re.M)
    assert total
    cells = re.findall(r"^\| .*? \| (\d+)/\d+ \| [✅❌⬜🔒]", text, re.M)
    return int(total[1]), int(total[2]), dict(zip((row.id for row in given.rows), map(int, cells), strict=True))


def of_github(given: Result) -> tuple[int, int, Points]:
    lines = github.render(given, "A2", "token").rstrip("\n").split("\n")
    end = lines.index("::token::")
    assert lines[0] == "::stop-commands::token"
    assert not [line for line in lines[1:end] if line.lstrip().startswith("::") or re.search(r"##\w*\[", line)]
    assert all(re.match(r"::(error|warning|notice) [^:]*::", line) for line in lines[end + 1 :])
    score = next(line for line in lines[end + 1 :] if line.startswith("::notice title=score::"))
    found = re.search(r": (\d+)/(\d+)", score)
    assert found
    assert len(github.summary(given).encode()) <= 1 << 20
    return int(found[1]), int(found[2]), of_markdown(given)[2]


def of_badge(given: Result) -> tuple[int, int, Points]:
    texts = [text.text or "" for text in XML.fromstring(badge.render(given)).iter("{http://www.w3.org/2000/svg}text")]
    score, most = texts[-1].split("/")
    return int(score), int(most), {row.id: row.points for row in given.rows}


def of_csv(given: Result) -> tuple[int, int, Points]:
    found = list(csv.DictReader(io.StringIO(table.render([Line.of(Student("a"), given)]))))
    points = {row.id: int(found[0][row.id]) for row in given.rows}
    return int(found[0]["score"]), int(found[0]["max_score"]), points


def of_canvas(given: Result) -> tuple[int, int, Points]:
    _, possible, student = csv.reader(io.StringIO(canvas.render([Line.of(Student("a"), given)], "A2 (1)")))
    return int(student[-1]), int(possible[-1]), {row.id: row.points for row in given.rows}


def of_html(given: Result) -> tuple[int, int, Points]:
    text = html.text(given)
    total = re.search(r"<strong>(\d+)</strong> <span>of (\d+) points", text)
    assert total
    rows = re.findall(r'<a href="#row-(\w+)">.*?<td class="num">(\d+)/', text, re.DOTALL)
    return int(total[1]), int(total[2]), {row: int(points) for row, points in rows}


READERS: dict[str, Callable[[Result], tuple[int, int, Points]]] = {
    "json": of_json,
    "html": of_html,
    "staff-html": of_html,
    "junit": of_junit,
    "gradescope": of_gradescope,
    "prairielearn": of_prairielearn,
    "autolab": of_autolab,
    "github": of_github,
    "classroom50": of_classroom50,
    "check50": of_check50,
    "markdown": of_markdown,
    "badge": of_badge,
    "csv": of_csv,
    "canvas": of_canvas,
}


def test_every_writer_is_read_here() -> None:
    assert WRITERS.keys() == READERS.keys() - {"csv", "canvas"}


@given(results())
def test_all_agree_on_the_total_which_is_the_sum_of_the_rows(given: Result) -> None:
    points = {row.id: row.points for row in given.rows}
    right = (sum(points.values()), sum(row.max_points for row in given.rows), points)
    for name, read in READERS.items():
        assert read(given) == right, name
