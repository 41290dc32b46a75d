"""Nothing of the judge's side is opened below the sandbox: every file that is, as the kernel was asked for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.hostile.grading import usable
from tests.support import LAUNCHER, LONGEST_S, ROOT

STRACE = shutil.which("strace")
WATCHED = "trace=openat,open,openat2,execve,readlink,clone,clone3,fork,vfork"
# What knows the answers, or decides. The launcher reads the requirements, and launch.py is a program of the sandbox's.
JUDGES = re.compile(
    rf"^(?:/oldroot|/newroot)?{re.escape(str(ROOT))}/"
    r"(?:fixtures/[^/]+/[^/]+/(?:expected|manifest\.json)|fixtures/HW2/corpus/heldout|reference/|tolerances\.yaml"
    r"|grader/(?!requirements|sandbox/launch\.py)"
    r"|assignments/[^/]+/(?:derive|formulas|transcript|data)\.py|assignments/[^/]+/assignment\.yaml|tests/|\.git/)"
)
_LINE = re.compile(r"^(?P<pid>\d+) +(?P<call>\w+)\((?P<rest>.*)$")
_PATH = re.compile(r'"((?:[^"\\]|\\.)*)"')
_CHILD = re.compile(r"= (\d+)(?: /\* (\d+) in strace's PID NS \*/)?$")


def why_not() -> str | None:
    if STRACE is None:
        return "strace is not installed"
    done = subprocess.run([STRACE, "-f", "-o", os.devnull, "true"], capture_output=True, check=False)
    return None if done.returncode == 0 else "nothing can be traced here"


@dataclass
class Trace:
    """What was opened, by whom.

    Attributes:
        judge: the numbers of the grader's own process and its threads.
        opened: (process, path) of each file that was opened, or tried.
        programs: (process, program) of each that was started.
    """

    judge: set[int] = field(default_factory=set)
    opened: list[tuple[int, str]] = field(default_factory=list)
    programs: list[tuple[int, str]] = field(default_factory=list)

    def below(self) -> Iterator[str]:
        """The files that were opened by any other process than the grader itself."""
        return (path for pid, path in self.opened if pid not in self.judge)

    def above(self) -> Iterator[str]:
        """The files that the grader itself opened."""
        return (path for pid, path in self.opened if pid in self.judge)


def read(log: Path) -> Trace:
    """A trace that strace wrote: the first process becomes the grader; its threads are of it, its children are not."""
    trace = Trace()
    waiting: dict[int, str] = {}  # a call that another line interrupted
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        if (resumed := re.match(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$", line)) is not None:
            pid = int(resumed[1])
            line = waiting.pop(pid, "") + resumed[2]
        if line.endswith("<unfinished ...>"):
            waiting[int(line.split()[0])] = line.removesuffix("<unfinished ...>").rstrip()
            continue
        if (found := _LINE.match(line)) is not None:
            _take(trace, int(found["pid"]), found["call"], found["rest"])
    return trace


def _take(trace: Trace, pid: int, call: str, rest: str) -> None:
    trace.judge = trace.judge or {pid}
    path = _PATH.search(rest)
    if call in ("clone", "clone3", "fork", "vfork"):
        child = _CHILD.search(rest)
        if pid in trace.judge and child is not None and "CLONE_THREAD" in rest:
            trace.judge.add(int(child[2] or child[1]))
    elif path is not None:
        trace.opened.append((pid, os.path.normpath(path[1])))
        if call == "execve":
            trace.programs.append((pid, path[1]))


def traced(folder: Path, assignment: str, sandbox: str, *options: str) -> Trace:
    """A grading of the reference, traced; what it builds of its own is built before."""
    command = [str(LAUNCHER), assignment, "--reference", "--quiet", "--sandbox", sandbox, *options]
    subprocess.run(command, capture_output=True, timeout=LONGEST_S, check=True)
    log = folder / "trace"
    done = subprocess.run(
        [str(STRACE), "-f", "-q", "-s", "4096", "--decode-pids=pidns", "-e", WATCHED, "-o", str(log), *command],
        capture_output=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return read(log)


pytestmark = pytest.mark.skipif((reason := why_not()) is not None, reason=str(reason))
A2 = ("--cflags=-O0", "--no-second-look")
RUNS = [
    pytest.param("A2", "limits", (*A2, "--only", "encoder_backward,gpt2_backward"), id="A2-limits"),
    pytest.param("A2", "bubblewrap", (*A2, "--only", "encoder_backward"), id="A2-bubblewrap"),
    pytest.param("A2", "user", A2, id="A2-user", marks=pytest.mark.slow),
    pytest.param("A2", "bubblewrap", A2, id="A2-whole", marks=pytest.mark.slow),
    pytest.param("HW2", "limits", ("--no-training",), id="HW2-limits", marks=pytest.mark.slow),
    pytest.param("HW2", "bubblewrap", (), id="HW2-whole", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("assignment", "sandbox", "options"), RUNS)
def test_nothing_of_the_judges_side_is_opened_below(
    assignment: str, sandbox: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    if sandbox != "limits" and (why := usable(sandbox)) is not None:
        pytest.skip(why)
    trace = traced(tmp_path, assignment, sandbox, *options)
    assert sorted({path for path in trace.below() if JUDGES.match(path)}) == []
    # and this could have been seen: the grader itself opens what it judges by, and drivers were run below it
    assert [path for path in trace.above() if f"fixtures/{assignment}/public/expected/" in path]
    assert [path for path in trace.below() if path.endswith("/probe_io.py") or "probe_io." in path]


def test_what_would_be_opened_is_seen(tmp_path: Path) -> None:
    log = tmp_path / "trace"
    expected = f"{ROOT}/fixtures/A2/public/expected/gelu_backward/one.safetensors"
    log.write_text(
        '10 execve("./grade", ["./grade"], 0x7ff /* 3 vars */) = 0\n'
        "10 clone3({flags=CLONE_VM|CLONE_THREAD|CLONE_FS}, 88) = 11\n"
        "11 vfork( <unfinished ...>\n"
        f'10 openat(AT_FDCWD, "{ROOT}/tolerances.yaml", O_RDONLY) = 3\n'
        "11 <... vfork resumed>) = 12\n"
        f'12 openat(AT_FDCWD, "{expected.replace("/A2/", "/A2/../A2/", 1)}", O_RDONLY) = -1\n',
        encoding="utf-8",
    )
    trace = read(log)
    assert list(trace.above()) == [os.path.normpath("./grade"), f"{ROOT}/tolerances.yaml"]
    assert [path for path in trace.below() if JUDGES.match(path)] == [expected]
