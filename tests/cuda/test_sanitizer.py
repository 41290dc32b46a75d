"""compute-sanitizer's reports, as it writes them, become sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.cuda import sanitizer

MEMCHECK = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at mapKernel(float *, int *, int *, int, float *, int *, int *)+0x7d0 in /stage/src/combine.cu:97
=========     by thread (31,0,0) in block (0,0,0)
=========     Access at 0x7f6b6dc0007c is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f6b6dc00000 of size 124 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: [0x2e9b3f] in libcuda.so.1
=========
========= Invalid __global__ write of size 4 bytes
=========     at mapKernel(float *, int *, int *, int, float *, int *, int *)+0x7d0 in /stage/src/combine.cu:97
=========     by thread (30,0,0) in block (0,0,0)
=========
========= Program hit cudaErrorLaunchFailure (error 719) due to "launch failure" on CUDA API call to cudaFree.
=========     Saved host backtrace up to driver entry point at error
=========
========= ERROR SUMMARY: 3 errors
"""
RACECHECK = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at MatrixMultiplyKernel(float *)+0x450 in combine.cu:190
=========     and Read access at MatrixMultiplyKernel(float *)+0x610 in combine.cu:195 [1984 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
OLDER = """\
========= Uninitialized __global__ memory read of size 4 bytes
=========     at 0x390 in combine.cu:150:reduceKernel(float*, int*)
=========     by thread (0,0,0) in block (0,0,0)
"""


@pytest.mark.parametrize(
    ("log", "told"),
    [
        (
            MEMCHECK,
            [
                "mapKernel: Invalid __global__ write of size 4 bytes at src/combine.cu:97",
                'Program hit cudaErrorLaunchFailure (error 719) due to "launch failure" on CUDA API call to cudaFree.',
            ],
        ),
        (RACECHECK, ["MatrixMultiplyKernel: Race reported between Write access at src/combine.cu:190"]),
        (OLDER, ["reduceKernel: Uninitialized __global__ memory read of size 4 bytes at src/combine.cu:150"]),
        ("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", []),
        ("", []),
    ],
)
def test_reports_become_sentences(log: str, told: list[str]) -> None:
    assert sanitizer.sentences([log, log], "src/combine.cu") == told


def test_logs_are_read_without_following_links(tmp_path: Path) -> None:
    (tmp_path / "sanitizer.memcheck.1.log").write_text(MEMCHECK)
    (tmp_path / "sanitizer.memcheck.2.log").symlink_to("/etc/passwd")
    assert len(sanitizer.read(tmp_path, "memcheck", "src/combine.cu")) == 2
    assert sanitizer.read(tmp_path, "racecheck", "src/combine.cu") == []
