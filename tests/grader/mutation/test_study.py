"""Grading mutants: what is killed, proved equivalent or survives, what the journal keeps, and a sample of the study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grader import assignment as assignments
from grader import fixtures, sandbox
from grader.mutation.changes import Change, Mutant, Region, mutants
from grader.mutation.outcome import Journal, Outcome
from grader.mutation.regions import reference_file, regions
from grader.mutation.study import Setting, Study
from tests.support import run_command

A2 = assignments.load("A2")
SOURCE = reference_file(A2, "train_gpt2.c").read_bytes()


def region(name: str) -> Region:
    return next(found for found in regions(A2) if found.name == name)


def mutant(function: str, replace: bytes, by: bytes) -> Mutant:
    """A mutant of our own: the first text of a function's solution for another."""
    place = region(function)
    start = SOURCE.index(replace, place.start)
    (made,) = mutants(SOURCE, place, [Change("made up", start, start + len(replace), by)])
    return made


def study(folder: Path) -> Study:
    public = fixtures.load(fixtures.set_folder("A2", "public"))
    return Study(A2, Setting(public, sandbox.choose(), own_row=True), Journal(folder))


def run(made: Study, *these: Mutant) -> list[Outcome]:
    told: list[Outcome] = []
    found = made.run(these, 2, told.append)
    assert {o.key for o in told} <= {o.key for o in found}
    return found


def test_killed_equivalent_survived_and_no_program(tmp_path: Path) -> None:
    killed = mutant("residual_backward", b"dinp2[i] += dout[i];", b"dinp1[i] += dout[i];")
    equivalent = mutant("residual_backward", b"dinp2[i] += dout[i];", b"dinp2[i] += 1.0f * dout[i];")
    survived = mutant("residual_backward", b"dinp2[i] += dout[i];", b"dinp2[i] += 1.00001f * dout[i];")
    # 1027 is the longest of the public set, where this is equal; the further sets have longer ones
    cut = mutant("residual_backward", b"i < N", b"i < (N < 1027 ? N : 1027)")
    no_program = mutant("residual_backward", b"dinp2[i]", b"dinp3[i]")
    found = run(study(tmp_path), killed, equivalent, survived, cut, no_program)
    assert [o.state for o in found] == ["killed", "equivalent", "survived", "survived", "build failed"]
    assert found[0].lost == {"gelu_residual_backward": 10}
    assert (found[0].exact, found[0].verdict) == (True, "fail")
    assert found[0].diff == "- dinp2[i] += dout[i];\n+ dinp1[i] += dout[i];"
    assert found[2].differs == "residual_backward: residual_backward/one"
    assert found[3].differs.endswith("/residual_backward/long")


def test_the_journal_spares_what_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = mutant("gelu_backward", b"dinp[i] +=", b"dinp[i] -=")
    first = run(study(tmp_path), made)
    with (tmp_path / "journal.jsonl").open("a") as file:
        file.write('{"key": "cut sho')
    again = study(tmp_path)
    monkeypatch.setattr(again, "grade", lambda _: pytest.fail("it is known"))
    assert run(again, made) == first


def test_the_journal_knows_nothing_of_other_circumstances(tmp_path: Path) -> None:
    made = mutant("gelu_backward", b"dinp[i] +=", b"dinp[i] -=")
    one = study(tmp_path)
    other = Study(A2, Setting(one.setting.fixtures, one.setting.sandbox, own_row=False), one.journal)
    assert one.key(made) != other.key(made)
    assert one.key(made) != one.key(mutant("gelu_backward", b"dinp[i] +=", b"dinp[i] ="))


def test_what_is_done_is_kept_when_it_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = study(tmp_path)
    monkeypatch.setattr(made, "grade", lambda m: outcome(key=made.key(m), id=m.id))
    these = [mutant("gelu_backward", b"dinp[i] +=", b"dinp[i] " + by) for by in (b"-=", b"=", b"*=")]

    def stop(_: Outcome) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made.run(these, 1, stop)
    assert study(tmp_path).known(these)


def outcome(**fields: Any) -> Outcome:
    about = {"region": "gelu_backward", "row": "gelu", "kind": "sign", "line": 1, "diff": "", "state": "killed"}
    return Outcome.model_validate({"key": "k", "id": "i", **about, **fields})


def test_where_the_points_went() -> None:
    assert outcome(lost={"gelu": 5}).exact
    assert outcome(lost={"gelu": 5, "adamw": 10}, by_rule=["adamw"]).exact
    assert not outcome(lost={"gelu": 5, "adamw": 10}).exact
    assert outcome(lost={"gelu": 5, "adamw": 10}).elsewhere == ["adamw"]
    assert not outcome(lost={"adamw": 10}, by_rule=["adamw"]).exact, "its own row has to be lost"
    assert outcome(lost={"gelu": 5}, by_rule=["gelu"]).exact, "whatever of it was lost"


@pytest.mark.slow
@pytest.mark.parametrize("name", assignments.known_ids())
def test_a_sample_of_the_study_kills_all_that_is_not_equivalent(name: str, tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    how = ("--own-row", "--sample", "20", "--seed", "2", "--out", tmp_path, "--quiet", "--json", path)
    done = run_command("mutate", name, *how)
    found = json.loads(path.read_bytes())
    assert done.exit == 0, done.stdout
    assert found["table"][-1]["killed"] >= 15, done.stdout
    assert found["table"][-1]["survived"] == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", assignments.known_ids())
def test_a_sample_of_the_study_costs_the_right_row(name: str, tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    done = run_command("mutate", name, "--sample", "60", "--seed", "5", "--out", tmp_path, "-q", "--json", path)
    killed = [o for o in json.loads(path.read_bytes())["mutants"] if o["state"] == "killed"]
    exact = [o for o in killed if o["row"] in o["lost"] and {*o["lost"]} <= {o["row"], *o["by_rule"]}]
    assert done.exit == 0, done.stdout
    assert len(exact) >= 0.95 * len(killed), done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [("A2", 20), ("HW2", 9)])
def test_a_private_set_kills_what_the_public_one_kills(name: str, count: int, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"sixteen bytes, and more")
    built = ("--set", "fall", "--seed-file", tmp_path / "secret", "--out", tmp_path / "fall")
    assert run_command("fixtures", "build", name, *built).exit == 0
    path = tmp_path / "study.json"
    how = ("--own-row", "--sample", str(count), "--seed", "3", "--out", tmp_path, "-q", "--json", path)
    done = run_command("mutate", name, "--fixtures", tmp_path / "fall", *how)
    found = json.loads(path.read_bytes())
    assert (done.exit, found["differing"]) == (0, []), done.stdout
    killed = found["table"][-1]["killed"]
    assert killed == found["public"]["table"][-1]["killed"] >= 0.8 * count, done.stdout
