"""What a result was made from: a hash that changes with all that decides, and with nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader import assignment as assignments
from grader import fixtures, provenance, tolerances
from grader.home import ROOT

A2, HW2 = assignments.load("A2"), assignments.load("HW2")


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the hashes are of, to be changed."""
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    for name in ("assignments", "student_template", "reference", "fixtures/HW2/corpus"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def of(name: str) -> str:
    provenance._of_assignment.cache_clear()
    found = provenance.of_assignment(assignments.load(name))
    provenance._of_assignment.cache_clear()
    return found


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("assignments/A2/driver.py", "A2"),
        ("assignments/A2/assignment.yaml", "A2"),
        ("assignments/common/probe_io.py", "A2 HW2"),
        ("student_template/A2/llmc/utils.h", "A2"),
        ("student_template/A2/README.md", ""),
        ("reference/A2/train_gpt2.c", "A2"),
        ("reference/HW2/project/run_sentiment.py", "HW2"),
        ("reference/HW2/oracle.py", ""),
        ("fixtures/HW2/corpus/train.tsv", "HW2"),
    ],
)
def test_the_assignments_hash(file: str, changes: str, copied: Path) -> None:
    before = {name: of(name) for name in ("A2", "HW2")}
    with (copied / file).open("a") as opened:
        opened.write("\n")
    assert " ".join(name for name in before if of(name) != before[name]) == changes


def test_the_tolerances_hash_is_of_the_assignments_own_limits() -> None:
    known = tolerances.load()
    before = {name: provenance.of_tolerances(known, name) for name in ("A2", "HW2")}
    limits = known.measured["A2"]["gelu_backward"]
    wider = {"dinp": limits["dinp"].model_copy(update={"rtol": 1e-2})}
    measured = {**known.measured, "A2": {**known.measured["A2"], "gelu_backward": wider}}
    changed = known.model_copy(update={"measured": measured})
    assert provenance.of_tolerances(changed, "A2") != before["A2"]
    assert provenance.of_tolerances(changed, "HW2") == before["HW2"]


def test_seeds_and_what_stood_in_for_cases() -> None:
    cases = fixtures.load(fixtures.set_folder("HW2", "public")).cases("training_loop")
    other = fixtures.load(fixtures.set_folder("HW2", "public")).cases("linear_init")[0]
    found = provenance.of_run(HW2, tolerances.load(), [*cases, other], {"accuracy": other})
    assert found.seeds == {"training_loop/two-epochs": 7, "training_loop/last-batch": 7}
    assert found.replaced.keys() == {"accuracy"}
    assert found.grader == provenance.of_grader()
    assert len({found.grader, found.assignment, found.tolerances, found.replaced["accuracy"]}) == 4
