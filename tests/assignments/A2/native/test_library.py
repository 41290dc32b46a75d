"""How a library ends the process that loads it: the process is believed, and not what the library writes there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from assignments.A2.native.library import not_loaded

SAYS = """
#include <sys/stat.h>
#include <unistd.h>
__attribute__((constructor)) static void first(void) {
    struct stat s;
    for (int fd = 3; fd < 64; fd++) {
        if (fstat(fd, &s) == 0 && S_ISFIFO(s.st_mode)) { (void)!write(fd, "{\\"error\\": \\"x\\"}\\n", 15); }
    }
    END
}
"""
ENDS = {
    "for (;;) pause();": "timed_out",
    "*(volatile int *)0 = 1;": "crashed",
    "_exit(0);": "exited",
    "": "",
}


def library(folder: Path, end: str) -> str:
    source, made = folder / "a.c", folder / "a.so"
    source.write_text(SAYS.replace("END", end), encoding="utf-8")
    subprocess.run([shutil.which("cc") or "gcc", "-shared", "-fPIC", "-o", made, source], check=True)
    return str(made)


@pytest.mark.parametrize("end", ENDS)
def test_an_error_that_a_constructor_sends_tells_nothing(end: str, tmp_path: Path) -> None:
    assert not_loaded(library(tmp_path, end), 0.7).get("status", "") == ENDS[end]


def test_what_cannot_be_opened_is_left_to_the_probes(tmp_path: Path) -> None:
    (tmp_path / "a.so").write_bytes(b"no library")
    assert not_loaded(str(tmp_path / "a.so"), 5.0) == {}
