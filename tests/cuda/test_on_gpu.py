"""Where there is a GPU: kernels are tried on it, right ones carry the rows, and wrong ones cost nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cuda.conftest import Grade
from tests.cuda.machine import KERNELS, SANITIZER, Machine, program, submission

ROWS = "--only=topological_sort,linear_forward"
RIGHT = KERNELS.read_text("utf-8")
# what of the stand-in's kernels is changed, and the kernel that is then wrong
IN_TRAINING = """
#include <cstdlib>
#include <unistd.h>
static bool in_training() { return access("scratch", 0) == 0 || access("../scratch", 0) == 0; }
"""
WRONG = {
    "a wrong value": ("map", "/* map */", "out[0] += 1;"),
    "a crash": ("zip", "/* zip */", "*(volatile int*)0 = 1;"),
    "an end": ("reduce", "/* reduce */", "_Exit(3);"),
    "a lost context": ("matmul", "/* matmul */", "break_context();"),
}


def test_the_rows_run_on_right_kernels(gpu: Machine, grade: Grade, tmp_path: Path) -> None:
    graded = grade(submission(tmp_path / "s", RIGHT), "--backend", "cuda", ROWS)
    kernels = graded.result["kernels"]
    assert kernels["compiled"] is True
    assert kernels["ran_on"] == "Stand-in 1"
    assert [line["verdict"] for line in kernels["kernels"]] == ["pass"] * 4, kernels
    assert (kernels["rows_on"], kernels["rows_why"], kernels["not_on_gpu"]) == ("cuda", "", "")
    assert not graded.lost, graded.said()
    assert kernels["notes"] == []
    assert {"one epoch on cuda", "one epoch on numpy", "one epoch on simple"} <= set(graded.result["timing"])
    assert "run on Stand-in 1" in graded.stdout
    assert "the rows were judged on the backend cuda" in graded.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_wrong_kernels_are_told_and_cost_no_points(
    name: str, gpu: Machine, quick: None, grade: Grade, tmp_path: Path
) -> None:
    wrong, mark, code = WRONG[name]
    graded = grade(submission(tmp_path / "s", RIGHT.replace(mark, code)), "--backend", "auto", ROWS)
    verdicts = {line["id"]: line["verdict"] for line in graded.result["kernels"]["kernels"]}
    assert {kernel for kernel, verdict in verdicts.items() if verdict != "pass"} == {wrong}
    assert not graded.lost, graded.said()
    assert graded.result["kernels"]["rows_on"] == "numpy"
    assert graded.result["kernels"]["rows_why"] == f"the kernels are not right: {wrong}"


@pytest.mark.slow
def test_a_lost_context_is_told_in_the_driver_s_words(gpu: Machine, quick: None, grade: Grade, tmp_path: Path) -> None:
    kernels = RIGHT.replace("/* matmul */", "break_context();")
    graded = grade(submission(tmp_path / "s", kernels), "--backend", "auto", "--only=topological_sort")
    assert "CUDA error 700: an illegal memory access" in " ".join(graded.stdout.split())


def test_a_row_that_fails_on_the_kernels_alone_is_judged_on_numpy(
    gpu: Machine, quick: None, grade: Grade, tmp_path: Path
) -> None:
    """Kernels that are right in all that they are tried on, and wrong inside of a program that trains."""
    kernels = RIGHT.replace("/* matmul */", "if (in_training()) out[0] = 1e6f;")
    kernels = kernels.replace("static float fn(", IN_TRAINING + "static float fn(", 1)
    graded = grade(submission(tmp_path / "s", kernels), "--backend", "auto", "--only=linear_forward")
    assert graded.result["kernels"]["rows_on"] == "cuda", graded.result["kernels"]
    assert not graded.lost, graded.said()
    assert any("linear_forward passes on NumPy" in note for note in graded.result["kernels"]["notes"])


@pytest.mark.slow
def test_a_gpu_that_the_sandbox_cannot_use_is_told(
    gpu: Machine, quick: None, grade: Grade, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(gpu.gpu.environment, "LD_LIBRARY_PATH", "/nowhere")
    graded = grade(submission(tmp_path / "s", RIGHT), "--backend", "auto", ROWS)
    assert "a GPU is there, and cannot be used: libcuda.so.1 cannot be loaded" in graded.result["kernels"]["not_on_gpu"]
    assert graded.result["kernels"]["rows_on"] == "numpy"
    assert not graded.lost


@pytest.mark.slow
def test_without_pycuda_the_kernels_are_tried_and_the_rows_are_not_run_on_them(
    gpu: Machine, quick: None, grade: Grade, tmp_path: Path
) -> None:
    (gpu.packages / "siphash24.py").unlink()
    graded = grade(submission(tmp_path / "s", RIGHT), "--backend", "auto", "--only=topological_sort")
    assert graded.result["kernels"]["ran_on"] == "Stand-in 1"
    assert "PyCUDA is not installed" in graded.result["kernels"]["rows_why"]
    refused = grade(submission(tmp_path / "t", RIGHT), "--backend", "cuda", "--only=topological_sort")
    assert refused.exit == 2
    assert "PyCUDA is not installed" in refused.stderr


@pytest.mark.slow
def test_compute_sanitizer_is_asked_and_told(gpu: Machine, quick: None, grade: Grade, tmp_path: Path) -> None:
    program(gpu.toolkit / "bin" / "compute-sanitizer", SANITIZER)
    graded = grade(submission(tmp_path / "s", RIGHT), "--backend=auto", "--sanitize", "--only=topological_sort")
    told = "compute-sanitizer (memcheck): mapKernel: Invalid __global__ write of size 4 bytes at src/combine.cu:171"
    assert graded.result["kernels"]["notes"] == [told]
    without = gpu.toolkit / "bin" / "compute-sanitizer"
    without.unlink()
    graded = grade(submission(tmp_path / "t", RIGHT), "--backend=auto", "--sanitize", "--only=topological_sort")
    assert "it is not installed" in graded.result["kernels"]["notes"][0]
