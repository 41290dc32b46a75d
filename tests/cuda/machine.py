"""A machine with a GPU for the tests: a compiler, a driver and PyCUDA that stand in for the real ones."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.cuda import machine
from grader.cuda.machine import Gpu
from tests.hw2.patches import FILES
from tests.support import ROOT

HERE = Path(__file__).parent / "standin"
KERNELS = HERE / "combine.cu"
# As nvcc answers; kernels are plain C++ here.
NVCC = """\
#!/bin/sh
case "$*" in
--version) echo "Cuda compilation tools, release 13.0, V13.0.1"; exit ;;
*--dryrun*) exit ;;
esac
for word; do case $word in *.cu) source=$word ;; *.so) library=$word ;; esac; done
exec g++ -x c++ -O2 -shared -fPIC "$source" -o "$library"
"""
SANITIZER = """\
#!/bin/sh
while [ "$1" != "${1#-}" ]; do
    [ "$1" = --tool ] && tool=$2
    shift 2
done
echo "========= COMPUTE-SANITIZER" >"sanitizer.$tool.1.log"
if [ "$tool" = memcheck ]; then
    cat >>"sanitizer.$tool.1.log" <<END
========= Invalid __global__ write of size 4 bytes
=========     at mapKernel(float *, int *, int)+0x1a0 in combine.cu:171
=========     by thread (31,0,0) in block (0,0,0)
=========     Address 0x7f0000000200 is out of bounds
END
fi
exec "$@"
"""
PYCUDA = (
    "pycuda/__init__.py",
    "pycuda/driver.py",
    "pycuda/autoinit.py",
    "pytools.py",
    "platformdirs.py",
    "siphash24.py",
)


@dataclass(frozen=True)
class Machine:
    """The stand-ins' folders."""

    toolkit: Path
    packages: Path
    gpu: Gpu


def submission(folder: Path, kernels: str | None, **changes: str) -> Path:
    """The reference with these kernels; ``changes``: other texts by the file's stem."""
    for name in FILES:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / "reference" / "HW2" / name).read_text("utf-8")
        target.write_text(changes.get(target.stem, text), "utf-8")
    if kernels is not None:
        (folder / "src").mkdir()
        (folder / "src" / "combine.cu").write_text(kernels, "utf-8")
    return folder


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def with_gpu(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Makes this process believe in a GPU; boxes see its devices and the stand-in for the driver."""
    toolkit, libraries, packages = folder / "toolkit", folder / "driver", folder / "packages"
    nvcc = program(toolkit / "bin" / "nvcc", NVCC)
    libraries.mkdir()
    library = libraries / machine.DRIVER
    subprocess.run(["gcc", "-shared", "-fPIC", HERE / "driver.c", "-o", library], check=True)
    for name in PYCUDA:
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / name).touch()
    for path in (folder, *folder.parents):  # boxes run as other users
        if path.stat().st_uid == os.getuid() and path != Path("/"):
            path.chmod(path.stat().st_mode | 0o011)
    gpu = Gpu([Path("/dev/full")], [libraries], {"LD_LIBRARY_PATH": str(libraries)})
    monkeypatch.setenv("PATH", str(nvcc.parent), prepend=os.pathsep)
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    monkeypatch.setattr(machine, "find_gpu", lambda toolkit=None: gpu)
    return Machine(toolkit, packages, gpu)
