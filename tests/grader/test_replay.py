"""A result made again: what is told to differ, in which order, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grader import fixtures, replay
from grader.cli import main
from grader.result import Chosen, FixtureInfo, Machine, Provenance, Result, SubmissionInfo
from tests.grader.builders import check_result, evidence, result, row_result
from tests.support import ROOT, run_command

MADE_FROM = Provenance(grader="g" * 64, assignment="a" * 64, tolerances="t" * 64, replaced={}, seeds={"x/y": 7})
MACHINE = Machine(system="Linux x86_64", python="3.11.1", numpy="2.0")
OPTIONS = Chosen(
    rows=[],
    compiler=None,
    flags=[],
    second_look=True,
    sanitize=False,
    training=True,
    full=False,
    real_files=False,
    explain="hint",
    staff=False,
    after_due=False,
    backend=None,
    framework="ours",
)


def made(**changes: Any) -> Result:
    about = {"provenance": MADE_FROM, "machine": MACHINE, "options": OPTIONS}
    submission = SubmissionInfo(origin="here", hashes={"x.c": "0"}, ignored=[])
    return result(**{**about, "submission": submission, **changes})


def differing(found: list[replay.Difference]) -> dict[str, tuple[str, str]]:
    return {one.what: (one.before, one.now) for one in found}


def test_the_same_is_the_same_wherever_it_lay_and_however_long_it_took() -> None:
    there = SubmissionInfo(origin="there", hashes={"x.c": "0"}, ignored=[])
    found = replay.compare(made(), made(submission=there, timing={"total": 9.0}))
    assert found.same
    assert (found.provenance, found.result, found.machine) == ([], [], [])


def test_where_it_lay_is_told_in_sentences_too() -> None:
    rows = [row_result("blocked", detail="there is no x.c in /old/ada")]
    there = [row_result("blocked", detail="there is no x.c in /new/ada")]
    about = {"submission": SubmissionInfo(origin="/old/ada", hashes={}, ignored=[]), "score": 0}
    before = made(rows=rows, problems=["there is no x.c in /old/ada"], **about)
    now = made(rows=there, problems=["there is no x.c in /new/ada"], **about)
    assert replay.compare(before, now, ["/new/ada"]).same
    assert not replay.compare(before, now, ["/else/ada"]).same


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"fixtures": FixtureInfo(set="public", seed=1, digest="1")}, {"fixtures public": ("0", "1")}),
        ({"fixtures": FixtureInfo(set="fall", seed=1, digest="0")}, {"fixtures public": ("0", "none")}),
        ({"beside": [FixtureInfo(set="x", seed=1, digest="2")]}, {"fixtures x": ("none", "2")}),
        ({"grader": "9"}, {"grader's version": ("0.0", "9")}),
        ({"sandbox": "user"}, {"sandbox": ("none", "user")}),
        ({"build": None}, {"compiler": ("cc: 1", "none"), "flags": ("-O1", "none")}),
        ({"submission": SubmissionInfo(origin="", hashes={"x.c": "1"}, ignored=[])}, {"submitted x.c": ("0", "1")}),
        ({"options": OPTIONS.model_copy(update={"explain": "full"})}, {"option explain": ("hint", "full")}),
        (
            {"provenance": MADE_FROM.model_copy(update={"tolerances": "u", "grader": "h", "seeds": {"x/y": 8}})},
            {
                "tolerances": ("t" * 64, "u"),
                "grader's code": ("g" * 64, "h"),
                "seed of x/y": ("7", "8"),
            },
        ),
    ],
)
def test_what_it_was_made_from(changes: dict[str, Any], told: dict[str, tuple[str, str]]) -> None:
    found = replay.compare(made(), made(**changes))
    assert told.items() <= differing(found.provenance).items()
    assert found.result == []
    assert not found.same


def test_another_machine_decides_nothing_by_itself() -> None:
    other = MACHINE.model_copy(update={"numpy": "2.1"})
    found = replay.compare(made(), made(machine=other))
    assert found.same
    assert differing(found.machine) == {"numpy": ("2.0", "2.1")}


def test_what_an_older_grader_did_not_tell_is_no_difference() -> None:
    assert replay.compare(made(provenance=None, machine=None, options=None), made()).machine == []
    found = differing(replay.compare(made(provenance=None, machine=None), made()).provenance)
    assert not {"tolerances", "assignment", "grader's code"} & found.keys()


def test_what_came_of_it_is_told_by_its_place() -> None:
    wrong = row_result("fail", checks=[check_result("fail", evidence=[evidence(False), evidence(tensor="dw")])])
    right = row_result(checks=[check_result(evidence=[evidence(), evidence(tensor="dw")])])
    told = differing(replay.compare(made(rows=[right], score=10), made(rows=[wrong], score=0)).result)
    assert next(iter(told)) == "score"
    assert told["rows.first.verdict"] == ("pass", "fail")
    assert told["rows.first.checks.probe.evidence.dinp.wrong"] == ("0", "3")
    assert told["rows.first.checks.probe.evidence.dinp.failed_cases"] == ("none", "probe/small")
    assert not [what for what in told if ".dw." in what]


def test_a_row_that_is_gone() -> None:
    told = differing(replay.compare(made(), made(rows=[])).result)
    assert "rows.first.id" in told or "rows.first" in told


# ---- the command -----------------------------------------------------------------------------------------


def grade_one_row(path: Path) -> Path:
    made = ("--only", "gelu_residual_backward", "--cflags=-O0", "--no-second-look", "-q", "--json", path)
    assert run_command("A2", "--reference", *made).exit == 0
    return path


def test_again(tmp_path: Path) -> None:
    path = grade_one_row(tmp_path / "result.json")
    done = run_command("replay", path, ROOT / "reference" / "A2", "-q")
    assert (done.exit, done.stdout) == (0, "A2: the same result from the same files (score 10, now 10)\n")
    kept = json.loads(path.read_bytes())
    assert kept["build"]["flags"][-1] == kept["options"]["flags"][0] == "-O0"
    assert kept["submission"]["hashes"].keys() == {"train_gpt2.c"}
    kept["fixtures"]["digest"], kept["build"]["version"], kept["score"] = "f" * 64, "cc 1.0", 7
    kept["rows"][0]["checks"][0]["evidence"][0]["error"] = 0.5
    path.write_text(json.dumps(kept))
    done = run_command("replay", path, ROOT / "reference" / "A2", "-q", "--json", tmp_path / "differs.json")
    lines = done.stdout.splitlines()
    assert done.exit == 1
    assert lines[0] == "made from something else:"
    assert lines[1].startswith("  fixtures public: ffffffffffff -> ")
    assert lines[2].startswith("  compiler: ")
    assert lines[3:5] == ["what came of it differs:", "  score: 7 -> 10"]
    assert lines[5].startswith("  rows.gelu_residual_backward.checks.gelu_backward.evidence.dinp.error: 0.5 -> ")
    assert lines[6] == "A2: 2 + 2 things differ (score 7, now 10)"
    found = json.loads((tmp_path / "differs.json").read_bytes())
    assert found["schema"] == "tensorgrade/replay/1"
    assert next(one["what"] for one in found["result"]) == "score"


@pytest.mark.slow
def test_a_class_and_an_assignment_in_python(tmp_path: Path) -> None:
    class_of = tmp_path / "class" / "ada" / "project"
    for name in ("minitorch/autodiff.py", "project/run_sentiment.py"):
        (class_of / name).parent.mkdir(parents=True, exist_ok=True)
        (class_of / name).write_bytes((ROOT / "student_template" / "HW2" / name).read_bytes())
    (tmp_path / "class" / "bob").mkdir()
    (tmp_path / "class" / "bob" / "notes.txt").write_text("no submission at all")
    out = tmp_path / "out"
    batch = run_command("batch", "HW2", tmp_path / "class", "--out", out, "--no-training", "-q")
    assert batch.exit == 0, batch.stderr
    for student, handed_in in (("bob", tmp_path / "class" / "bob"), ("ada", class_of.parent)):
        kept = out / "HW2" / student / "result.json"
        assert json.loads(kept.read_bytes())["options"]["staff"] is True
        done = run_command("replay", kept, handed_in, "-q")
        assert done.exit == 0, done.stdout + done.stderr
    done = run_command("replay", out / "HW2" / "ada" / "result.json", ROOT / "reference" / "HW2", "-q")
    assert done.exit == 1
    assert "submitted minitorch/autodiff.py" in done.stdout


def kept(folder: Path, **changes: Any) -> str:
    path = folder / "result.json"
    path.write_text(made(assignment="A2", **changes).model_dump_json(by_alias=True))
    return str(path)


def test_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRADE_FIXTURES", raising=False)
    here, fall = str(ROOT / "reference" / "A2"), FixtureInfo(set="fall", seed=None, digest="0")
    (tmp_path / "no.json").write_text("[]")
    (tmp_path / "other.json").write_text('{"schema": "other"}')
    cases: list[tuple[list[str], str]] = [
        ([str(tmp_path / "absent.json"), here], "absent.json cannot be read"),
        ([str(tmp_path / "no.json"), here], "no.json is no result (tensorgrade/result/1): "),
        ([str(tmp_path / "other.json"), here], "is no result (tensorgrade/result/1): grader: Field required"),
        ([kept(tmp_path), str(tmp_path / "absent")], "there is no submission at"),
        ([kept(tmp_path), here, "--state", "x"], "the result is not of real files"),
        ([kept(tmp_path), here, "--json", "/nowhere/x.json"], "--json: there is no folder"),
        ([], "the following arguments are required"),
    ]
    for arguments, says in cases:
        assert main(["replay", *arguments]) == 2
        told = capsys.readouterr()
        assert says in told.err
        assert told.out == ""
    assert main(["replay", kept(tmp_path, fixtures=fall), here]) == 2
    assert "the fixture set `fall`; say where it lies: --fixtures DIR" in capsys.readouterr().err
    real = OPTIONS.model_copy(update={"real_files": True})
    assert main(["replay", kept(tmp_path, options=real), here]) == 2
    assert "name them: --checkpoint BIN --state BIN" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../../elsewhere", "/etc", "x" * 5000, "", "a/b"])
def test_a_result_leads_to_no_other_folder(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = FixtureInfo(set=name, seed=None, digest="0")
    assert main(["replay", kept(tmp_path, fixtures=elsewhere), str(ROOT / "reference" / "A2")]) == 2
    assert "the result names no fixture set" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["/bin/evil", "./gcc", "../gcc", "gcc; x", "make"])
def test_a_result_names_no_program_to_be_run(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = OPTIONS.model_copy(update={"compiler": name})
    assert main(["replay", kept(tmp_path, options=odd), str(ROOT / "reference" / "A2")]) == 2
    assert f"the result names the compiler `{name}`; where that is meant, say so: --cc" in capsys.readouterr().err


def test_fixtures_that_are_damaged_are_no_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / fixtures.MANIFEST).write_text("{}")
    here = str(ROOT / "reference" / "A2")
    assert main(["replay", kept(tmp_path), here, "-q", "--fixtures", str(tmp_path / "set")]) == 3
    assert "is damaged" in capsys.readouterr().err
