"""Two fixture sets: the worse counts, the result says which one decided, and nobody reads a private set's values."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from grader import deciding, fixtures
from grader.assignment import Assignment
from grader.cli import main
from grader.errors import UsageError
from grader.inference import scored
from grader.redact import for_students
from grader.report import WRITERS, Request, terminal
from grader.result import CheckResult, FixtureInfo, Result, Verdict
from tests.grader.builders import RUNNER, assignment_data, check_result, evidence, result

PUBLIC = FixtureInfo(set="public", seed=1, digest="0" * 64)
FALL = FixtureInfo(set="fall", seed=None, digest="1" * 64)
VALUES = {"got": 7.654321, "expected": 1.234567, "absolute": 6.419754, "relative": 5.2, "allowed": 0.00012345}
TOLD = ("7.65432", "1.23457", "6.41975", "0.000123", "[b=1, c=2]", "[7.65")


def made() -> Assignment:
    """A row of one check, and a row in parts."""
    data = assignment_data()
    data["total"] = 20
    data["rows"] = [
        {"id": "one", "title": "One", "points": 10, "checks": ["a"]},
        {"id": "parts", "title": "Parts", "points": 10, "checks": ["b", "c"], "parts": {"b": 6, "c": 4}},
    ]
    data["checks"] = {name: {**data["checks"]["probe"], "title": f"check {name}"} for name in "abc"}
    return Assignment.model_validate(data)


MADE = made()


def check(name: str, verdict: Verdict, of: str) -> CheckResult:
    output = "" if verdict == "pass" else f"[{VALUES['got']}]"
    wrong = [evidence(verdict == "pass", note=f"of {of}", **({} if verdict == "pass" else VALUES))]
    return check_result(verdict, id=name, title=f"check {name}", evidence=wrong, output=output)


def graded(verdicts: str, info: FixtureInfo) -> Result:
    """A result in which the checks a, b and c pass (`+`) or fail (`-`)."""
    words: dict[str, Verdict] = {"+": "pass", "-": "fail"}
    checks = {n: check(n, words[sign], info.set) for n, sign in zip("abc", verdicts, strict=True)}
    rows = scored(MADE, MADE.rows, checks)
    shown = "a transcript" if info is PUBLIC else ""
    return result(*rows, fixtures=info, transcript=shown, timing={"a": 1.0, "total": 2.0})


def both(public: str, private: str) -> Result:
    return deciding.together(MADE, graded(public, PUBLIC), graded(private, FALL))


@pytest.mark.parametrize(
    ("public", "private", "score", "decided"),
    [
        ("+++", "+++", 20, (["public", "fall"], ["public", "fall"])),
        ("+++", "-++", 10, (["fall"], ["public", "fall"])),
        ("-++", "+++", 10, (["public"], ["public", "fall"])),
        ("-++", "-++", 10, (["public", "fall"], ["public", "fall"])),
        ("++-", "+-+", 10, (["public", "fall"], ["fall"])),
    ],
)
def test_of_each_check_the_worse_counts(
    public: str, private: str, score: int, decided: tuple[list[str], list[str]]
) -> None:
    found = both(public, private)
    assert found.score == score
    assert tuple(row.decided_by for row in found.rows) == decided
    assert (found.fixtures, found.beside) == (FALL, [PUBLIC])
    assert (found.transcript, found.timing) == ("a transcript", {"a": 2.0, "total": 4.0})


def test_the_sets_scores_and_verdicts_are_told() -> None:
    found = both("++-", "-++")
    assert [(row.points, [(u.set, u.points) for u in row.under]) for row in found.rows] == [
        (0, [("public", 10), ("fall", 0)]),
        (6, [("public", 6), ("fall", 10)]),
    ]
    assert (found.score, found.score_under("public"), found.score_under("fall")) == (6, 16, 10)
    checks = {check.id: check for row in found.rows for check in row.checks}
    assert checks["a"].verdicts == {"public": "pass", "fall": "fail"}
    assert (checks["a"].evidence_of, checks["c"].evidence_of) == ("fall", "public")
    assert found.rows[0].detail.startswith("by the fixtures `fall` alone: dinp[b=1, c=2] is 7.65432")
    shown = io.StringIO()
    terminal.render(found, Console(file=shown, width=110), False)
    assert "fixtures: public and fall" in shown.getvalue()
    assert "16 by `public` alone, 10 by `fall` alone; of each check, the worse counts" in shown.getvalue()
    assert "check a: fail (public: pass, fall: fail)" in shown.getvalue()


def test_what_the_public_set_shows_is_shown() -> None:
    told = for_students(both("-++", "-++"), MADE, False)
    assert told.rows[0].checks[0].evidence[0].got == VALUES["got"]
    assert told.rows[0].checks[0].output


@pytest.mark.parametrize("found", [both("+++", "---"), graded("---", FALL)], ids=["beside the public", "alone"])
def test_no_form_tells_a_private_sets_values(found: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in RUNNER.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert TOLD[0] in found.model_dump_json()
    told = for_students(found, MADE, False)
    assert told.score == found.score
    for name, writer in WRITERS.items():
        if writer.audience != "staff" or name == "json":
            Request(name, str(tmp_path / name), name).write(found if writer.audience == "site" else told, told)
    shown = io.StringIO()
    terminal.render(told, Console(file=shown, width=110), True)
    (tmp_path / "terminal").write_text(shown.getvalue())
    for path in tmp_path.iterdir():
        text = path.read_text()
        # Gradescope is given what students do not see, too, and hides it: in fields that it never shows them
        assert not [value for value in TOLD if value in text], path.name
    assert "check a: fail" in (tmp_path / "terminal").read_text()
    assert "`fall` alone" in (tmp_path / "html").read_text() or not found.beside
    assert f"fixtures: {' and '.join(found.sets)} " in (tmp_path / "html").read_text()


# ---- which sets -------------------------------------------------------------------------------------------


def private_set(folder: Path, assignment: str = "A2") -> Path:
    """The public manifest under a private name; what it lists is not needed here."""
    text = (fixtures.set_folder("A2", "public") / fixtures.MANIFEST).read_text()
    folder.mkdir(parents=True)
    text = text.replace('"set": "public"', '"set": "fall"').replace(
        '"assignment": "A2"', f'"assignment": "{assignment}"'
    )
    (folder / fixtures.MANIFEST).write_text(text)
    return folder


def names(folder: Path | None) -> list[str]:
    return [one.manifest.set for one in deciding.sets("A2", folder)]


def test_a_private_set_comes_behind_the_public_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fall = private_set(tmp_path / "sets" / "A2")
    assert names(None) == ["public"]
    assert names(fall) == ["public", "fall"]
    for named in (fall, tmp_path / "sets"):
        monkeypatch.setenv(deciding.VARIABLE, str(named))
        assert names(None) == ["public", "fall"]
        assert names(fixtures.set_folder("A2", "public")) == ["public"]
    monkeypatch.setenv(deciding.VARIABLE, "")
    assert names(None) == ["public"]


def test_a_set_lies_where_it_lies_wherever_boxes_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private_set(tmp_path / "fall")
    monkeypatch.chdir(tmp_path)
    assert deciding.sets("A2", Path("fall"))[1].folder == tmp_path / "fall"


def test_what_the_variable_names_has_to_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(deciding.VARIABLE, str(tmp_path))
    with pytest.raises(UsageError, match=r"GRADE_FIXTURES: .* is no fixture set, and holds none in A2"):
        deciding.sets("A2", None)
    assert main(["A2", "--reference", "-q"]) == 2
    assert main(["batch", "A2", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.count("GRADE_FIXTURES") == 2
    monkeypatch.setenv(deciding.VARIABLE, str(private_set(tmp_path / "other", "HW2")))
    assert main(["A2", "--reference", "-q"]) == 2
    assert "holds fixtures of HW2" in capsys.readouterr().err
