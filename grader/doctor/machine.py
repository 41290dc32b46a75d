"""What grading needs besides a sandbox: Python, a compiler, room on the disk and in memory, whole fixtures."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from grader import assignment as assignments
from grader import fixtures
from grader.cuda import machine
from grader.doctor import walls
from grader.doctor.findings import Finding
from grader.errors import GraderError
from grader.home import cache_folder
from grader.parallel import processors
from grader.sandbox.box import interpreter
from grader.stage import COMPILERS, why_broken
from grader.workplace import ROOM, is_executable

OLDEST = (3, 11)
ROOMY = 1 << 30  # bytes: what submissions may write, and the grader's builds
MEMORY = Path("/proc/meminfo")


def examine() -> Iterator[Finding]:
    """Looks at everything, one thing at a time."""
    yield _python()
    yield from _compilers()
    yield from walls.findings()
    yield _disk("temporary files", Path(tempfile.gettempdir()), "TMPDIR names another folder")
    yield _builds(_existing(cache_folder()))
    yield _memory()
    yield from _cuda()
    yield from (_fixtures(name) for name in assignments.known_ids())


def _python() -> Finding:
    version, place = platform.python_version(), interpreter()
    old = sys.version_info < OLDEST
    return Finding(name="Python", state="broken" if old else "ok", found=f"{version}, {place}")


def _compilers() -> Iterator[Finding]:
    found = {name: shutil.which(name) for name in COMPILERS}
    broken = {name: why_broken(name) for name, path in found.items() if path}
    usable = [name for name, reason in broken.items() if reason is None]
    for name, path in found.items():
        if path:
            reason = broken[name]
            yield Finding(name=name, state="ok" if reason is None else "absent", found=reason or path)
    advice = "apt install gcc libc6-dev (Debian, Ubuntu); dnf install gcc (Fedora); xcode-select --install (macOS)"
    if usable:
        yield Finding(name="C compiler that is taken", state="ok", found=usable[0])
    else:
        yield Finding(name="C compiler", state="broken", found="none; assignments in C cannot be graded", advice=advice)


def _existing(path: Path) -> Path:
    """The folder itself, or the one that it will be made in."""
    return next(folder for folder in (path, *path.parents) if folder.is_dir())


def _disk(name: str, place: Path, advice: str) -> Finding:
    free = shutil.disk_usage(place).free
    said = f"{free >> 20} MiB free in {place}"
    if not os.access(place, os.W_OK):
        return Finding(name=name, state="broken", found=f"{place} cannot be written", advice=advice)
    if not is_executable(place):
        return Finding(name=name, state="broken", found=f"{place} is mounted noexec: no build runs", advice=advice)
    if free < ROOM:
        return Finding(name=name, state="broken", found=said, advice=advice)
    return Finding(name=name, state="ok" if free >= ROOMY else "absent", found=said)


def _builds(place: Path) -> Finding:
    """Where the grader keeps what it has built; where it cannot, it builds anew what is not there."""
    name, advice = "the grader's own builds", "GRADE_HOME names another folder"
    if not os.access(place, os.W_OK):
        return Finding(name=name, state="absent", found=f"{place} cannot be written: nothing more is kept there")
    return _disk(name, place, advice)


def _memory() -> Finding:
    """Whether as many boxes as run at once may use what they are allowed."""
    most = max(assignments.load(name).limits.memory_mb for name in assignments.known_ids())
    try:
        lines = dict(line.split(":") for line in MEMORY.read_text("ascii").splitlines())
        free = int(lines["MemAvailable"].split()[0]) >> 10
    except (OSError, ValueError, KeyError):
        return Finding(name="memory", state="ok", found="the system does not say")
    said = f"{free} MiB free; {processors()} boxes at once may use {most} MiB each"
    return Finding(name="memory", state="ok" if free >= most else "absent", found=said)


def _cuda() -> Iterator[Finding]:
    """What the kernels of HW2 can be looked at with; without it, an execution model judges them."""
    nvcc = machine.find_nvcc()
    gpu = machine.find_gpu(nvcc.toolkit if nvcc else None)
    if nvcc is not None:
        yield Finding(name="nvcc", state="ok", found=f"{nvcc.version}, {nvcc.program}")
    else:
        advice = "the CUDA toolkit, if CUDA kernels are to be compiled for a GPU"
        yield Finding(
            name="nvcc", state="absent", found="none; kernels are judged in the execution model", advice=advice
        )
    found = gpu if isinstance(gpu, str) else ", ".join(str(path) for path in gpu.devices)
    yield Finding(name="GPU", state="absent" if isinstance(gpu, str) else "ok", found=found)


def _fixtures(name: str) -> Finding:
    label = f"fixtures of {name}"
    try:
        found = fixtures.load(fixtures.set_folder(name, "public"))
        found.require(assignments.load(name).cases_min())
        cases = [fixtures.FixtureCase(found.folder, entry) for entry in found.manifest.cases]
        for case in cases:
            case.check_inputs()
            _ = case.expected, case.calls
    except GraderError as error:
        return Finding(name=label, state="broken", found=str(error))
    return Finding(name=label, state="ok", found=f"{len(cases)} cases, whole")
