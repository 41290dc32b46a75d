"""What a runner of GitHub's reads: annotations within their number, a log without commands, a summary within limits."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as XML

import pytest
from hypothesis import given

from grader.errors import NotShownError
from grader.report import github, junit
from grader.result import AdviceNote, Result, SubmissionInfo
from tests.grader.builders import check_result, result, row_result
from tests.grader.report.random_results import texts

COMMAND = re.compile(r"::(?P<name>[a-z-]+)(?: (?P<properties>[^:]*))?::(?P<data>.*)")


def unescaped(text: str) -> str:
    """A value as the runner reads it."""
    for code, character in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(code, character)
    return text


def read(line: str) -> tuple[str, dict[str, str], str]:
    """A command as the runner reads it: its name, its properties, its message."""
    found = COMMAND.fullmatch(line)
    assert found, line
    pairs = [pair.partition("=") for pair in (found["properties"] or "").split(",") if pair]
    return found["name"], {name: unescaped(value) for name, _, value in pairs}, unescaped(found["data"])


def annotated(of: Result, folder: str = "A2") -> list[tuple[str, dict[str, str], str]]:
    return [read(line) for line in github.annotated(of, folder)]


@given(texts, texts, texts)
def test_what_goes_in_comes_out(title: str, message: str, file: str) -> None:
    name, properties, data = read(github.command("error", title, message, file, 3))
    assert (name, data) == ("error", message)
    assert properties.get("file", "") == file
    assert properties.keys() <= {"file", "line", "title"}


def test_a_lost_row_points_at_its_function() -> None:
    wrong = check_result("fail", file="src/train_gpt2.c", line=12)
    given = result(row_result("fail", checks=[check_result(), wrong]), row_result(id="second"))
    (level, place, text), (last, _, total) = annotated(given)
    assert (level, place["file"], place["line"], place["title"]) == (
        "error",
        "A2/src/train_gpt2.c",
        "12",
        "First (0/10)",
    )
    assert "furthest off at [b=1, c=2]" in text
    assert (last, total) == ("notice", "X1: 10/20")


def test_what_is_not_written_yet_is_a_warning() -> None:
    assert [level for level, _, _ in annotated(result(row_result("not_implemented")))] == ["warning", "notice"]


def test_a_compiler_s_error_points_at_its_line_and_stands_alone() -> None:
    problems = [
        "it does not compile: x.c:7:3: error: expected ';'",
        "x.c:7:3: error: expected ';'\nx.c:9:1: fatal error: no\n/usr/include/y.h:1:1: error: z",
    ]
    submission = SubmissionInfo(origin="A2", hashes={"x.c": "0"}, ignored=[])
    given = result(row_result("blocked"), problems=problems, submission=submission)
    found = annotated(given)
    assert [(p.get("file"), p.get("line"), text) for _, p, text in found[:2]] == [
        ("A2/x.c", "7", "expected ';'"),
        ("A2/x.c", "9", "no"),
    ]
    assert [level for level, _, _ in found] == ["error", "error", "notice"]


def test_a_submission_that_cannot_be_judged_says_why() -> None:
    found = annotated(result(row_result("blocked"), problems=["x.c is missing"]))
    assert [(level, text) for level, _, text in found] == [("error", "x.c is missing"), ("notice", "X1: 0/10")]


def test_of_each_level_as_many_as_are_shown() -> None:
    rows = [row_result("fail" if n % 2 else "not_implemented", id=f"r{n}") for n in range(40)]
    found = annotated(result(*rows, advice=[AdviceNote(check="probe", text="x")] * 30))
    for level in ("error", "warning", "notice"):
        of_level = [text for name, _, text in found if name == level]
        assert len(of_level) == 10
        assert re.fullmatch(r"\d+ more: see the summary", of_level[-1])


def test_the_token_is_another_each_time(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    tokens = set()
    for _ in range(3):
        github.write(result(), "-")
        tokens.add(capsys.readouterr().out.split("\n")[0])
    assert len(tokens) == 3


def test_the_summary_is_added_to_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    (tmp_path / "summary").write_text("before\n")
    github.write(result(), str(tmp_path / "log"))
    assert (tmp_path / "summary").read_text().startswith("before\n## made up\n\n**X1: 10/10**")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    with pytest.raises(NotShownError, match="cannot write the step's summary"):
        github.write(result(), str(tmp_path / "log"))


def test_the_summary_stays_within_its_limit() -> None:
    noisy = check_result("fail", output="\U0001f600" * 100_000)
    rows = [row_result("fail", id=f"r{n}", checks=[noisy]) for n in range(200)]
    text = github.summary(result(*rows))
    assert len(text.encode()) < 1 << 20
    assert "**X1: 0/2000**" in text


@pytest.mark.parametrize(
    ("origin", "folder"),
    [("A2", "A2"), ("A2/train_gpt2.c", "A2"), (".", ""), ("deep/down", "deep/down"), ("..", ""), ("/", "")],
)
def test_the_folder_is_named_as_the_repository_names_it(
    origin: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "A2").mkdir()
    (tmp_path / "A2" / "train_gpt2.c").touch()
    (tmp_path / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/dev/null")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    wrong = row_result("fail", checks=[check_result("fail", file="x.c", line=1)])
    given = result(wrong, submission=SubmissionInfo(origin=origin, hashes={}, ignored=[]))
    github.write(given, str(tmp_path / "log"))
    line = next(line for line in (tmp_path / "log").read_text().split("\n") if line.startswith("::error "))
    assert read(line)[1]["file"] == f"{folder}/x.c".removeprefix("/")


def test_a_row_is_annotated_where_it_is_wrong_and_not_at_what_is_not_told() -> None:
    checks = [check_result("hidden", id="h"), check_result("fail", file="x.c", line=7)]
    of = result(row_result("fail", checks=checks))
    assert annotated(of)[0][1] | {"title": ""} == {"file": "A2/x.c", "line": "7", "title": ""}
    case = XML.fromstring(junit.render(of)).find(".//testcase")
    assert case is not None
    assert (case.get("file"), case.get("line")) == ("x.c", "7")
