"""Without a GPU: what nvcc makes of the student's kernels is told beside the rows, and costs nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.cuda import machine
from grader.cuda.asked import asked
from grader.cuda.look import errors
from grader.errors import UsageError
from grader.known.cuda import known, source
from tests.cuda.conftest import Grade
from tests.cuda.machine import KERNELS, NVCC, program, submission
from tests.support import ROOT, run_command

ROW = "--only=topological_sort"
KNOWN = known()
TEMPLATE = (ROOT / "student_template" / "HW2" / "src" / "combine.cu").read_text("utf-8")
REAL_NVCC = pytest.mark.skipif(machine.find_nvcc() is None, reason="nvcc is not installed")


@pytest.fixture
def nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that stands in for nvcc."""
    path = program(tmp_path / "toolkit" / "bin" / "nvcc", NVCC)
    monkeypatch.setenv("PATH", str(path.parent), prepend=":")


@REAL_NVCC
def test_right_kernels_compile_and_are_not_run(no_gpu: None, grade: Grade, tmp_path: Path) -> None:
    graded = grade(submission(tmp_path / "s", TEMPLATE), "--backend", "auto", ROW)
    kernels = graded.result["kernels"]
    assert (kernels["compiled"], kernels["errors"], kernels["ran_on"]) == (True, [], "")
    told = " ".join(graded.stdout.split())  # wherever a line ends
    assert "src/combine.cu: compiles with nvcc" in told
    assert "not run: there is no NVIDIA GPU here" in told
    assert "the rows were judged on the backend numpy" in told
    assert not graded.lost


@REAL_NVCC
def test_an_error_of_nvcc_is_told_with_file_and_line(no_gpu: None, grade: Grade, tmp_path: Path) -> None:
    wrong = TEMPLATE.replace("return x * y;", "return x * z;", 1)
    line = wrong[: wrong.index("x * z")].count("\n") + 1
    graded = grade(submission(tmp_path / "s", wrong), "--backend", "auto", ROW)
    assert graded.result["kernels"]["compiled"] is False
    assert graded.result["kernels"]["errors"][0] == f'src/combine.cu:{line}: error: identifier "z" is undefined'
    assert not graded.lost


def test_a_library_that_is_handed_in_is_not_loaded(no_gpu: None, nvcc: None, grade: Grade, tmp_path: Path) -> None:
    folder = submission(tmp_path / "s", None)
    library = folder / "minitorch" / "cuda_kernels" / "combine.so"
    library.parent.mkdir()
    library.write_bytes(b"\x7fELF" + bytes(2 << 20))
    graded = grade(folder, "--backend", "auto", ROW)
    kernels = graded.result["kernels"]
    assert kernels is not None, graded.stdout
    assert kernels["compiled"] is None
    assert kernels["not_on_gpu"] == "the submission has no src/combine.cu"
    assert [note for note in kernels["notes"] if "combine.so was handed in, and is not used" in note]
    assert not graded.lost


def test_kernels_that_are_too_large_are_not_taken(no_gpu: None, nvcc: None, tmp_path: Path) -> None:
    from grader import assignment

    folder = submission(tmp_path / "s", "// " + "x" * (2 << 20))
    found = asked(assignment.load("HW2"), "auto", folder)
    assert found is not None
    assert found.source is None
    assert found.problem == "src/combine.cu is larger than 1024 KiB"


@pytest.mark.slow
def test_a_compiler_that_fails_without_a_word(
    no_gpu: None, grade: Grade, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = NVCC.replace("exec g++", "exit 1; exec g++")
    path = program(tmp_path / "toolkit" / "bin" / "nvcc", failing)
    monkeypatch.setenv("PATH", str(path.parent), prepend=":")
    graded = grade(submission(tmp_path / "s", KERNELS.read_text()), "--backend", "auto", ROW)
    assert graded.result["kernels"]["errors"] == ["nvcc gave no reason"]
    assert graded.exit == 0


@pytest.mark.slow
def test_without_nvcc_that_is_told(no_gpu: None, grade: Grade, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "find_nvcc", lambda: None)
    graded = grade(submission(tmp_path / "s", TEMPLATE), "--backend", "auto", ROW)
    assert graded.result["kernels"]["compiled"] is None
    assert "there is no nvcc; install the CUDA toolkit" in graded.result["kernels"]["not_on_gpu"]
    assert graded.result["score"] == 15


@pytest.mark.slow
@REAL_NVCC
def test_without_a_gpu_the_execution_model_judges_them(
    quick: None, grade: Grade, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "find_gpu", lambda toolkit=None: "there is no NVIDIA GPU here")
    wrong = source([KNOWN["map-written-by-the-strides-read"]], KNOWN)
    graded = grade(submission(tmp_path / "s", wrong), "--backend", "auto", ROW)
    verdicts = {line["id"]: line["verdict"] for line in graded.result["kernels"]["kernels"]}
    assert verdicts == {"map": "fail", "zip": "pass", "reduce": "pass", "matmul": "pass"}
    assert "judged in the execution model" in graded.stdout
    assert not graded.lost


# ---- what is asked for, and cannot be had --------------------------------------------------------------


@pytest.mark.parametrize(
    ("gpu", "nvcc", "lacking", "told"),
    [
        ("there is no NVIDIA GPU here (no /dev/nvidia0)", True, False, "no NVIDIA GPU here"),
        ("the NVIDIA driver's library libcuda.so.1 is not found: install the driver", True, False, "libcuda.so.1"),
        (None, False, False, "there is no nvcc"),
        (None, True, True, "PyCUDA is not installed"),
    ],
)
def test_a_demand_for_cuda_is_refused_with_the_reason(
    gpu: str | None, nvcc: bool, lacking: bool, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader import assignment

    monkeypatch.setattr(machine, "find_gpu", lambda toolkit=None: gpu or machine.Gpu([Path("/dev/full")]))
    found = machine.Nvcc(tmp_path, tmp_path, "13.0") if nvcc else None
    monkeypatch.setattr(machine, "find_nvcc", lambda: found)
    monkeypatch.setattr(machine, "lacks", lambda packages: lacking)
    with pytest.raises(UsageError, match=told) as error:
        asked(assignment.load("HW2"), "cuda", submission(tmp_path / "s", TEMPLATE))
    assert "--backend auto" in str(error.value)


def test_other_assignments_and_sanitize_alone_are_refused() -> None:
    for arguments in (["A2", "--reference", "--backend", "auto"], ["HW2", "--reference", "--sanitize"]):
        done = run_command(*arguments)
        assert done.exit == 2, done.stderr
    assert "with --backend auto, or cuda" in done.stderr


def test_numpy_looks_at_no_kernels(tmp_path: Path) -> None:
    from grader import assignment

    for backend in (None, "numpy", "simple"):
        assert asked(assignment.load("HW2"), backend, tmp_path) is None


# ---- the parts -----------------------------------------------------------------------------------------


def test_errors_are_read_in_both_forms() -> None:
    said = (
        'src/combine.cu(12): error: identifier "foo" is undefined\n      foo();\n      ^\n\n'
        'src/combine.cu(13): warning #177-D: variable "a" was declared but never referenced\n'
        'src/combine.cu(14): error #20: expected a ";"\n'
        "src/combine.cu:20:10: fatal error: nothing.h: No such file or directory\n"
        '2 errors detected in the compilation of "src/combine.cu".\n'
    )
    assert errors(said) == [
        'src/combine.cu:12: error: identifier "foo" is undefined',
        'src/combine.cu:14: error: expected a ";"',
        "src/combine.cu:20: fatal error: nothing.h: No such file or directory",
    ]
    assert errors("nvcc fatal   : Unsupported gpu architecture\n") == ["nvcc fatal   : Unsupported gpu architecture"]
    assert errors("") == ["nvcc gave no reason"]


def test_devices_are_found_and_the_driver_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine.find_gpu(dev=tmp_path) == f"there is no NVIDIA GPU here (no {tmp_path}/nvidia0)"
    (tmp_path / "nvidiactl").touch()
    assert isinstance(machine.find_gpu(dev=tmp_path), str), "a driver without a GPU"
    for name in ("nvidia0", "nvidia-uvm"):
        (tmp_path / name).touch()
    monkeypatch.setattr(machine, "find_driver", lambda: None)
    assert "install the driver" in str(machine.find_gpu(dev=tmp_path))
    monkeypatch.setattr(machine, "find_driver", lambda: tmp_path / "driver" / machine.DRIVER)
    (tmp_path / "driver").mkdir()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    gpu = machine.find_gpu(tmp_path / "toolkit", dev=tmp_path)
    assert isinstance(gpu, machine.Gpu)
    assert {path.name for path in gpu.devices} == {"nvidia0", "nvidiactl", "nvidia-uvm"}
    assert tmp_path / "driver" in gpu.readable
    assert gpu.environment["CUDA_VISIBLE_DEVICES"] == "1"
    assert gpu.environment["LD_LIBRARY_PATH"] == f"{tmp_path}/driver:{tmp_path}/toolkit/lib64"


@REAL_NVCC
def test_nvcc_is_found_behind_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = machine.find_nvcc()
    assert real is not None
    script = program(tmp_path / "nvcc", f'#!/bin/sh\nexec {real.program} "$@"\n')
    monkeypatch.setenv("PATH", str(script.parent), prepend=":")
    assert machine.find_nvcc() == real
    assert shutil.which("nvcc") == str(script)
