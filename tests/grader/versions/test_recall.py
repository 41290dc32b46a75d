"""A probe is run once under both versions where they ask the same of it, and again where they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import assignment as assignments
from grader.assignment import Assignment
from grader.engine import Probed
from grader.fixtures import CaseEntry, FixtureCase
from grader.options import Probing
from grader.versions.recall import Recall
from tests.grader.builders import probed

A2 = assignments.load("A2")
CASE = FixtureCase(Path("/nowhere"), CaseEntry(id="gelu_backward/one", params={"N": 1}, inputs="aa", expected="bb"))


def probing(assignment: Assignment = A2, case: FixtureCase = CASE, own: tuple[str, ...] = ()) -> Probing:
    return Probing("gelu_backward", assignment.checks["gelu_backward"], [case], own)


def changed(name: str, **fields: object) -> Assignment:
    checks = {**A2.checks, "gelu_backward": A2.checks["gelu_backward"].model_copy(update=fields)}
    return A2.model_copy(update={"checks": checks}) if name == "check" else A2.model_copy(update=fields)


class Runs:
    """Counts how often the probe is run."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0

    def __call__(self) -> Probed:
        self.count += 1
        (self.folder / "one.tensors").write_bytes(b"tensor")
        return probed({CASE.id: {"status": "ok"}}, {CASE.id: self.folder / "one.tensors"})


@pytest.mark.parametrize(
    ("second", "times"),
    [
        (probing(), 1),
        (probing(case=FixtureCase(Path("/else"), CASE.entry.model_copy(update={"expected": "cc"}))), 1),
        (probing(changed("check", title="other words", cases_min=5)), 1),
        (probing(case=FixtureCase(Path("/else"), CASE.entry.model_copy(update={"inputs": "cc"}))), 2),
        (probing(changed("check", function="residual_backward")), 2),
        (probing(own=("matmul_backward",)), 2),
    ],
)
def test_once_or_twice(second: Probing, times: int, tmp_path: Path) -> None:
    work, kept = tmp_path / "work", tmp_path / "kept"
    work.mkdir()
    kept.mkdir()
    runs, recall = Runs(work), Recall(kept)
    first = recall.around(A2)(probing(), runs)
    (work / "one.tensors").unlink()  # the first grading's folder is gone when the second begins
    again = recall.around(A2)(second, runs)
    assert runs.count == times
    assert first.outputs[CASE.id].read_bytes() == b"tensor"
    assert again.statuses == first.statuses


@pytest.mark.parametrize("field", [{"policies": {"a": "b"}}, {"builds": {**A2.builds, "plain": A2.builds["fast"]}}])
def test_another_policy_or_build_is_another_probe(field: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    runs, recall = Runs(tmp_path), Recall(tmp_path / "kept")
    recall.around(A2)(probing(), runs)
    recall.around(changed("assignment", **field))(probing(), runs)
    assert runs.count == 2
