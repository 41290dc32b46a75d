"""The reference's kernels, and wrong ones, on a real GPU: `./grade selftest tests/gpu`."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from grader import assignment
from grader.cuda import machine
from grader.cuda.machine import Gpu, Nvcc
from grader.cuda.settings import load
from tests.cuda.machine import submission
from tests.support import ROOT, Graded, run_command

NVCC = machine.find_nvcc()
GPU = machine.find_gpu(NVCC.toolkit if NVCC else None)
SETTINGS = load(assignment.load("HW2"))
assert SETTINGS is not None
TEMPLATE = (ROOT / "student_template" / "HW2" / "src" / "combine.cu").read_text("utf-8")


def why_not() -> str:
    """What keeps these tests from running here; empty: nothing."""
    if isinstance(GPU, str):
        return GPU
    return machine.NO_NVCC if NVCC is None else ""


pytestmark = [pytest.mark.skipif(why_not() != "", reason=why_not() or "it is here"), pytest.mark.xdist_group("gpu")]
WITH_PYCUDA = pytest.mark.skipif(machine.lacks(SETTINGS.packages), reason=machine.NO_PYCUDA)

# a kernel that is then wrong, what is replaced, and by what
WRONG = {
    "strides are ignored": ("map", "in_storage[from]", "in_storage[ordinal]"),
    "no broadcasting": ("zip", "if (shape[dim] > 1) {", "if (shape[dim] > 0) {"),
    "a start that is not used": ("reduce", "float value = reduce_value;", "float value = 0.0f;"),
    "an element too few": ("reduce", "step < a_shape[reduce_dim];", "step < a_shape[reduce_dim] - 1;"),
    "the last of a tile": ("matmul", "k < TILE;", "k < TILE - 1;"),
    "double for float": ("reduce", "int reduce_dim, float reduce_value", "int reduce_dim, double reduce_value"),
}
NO_BOUNDS = ("    if (ordinal >= out_size) {\n        return;\n    }\n", "")  # seen by compute-sanitizer alone


def grade(*args: str | Path) -> Graded:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.json"
        done = run_command("HW2", *args, "--quiet", "--json", path)
        result = json.loads(path.read_bytes()) if path.exists() else {}
    return Graded(done.exit, done.stdout, done.stderr, result)


def verdicts(graded: Graded) -> dict[str, str]:
    return {line["id"]: line["verdict"] for line in graded.result["kernels"]["kernels"]}


def test_the_template_s_kernels_are_right_on_it() -> None:
    assert isinstance(GPU, Gpu)
    assert isinstance(NVCC, Nvcc)
    graded = grade("--reference", "--backend", "auto", "--only", "topological_sort")
    kernels = graded.result["kernels"]
    assert kernels["compiled"] is True, kernels
    assert kernels["ran_on"], kernels
    assert set(verdicts(graded).values()) == {"pass"}, kernels


@WITH_PYCUDA
def test_all_rows_and_the_training_run_on_the_kernels() -> None:
    graded = grade("--reference", "--backend", "cuda")
    kernels = graded.result["kernels"]
    assert (kernels["rows_on"], kernels["rows_why"]) == ("cuda", ""), kernels
    assert kernels["notes"] == [], "a row failed on CUDA and passed on NumPy"
    assert graded.result["score"] == 100, graded.said()
    assert {"one epoch on cuda", "one epoch on numpy", "one epoch on simple"} <= set(graded.result["timing"])


@pytest.mark.parametrize("name", WRONG)
def test_wrong_kernels_are_found_and_cost_no_points(name: str, tmp_path: Path) -> None:
    wrong, before, after = WRONG[name]
    assert before in TEMPLATE
    graded = grade(
        submission(tmp_path, TEMPLATE.replace(before, after)), "--backend", "auto", "--only", "linear_forward"
    )
    assert verdicts(graded)[wrong] != "pass", graded.result["kernels"]
    assert graded.result["kernels"]["rows_on"] == "numpy"
    assert not graded.lost, graded.said()


@pytest.mark.skipif(NVCC is None or NVCC.sanitizer is None, reason="compute-sanitizer is not installed")
def test_compute_sanitizer_finds_nothing_in_right_kernels_and_what_is_out_of_bounds(tmp_path: Path) -> None:
    right = grade("--reference", "--backend", "auto", "--sanitize", "--only", "topological_sort")
    assert "compute-sanitizer: clean" in right.result["kernels"]["notes"]
    assert NO_BOUNDS[0] in TEMPLATE
    wrong = submission(tmp_path, TEMPLATE.replace(*NO_BOUNDS, 1))
    graded = grade(wrong, "--backend", "auto", "--sanitize", "--only", "topological_sort")
    assert any("Invalid __global__" in note for note in graded.result["kernels"]["notes"]), graded.result["kernels"]
