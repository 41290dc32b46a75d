"""``./grade mutate``: its usage, its table and its document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from grader import assignment as assignments
from grader.cli import main
from grader.mutation import document, report, strength
from grader.mutation.notes import Note, Notes
from grader.mutation.outcome import Outcome
from grader.mutation.report import Summary


def outcome(name: str, state: str, **fields: Any) -> Outcome:
    own = {"region": name.split("/")[0], "row": "encoder_backward", "kind": "sign", "line": 7, "diff": "- a\n+ b"}
    return Outcome.model_validate({"key": name, "id": name, "state": state, "verdict": "fail", **own, **fields})


OUTCOMES = [
    outcome("f/sign/1", "killed", lost={"encoder_backward": 10}),
    outcome("f/sign/2", "killed", lost={"encoder_backward": 10, "adamw": 10}, by_rule=["adamw"]),
    outcome("f/sign/3", "killed", lost={"matmul_backward": 10}),
    outcome("f/sign/4", "equivalent"),
    outcome("g/sign/5", "survived", differs="f: f/small"),
    outcome("g/sign/6", "survived", differs="f: f/small"),
    outcome("g/sign/7", "build failed"),
]


def summary(outcomes: Sequence[Outcome] = OUTCOMES) -> Summary:
    made = Summary(assignments.load("A2"), outcomes, "./grade mutate A2", "fixtures 0123")
    notes = [Note(why="It rounds.", ids=["g/sign/6"]), Note(why="The same.", ids=["f/sign/4"])]
    made.__dict__["notes"] = Notes(notes=notes)
    return made


def test_the_numbers() -> None:
    made = summary()
    assert made.cells("f") == ("f", 0, 4, 3, 1, 0, 0, "66.7 %")
    assert made.cells("g") == ("g", 1, 2, 0, 0, 1, 1, "-")
    assert made.cells(None) == ("all", 1, 6, 3, 1, 1, 1, "66.7 %")
    assert [o.id for o in made.survivors] == ["g/sign/5"]
    assert [o.id for o in made.astray] == ["f/sign/3"]


def test_the_document_names_the_command_and_all_that_did_not_go_as_it_should(tmp_path: Path) -> None:
    text = "\n".join(document.lines(summary()))
    assert "Made by `./grade mutate A2` (fixtures 0123)." in text
    assert "| all | 1 | 6 | 3 | 1 | 1 | 1 | 66.7 % |" in text
    assert "1 of them fail the check of the whole program as well" in text
    assert "### Survived\n\n`g/sign/5`, line 7: f: f/small\n\n```diff\n- a\n+ b\n```" in text
    assert "`f/sign/3`, line 7: encoder_backward was to be lost; lost: matmul_backward -10" in text
    assert "**The same.** (1)\n\n```diff\n@@ f/sign/4, line 7, equal @@" in text
    assert "@@ g/sign/6, line 7, argued @@" in text


def test_a_part_of_the_document_is_put_in_place_of_the_older_one(tmp_path: Path) -> None:
    path = tmp_path / "study.md"
    document.write(summary(OUTCOMES[:1]), path)
    first = path.read_text()
    path.write_text(f"# Study\n\n{first}\nThe end.\n")
    document.write(summary(OUTCOMES[:3]), path)
    text = path.read_text()
    assert text.startswith("# Study\n\n<!-- A2: begin -->\n## A2\n")
    assert text.endswith("<!-- A2: end -->\n\nThe end.\n")
    assert text.count("## A2") == 1
    assert "| all | 0 | 3 |" in text


def test_the_record() -> None:
    found = json.loads(report.as_json(summary()))
    assert found["schema"] == "tensorgrade/mutation/1"
    assert found["table"][-1]["killed"] == 3
    assert found["mutants"][5]["why"] == "It rounds."


def test_a_private_set_beside_the_public_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weaker = [OUTCOMES[0], outcome("f/sign/2", "survived", differs="f: f/small"), *OUTCOMES[2:]]
    found = strength.Strength(summary(), summary(weaker))
    assert strength.Strength(summary(), summary()).equal
    assert not found.equal
    assert found.rows() == [("f", "4", "3", "2"), ("g", "2", "0", "0"), ("all", "6", "3", "2")]
    strength.show(found)
    assert "f/sign/2 (line 7): public killed, private survived\n- a\n+ b" in capsys.readouterr().out
    told = json.loads(strength.as_json(found))
    assert told["differing"] == [{"id": "f/sign/2", "public": "killed", "private": "survived"}]
    assert (told["table"][-1]["killed"], told["public"]["table"][-1]["killed"]) == (2, 3)
    strength.write(found, tmp_path / "study.md")
    text = (tmp_path / "study.md").read_text()
    assert text.startswith("<!-- A2 private: begin -->\n### A2\n")
    assert "| all | 6 | 3 | 2 |\n\n```diff\nf/sign/2 (line 7)" in text


def test_the_list_grades_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutate", "A2", "--only", "residual_backward", "--list"]) == 0
    told = capsys.readouterr().out
    assert "\n- dinp1[i] += dout[i];\n+ dinp1[i] = dout[i];\n" in told
    assert "residual_backward/assignment/" in told


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["A9"], "there is no assignment `A9`"),
        (["A2", "--only", "f"], "A2 has no solution in `f`; there are: encoder_backward, "),
        (["A2", "--fixtures", "/absent"], "there is no fixture set at /absent"),
        (["A2", "--sample", "0"], "--sample: 0 is not a number of 1 or more"),
        (["A2", "--jobs", "-1"], "--jobs: -1 is not a number of 1 or more"),
        (["A2", "--markdown", "/nowhere/at/all.md"], "--markdown: there is no folder /nowhere/at"),
        ([], "the following arguments are required: assignment"),
    ],
)
def test_wrong_usage(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutate", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert says in told.err
