"""``migrate_kernel.py``: the first homework's kernels are copied and compiled; what is missing is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT

SCRIPT = ROOT / "student_template" / "HW2" / "migrate_kernel.py"
KERNELS = "// the first homework's\n"
NVCC = """\
#!/bin/sh
echo "$*" >"${0%/*}/asked"
while [ "$1" != -o ]; do shift; done
[ -z "$FAILS" ] || exit 1
echo compiled >"$2"
"""


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Both homeworks; the second one has kernels of its own already."""
    for name, text in (("hw1", KERNELS), ("hw2", "// another's\n")):
        (tmp_path / name / "src").mkdir(parents=True)
        (tmp_path / name / "src" / "combine.cu").write_text(text)
    return tmp_path / "hw1", tmp_path / "hw2"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with a compiler that stands in for nvcc."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").write_text(NVCC)
    (tmp_path / "bin" / "nvcc").chmod(0o755)
    return tmp_path / "bin"


def migrate(hw1: Path, hw2: Path, path: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--hw1-dir", str(hw1), "--hw2-dir", str(hw2)]
    env = {**os.environ, "PATH": path, **environment}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done


def test_the_kernels_are_copied_and_compiled(folders: tuple[Path, Path], tools: Path) -> None:
    hw1, hw2 = folders
    done = migrate(hw1, hw2, f"{tools}:/usr/bin:/bin")
    library = hw2 / "minitorch" / "cuda_kernels" / "combine.so"
    assert (done.returncode, done.stdout) == (0, f"compiled {library}\n")
    assert (hw2 / "src" / "combine.cu").read_text() == KERNELS
    assert library.read_text() == "compiled\n"
    asked = (tools / "asked").read_text().split()
    assert {"--shared", "-Xcompiler", "-fPIC", str(hw2 / "src" / "combine.cu")} <= set(asked)


def test_a_compiler_that_fails_is_told(folders: tuple[Path, Path], tools: Path) -> None:
    done = migrate(*folders, f"{tools}:/usr/bin:/bin", FAILS="yes")
    assert done.returncode == 1
    assert f"nvcc could not compile {folders[1] / 'src' / 'combine.cu'}" in done.stderr


def test_without_nvcc_the_kernels_are_there_and_what_to_do_is_told(folders: tuple[Path, Path], tmp_path: Path) -> None:
    done = migrate(*folders, str(tmp_path / "nothing"))
    assert done.returncode == 1
    assert "there is no nvcc: install the CUDA toolkit, or load its module" in done.stderr
    assert (folders[1] / "src" / "combine.cu").read_text() == KERNELS


def test_what_is_no_folder_and_what_has_no_kernels_is_named(folders: tuple[Path, Path], tools: Path) -> None:
    hw1, hw2 = folders
    for first, second, told in (
        (hw1 / "nowhere", hw2, f"{hw1 / 'nowhere'} is not a folder"),
        (hw1, hw2 / "nowhere", f"{hw2 / 'nowhere'} is not a folder"),
        (tools, hw2, f"{tools / 'src' / 'combine.cu'} does not exist"),
    ):
        done = migrate(first, second, str(tools))
        assert done.returncode == 1
        assert told in done.stderr
