"""The driver's own parts: what it may import, what it keeps of the reference, how it reads a source."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assignments.common.outcome import is_empty
from assignments.common.probe_io import Job
from assignments.common.python_files import source_problem
from assignments.HW2 import driver
from assignments.HW2.probes import patient
from assignments.HW2.probes.build import kept
from assignments.HW2.probes.program import Step, steps
from tests.support import ROOT

SANDBOXED = [ROOT / "assignments" / "HW2" / "driver.py", *(ROOT / "assignments" / "HW2" / "probes").glob("*.py")]


@pytest.mark.parametrize("path", SANDBOXED, ids=lambda path: path.name)
def test_nothing_of_the_judging_side_is_imported(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    names = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    names += [alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names]
    assert not [n for n in names if n.split(".")[0] in ("grader", "reference", "torch")]
    assert not [n for n in names if n in ("assignments.HW2.derive", "assignments.HW2.formulas", "assignments.HW2.data")]


def test_the_driver_starts_with_the_standard_library_alone() -> None:
    command = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import assignments.HW2.driver",
    ]
    assert subprocess.run(command, check=False).returncode == 0


def test_the_reference_is_cut_to_what_is_needed() -> None:
    text = kept("import os\nx = 1\ndef a(): pass\nclass B: pass\nif __name__ == '__main__':\n    a()\n", ["B"])
    assert "class B" in text
    assert "import os" in text
    assert "def a" not in text
    assert "__main__" not in text


def test_a_source_problem_has_its_line() -> None:
    assert source_problem(b"x = 1\ny = (\n", "f.py").startswith(", line 2: SyntaxError")
    assert "U+00A0" in source_problem("x = 1\nif x:\n\u00a0   pass\n".encode(), "f.py")
    assert "null" in source_problem(b"x = 1\0\n", "f.py")
    assert not source_problem(b"\xef\xbb\xbfx = 1\r\n", "f.py")


def test_empty_functions_are_seen() -> None:
    def documented() -> None:
        """To do."""

    def written(x: int) -> int:
        return x + 1

    assert is_empty(documented)
    assert is_empty(lambda: None)
    assert not is_empty(written)
    assert not is_empty(print)


TRAINER = """
class SentenceSentimentTrain:
    def train(self, data_val, log):
        X = data_val
        for epoch in range(2):
            count, total = 0, 0.0
            for batch in [1, 2]:
                out = missing(batch)
                total += out
                count += 1
            if data_val:
                predictions = [x + 1 for x in X]
                {validation}
            mean = total / (count - count)
            log(epoch, count, predictions)
"""


def trained(folder: Path, validation: str) -> list[tuple[int, int, list[int]]]:
    (folder / "loop.py").write_text(TRAINER.format(validation=validation), "utf-8")
    told: list[tuple[int, int, list[int]]] = []
    module = patient.module("patient_loop", str(folder / "loop.py"))
    module.SentenceSentimentTrain().train([4, 5], lambda *entry: told.append(entry))
    return told


def test_validation_is_reached_past_a_training_step_that_raises(tmp_path: Path) -> None:
    assert trained(tmp_path, "pass") == [(0, 2, [5, 6]), (1, 2, [5, 6])]


def test_validation_that_raises_is_not_passed_over(tmp_path: Path) -> None:
    with pytest.raises(NameError, match="nowhere"):
        trained(tmp_path, "nowhere()")


def test_no_more_cases_are_tried_than_two_that_do_not_end() -> None:
    tried: list[str] = []

    def probe(job: Job, case: dict[str, Any]) -> dict[str, Any]:
        tried.append(case["id"])
        return {"status": "ok" if case["id"] == "a" else "timed_out"}

    sparing = driver.sparing(probe)
    found = [sparing(Job("probe", "", "", ""), {"id": name}) for name in "abcd"]
    assert [status["status"] for status in found] == ["ok", *["timed_out"] * 3]
    assert tried == ["a", "b", "c"]
    assert "b and c" in found[-1]["detail"]


def test_a_step_survives_its_row() -> None:
    step = Step("permute", (3,), (2, 0, 1))
    assert steps([step.row()]) == [step]
