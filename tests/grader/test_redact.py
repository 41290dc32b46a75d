"""What students may not see: two outcomes of a hidden check give the same bytes, in all that students read."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from rich.console import Console

from grader import assignment as assignments
from grader import fixtures, sandbox, submission, tolerances
from grader.assignment import Assignment
from grader.grading import Grading
from grader.home import ROOT
from grader.inference import name_upstream, scored
from grader.options import Options
from grader.progress import News
from grader.redact import for_students
from grader.report import WRITERS, Request, terminal
from grader.result import AdviceNote, CheckResult, FixtureInfo, Result, Verdict, Visibility
from tests.grader.builders import RUNNER, assignment, assignment_data, check_result, evidence, result, row_result

SECRET = "the secret"
OUTCOMES: list[Verdict] = ["pass", "fail", "not_implemented", "crashed", "timed_out", "blocked"]
CHECKS = ("seen", "late", "never", "part_seen", "part_never", "look")


def made() -> Assignment:
    """Rows that rest on hidden checks in each of the ways in which a row can."""
    data = assignment_data()
    data["total"] = 40
    data["rows"] = [
        {"id": "open", "title": "Open", "points": 10, "checks": ["seen"]},
        {"id": "mixed", "title": "Mixed", "points": 10, "checks": ["seen", "late"]},
        {"id": "closed", "title": "Closed", "points": 10, "checks": ["never"], "looks": ["look"]},
        {
            "id": "parts",
            "title": "Parts",
            "points": 10,
            "checks": ["part_seen", "part_never"],
            "parts": {"part_seen": 6, "part_never": 4},
        },
    ]
    data["checks"] = {name: {**data["checks"]["probe"], "title": f"title of {name}"} for name in CHECKS}
    data["checks"]["late"]["visibility"] = "after_due"
    for name in ("never", "part_never", "look"):
        data["checks"][name]["visibility"] = "hidden"
    return Assignment.model_validate(data)


MADE = made()


def outcome(name: str, verdict: Verdict) -> CheckResult:
    """A check's result with its outcome in every field that has room for it."""
    return check_result(
        verdict,
        id=name,
        title=MADE.checks[name].title,
        visibility=MADE.checks[name].visibility,
        detail=f"{SECRET} {verdict}",
        calls_differ=SECRET,
        output=SECRET,
        inferred=verdict == "fail",
        evidence=[evidence(verdict == "pass", note=SECRET)],
    )


def graded(hidden: Verdict, shown: Verdict = "pass") -> Result:
    """A result in which all hidden checks end in one way."""
    checks = {name: outcome(name, hidden) for name in CHECKS if MADE.checks[name].visibility != "visible"}
    checks |= {name: check_result(shown, id=name, title=MADE.checks[name].title) for name in ("seen", "part_seen")}
    rows = scored(MADE, MADE.rows, checks)
    notes = [AdviceNote(check="never", text=SECRET), AdviceNote(check="look", text=SECRET)]
    timing = {"never": 1.0 if hidden == "pass" else 2.0, "total": 3.0 if hidden == "pass" else 4.0}
    return result(*rows, advice=[*notes, AdviceNote(check="seen", text="told")], timing=timing)


@pytest.fixture(autouse=True)
def same_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """What some writers take from around them, the same each time."""
    monkeypatch.setattr("secrets.token_hex", lambda size: "0" * size)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    for name, value in RUNNER.items():
        monkeypatch.setenv(name, value)


def written(given: Result, folder: Path) -> Iterator[tuple[str, str]]:
    """What students read of a result, by the writers' names."""
    for name, writer in WRITERS.items():
        if writer.audience == "student" or name == "json":
            target = folder / name
            Request(name, str(target), name).write(given, given)
            yield name, target.read_text()
    file = io.StringIO()
    terminal.render(given, Console(file=file, width=80), True)
    yield "terminal", file.getvalue()


@pytest.mark.parametrize("shown", ["pass", "fail"])
@pytest.mark.parametrize("after_due", [False, True])
def test_no_byte_tells_how_a_hidden_check_went(shown: Verdict, after_due: bool, tmp_path: Path) -> None:
    first = dict(written(for_students(graded("pass", shown), MADE, False), tmp_path))
    assert len(first) >= 2
    for hidden in OUTCOMES[1:]:
        assert dict(written(for_students(graded(hidden, shown), MADE, False), tmp_path)) == first
    for name, text in first.items():
        assert SECRET not in text, name
        assert "title of never" in text or name not in ("json", "terminal", "html")


def test_what_is_left_is_the_name_and_the_kind() -> None:
    told = {check.id: check for row in for_students(graded("fail"), MADE, False).rows for check in row.checks}
    for name in ("late", "never", "part_never"):
        left = told[name].model_dump(exclude_defaults=True)
        kind = {"id", "title", "function", "role", "visibility"}
        assert left.keys() == kind | {"verdict", "inferred", "detail", "evidence"}
        assert (left["verdict"], left["inferred"], left["detail"], left["evidence"]) == ("hidden", False, "", [])
    assert told["seen"] == check_result(id="seen", title="title of seen")


@pytest.mark.parametrize("hidden", OUTCOMES)
def test_the_total_is_of_what_is_shown(hidden: Verdict) -> None:
    told = for_students(graded(hidden), MADE, False)
    points = {row.id: (row.points, row.max_points, row.withheld, row.verdict) for row in told.rows}
    assert points == {
        "open": (10, 10, 0, "pass"),
        "mixed": (0, 0, 10, "hidden"),
        "closed": (0, 0, 10, "hidden"),
        "parts": (6, 6, 4, "hidden"),
    }
    assert (told.score, told.max_score) == (16, 16)


def test_a_row_that_is_lost_visibly_is_seen_to_be_lost() -> None:
    told = for_students(graded("pass", "fail"), MADE, False)
    assert [row.verdict for row in told.rows] == ["fail", "fail", "hidden", "fail"]
    assert (told.score, told.max_score) == (0, 16), "of the same points, whatever came of the rest"


def test_after_the_due_date_the_later_ones_are_seen() -> None:
    told = for_students(graded("pass"), MADE, True)
    assert (told.score, told.max_score) == (26, 26)
    assert [row.verdict for row in told.rows] == ["pass", "pass", "hidden", "hidden"]


def test_where_nothing_is_hidden_nothing_changes() -> None:
    whole = result()
    assert for_students(whole, assignment(), False) is whole


def test_values_of_private_fixtures_are_not_told() -> None:
    crash = check_result("crashed", detail="ended", output="[1.25, 2.5]", evidence=[evidence(False, got=1.25)])
    plain = assignment()
    rows = scored(plain, plain.rows, {"probe": crash.model_copy(update={"verdict": "fail", "detail": ""})})
    private = FixtureInfo(set="fall", seed=None, digest="0")
    given = result(*rows, fixtures=private, transcript="1.25")
    assert "1.25" in given.model_dump_json()
    told = for_students(given, plain, False)
    assert "1.25" not in told.model_dump_json()
    assert told.rows[0].detail == "dinp is wrong (3 of 6 wrong)"
    assert (told.score, told.timing) == (given.score, given.timing)


# ---- what an assignment may hide ------------------------------------------------------------------------


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"first": {"fallback": {"check": "second", "tensors": ["x"]}}}, "`first` cannot be hidden"),
    ({"second": {"fallback": {"check": "first", "tensors": ["x"]}}}, "`second` is visible, and `first`"),
    ({"second": {"instead": ["first"]}}, "`second` is visible, and `first`, which stands in for it, is not"),
    ({"first": {"instead": ["second"]}}, "`first` is hidden, and `second`, which stands in for it, is not"),
]


@pytest.mark.parametrize(("changes", "told"), REFUSED)
def test_nothing_seen_may_rest_on_what_is_hidden(changes: dict[str, Any], told: str) -> None:
    data = assignment_data()
    data["rows"][0]["checks"] = ["first", "second"]
    data["checks"] = {name: {**data["checks"]["probe"], **changes.get(name, {})} for name in ("first", "second")}
    assert Assignment.model_validate(data)
    data["checks"]["first"]["visibility"] = "hidden"
    with pytest.raises(ValidationError, match=told):
        Assignment.model_validate(data)


def test_the_transcript_is_seen() -> None:
    data = {**assignment_data(), "transcript": "probe"}
    data["checks"]["probe"]["visibility"] = "after_due"
    with pytest.raises(ValidationError, match="`probe` cannot be after_due"):
        Assignment.model_validate(data)


# ---- the whole way ---------------------------------------------------------------------------------------


def hiding(name: str, visibility: Visibility = "hidden") -> Assignment:
    """A2 with one hidden check."""
    a2 = assignments.load("A2")
    check = a2.checks[name].model_copy(update={"visibility": visibility})
    return a2.model_copy(update={"checks": {**a2.checks, name: check}})


def grading(text: str, folder: Path, options: Options) -> Result:
    given = hiding("no_targets")
    folder.mkdir(exist_ok=True)
    (folder / "train_gpt2.c").write_text(text)
    taken = submission.take(folder, given.submission, ROOT / "student_template" / "A2")
    public = fixtures.load(fixtures.set_folder("A2", "public"))
    told: list[News] = []
    run = Grading(given, taken, public, sandbox.choose("auto", False), tolerances.load(), options, told.append)
    found = run.run()
    assert options.unseen or not [news for news in told if news.check == "no_targets"]
    return for_students(found, given, False).model_copy(update={"timing": {}, "submission": found.submission})


@pytest.mark.parametrize("second_look", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_grading_that_makes_it_tells_students_what_one_without_it_tells(second_look: bool, tmp_path: Path) -> None:
    right = (ROOT / "reference" / "A2" / "train_gpt2.c").read_text()
    stops = 'printf("Error: must forward with targets before backward\\n");\n        exit(1);'
    wrong = right.replace(stops, "return;")
    assert wrong != right
    options = Options(rows=["gpt2_backward"], second_look=second_look, flags=["-O0"])
    found = {
        grading(text, tmp_path / "in", replace(options, unseen=unseen))
        .model_copy(update={"submission": result().submission})
        .model_dump_json()
        for text in (right, wrong)
        for unseen in (True, False)
    }
    assert len(found) == 1
    assert '"verdict":"hidden"' in found.pop()


def test_a_row_that_is_not_told_is_not_blamed_for_another() -> None:
    alone, whole = check_result(function="f"), check_result("fail", role="whole", detail="the losses part")
    lost = row_result("fail", checks=[alone, whole])
    hidden = row_result("hidden", id="closed", points=0, max_points=0, withheld=10)
    assert "only the whole program fails" in name_upstream(lost, [lost, hidden]).detail
    assert "upstream: closed" in name_upstream(lost, [lost, hidden.model_copy(update={"verdict": "fail"})]).detail
