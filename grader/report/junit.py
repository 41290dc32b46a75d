"""JUnit XML: a test case for each row, its points as properties.

The form is the one that GitLab, Jenkins and others read (https://github.com/testmoapp/junitxml). What was not judged
for want of something else is skipped; what makes the whole submission unusable is a failed case of its own, without
points.
"""

from __future__ import annotations

from xml.etree import ElementTree as XML

from grader.report.plain import blamed, clip, one_line, remarks, row_line, row_text
from grader.report.target import put
from grader.report.texts import printable
from grader.result import Result, RowResult

SKIPPED = ("blocked", "hidden")


def write(result: Result, target: str) -> None:
    """Writes it."""
    put(render(result), target)


def render(result: Result) -> str:
    """The result as XML."""
    cases = [_case(result, row) for row in result.rows]
    if result.problems:
        cases.insert(0, _unusable(result))
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": "0",
        "skipped": str(sum(case.find("skipped") is not None for case in cases)),
        "time": _seconds(result.timing.get("total", 0.0)),
    }
    top = XML.Element("testsuites", {"name": f"tensorgrade {result.assignment}", **counts})
    suite = XML.SubElement(top, "testsuite", {"name": result.assignment, **counts})
    _properties(suite, _facts(result))
    suite.extend(cases)
    if text := remarks(result):
        XML.SubElement(suite, "system-out").text = text
    XML.indent(top)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + XML.tostring(top, encoding="unicode") + "\n"


def _facts(result: Result) -> dict[str, str]:
    return {
        "score": str(result.score),
        "max_score": str(result.max_score),
        "complete": str(result.complete).lower(),
        "sandbox": result.sandbox,
        "fixtures": result.fixtures.digest,
        "grader": result.grader,
    }


def _case(result: Result, row: RowResult) -> XML.Element:
    seconds = sum(result.timing.get(check.id, 0.0) for check in row.checks)
    found = {"name": one_line(row.title), "classname": f"{result.assignment}.{row.id}", "time": _seconds(seconds)}
    check = blamed(row)
    if check.file:
        found["file"] = printable(check.file)
    if check.line:
        found["line"] = str(check.line)
    case = XML.Element("testcase", found)
    _properties(case, {"points": str(row.points), "max_points": str(row.max_points), "verdict": row.verdict})
    if row.verdict in SKIPPED:
        XML.SubElement(case, "skipped", {"message": row_line(row)})
    elif row.verdict != "pass":
        failure = XML.SubElement(case, "failure", {"message": row_line(row), "type": row.verdict})
        failure.text = row_text(row)
    return case


def _unusable(result: Result) -> XML.Element:
    found = {"name": "the submission can be judged", "classname": f"{result.assignment}.submission", "time": "0.000"}
    case = XML.Element("testcase", found)
    failure = XML.SubElement(case, "failure", {"message": one_line(result.problems[0]), "type": "submission"})
    failure.text = clip("\n".join(printable(text) for text in result.problems), 12_000)
    return case


def _properties(parent: XML.Element, values: dict[str, str]) -> None:
    properties = XML.SubElement(parent, "properties")
    for name, value in values.items():
        XML.SubElement(properties, "property", {"name": name, "value": printable(value)})


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
