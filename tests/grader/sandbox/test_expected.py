"""Expected values never enter the sandbox: no process of a box opens a file of theirs, wall or no wall."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import LAUNCHER

pytestmark = pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")

CALLS = "trace=open,openat,openat2,execve,clone,clone3,fork,vfork"
STARTED = re.compile(r"^(\d+) +(?:<\.\.\. )?(?:clone3?|v?fork)\b.*= (\d+)$")
OPENED = re.compile(r'^(\d+) +open(?:at2?)?\([^"]*"([^"]*)".*= \d+')
BEGUN = re.compile(r"^(\d+) +execve\(.*launch\.py")


def traced(folder: Path, *arguments: str) -> list[str]:
    """What the grader and all that it started opened and started."""
    command = ["strace", "-f", "--seccomp-bpf", "-qq", "-s", "4096", "-o", str(folder / "trace"), "-e", CALLS]
    done = subprocess.run(
        [*command, LAUNCHER, *arguments, "--quiet"], env=dict(os.environ), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return (folder / "trace").read_text(errors="replace").splitlines()


def boxes(lines: list[str]) -> set[int]:
    """The processes of boxes: those that `launch` began, and all below them."""
    children: dict[int, list[int]] = {}
    for line in lines:
        if found := STARTED.match(line):
            children.setdefault(int(found[1]), []).append(int(found[2]))
    waiting = [int(found[1]) for line in lines if (found := BEGUN.match(line))]
    inside = set(waiting)
    while waiting:
        below = children.get(waiting.pop(), [])
        inside.update(below)
        waiting += below
    return inside


def opened(lines: list[str], inside: set[int], within: bool) -> Iterator[str]:
    """The paths that processes inside of boxes opened, or those outside."""
    for line in lines:
        if (found := OPENED.match(line)) and (int(found[1]) in inside) == within:
            yield found[2]


@pytest.mark.parametrize(
    "arguments",
    [
        ("A2", "--reference", "--no-second-look", "--cflags=-O0", "--only", "zero_grad,gpt2_backward"),
        pytest.param(("A2", "--reference"), marks=pytest.mark.slow),
        pytest.param(("HW2", "--reference", "--no-training"), marks=pytest.mark.slow),
    ],
    ids=["A2, two rows", "A2", "HW2"],
)
def test_no_box_opens_an_expected_tensor(arguments: tuple[str, ...], tmp_path: Path) -> None:
    lines = traced(tmp_path, *arguments, "--sandbox", "limits")
    inside = boxes(lines)
    judged = [path for path in opened(lines, inside, within=False) if "/expected/" in path]
    seen = list(opened(lines, inside, within=True))
    assert judged, "the judge opens them, so they would be seen here"
    assert any("/inputs/" in path for path in seen), "what a box opens is seen here"
    assert [path for path in seen if "expected" in path] == []
