"""Limits hold for the whole process tree, and the one that struck is named."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import time
from pathlib import Path

import pytest

from grader.sandbox import Box, Outcome, Sandbox, choose, running, tree, watch
from grader.sandbox.launched import Limits
from tests.grader.sandbox.test_box import TIGHT_WALLS, WALLS, alive

BOMB = """
import os, time
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(1)
"""
MANY = """
import os, time
while os.fork(): pass
os.setsid()
time.sleep(60)
"""
# each of them a third of what all may have
SHARED_OUT = """
import os, time
block = bytearray(8 << 20)
for _ in range(3):
    if os.fork() == 0:
        mine = bytearray(os.urandom(1 << 20) * 30)
        time.sleep(60)
time.sleep(60)
"""
BUSY = """
import os
for _ in range(3):
    if os.fork() == 0:
        while True: pass
while True: pass
"""
RELAYED = """
import os
for _ in range(200):
    pid = os.fork()
    if pid == 0:
        for n in range(3_000_000): pass
        os._exit(0)
    os.waitpid(pid, 0)
"""


def confined(wall: Sandbox, code: str, **limits: object) -> Outcome:
    command = [wall.python(), "-I", "-S", "-c", code]
    return wall.run(Box(command, environment={"PATH": "/usr/bin:/bin"}, wall_s=60.0, **limits))  # type: ignore[arg-type]


@pytest.mark.slow
@WALLS
@pytest.mark.parametrize("code", [MANY, pytest.param(BOMB, marks=pytest.mark.slow)], ids=["many", "bomb"])
def test_too_many_processes(wall: Sandbox, code: str, tmp_path: Path) -> None:
    mark = f"bomb-{tmp_path.name}-{os.getpid()}"
    outcome = confined(wall, f"{code}  # {mark}", processes=60)
    assert outcome.struck == "it started 60 processes and threads, and there may be no more"
    assert not outcome.timed_out
    assert alive(mark) == []


@TIGHT_WALLS
def test_memory_of_all_processes_together(wall: Sandbox) -> None:
    assert confined(wall, SHARED_OUT, memory_mb=80).struck == "it used more than 80 MiB of memory"


# the first thread ends, and with it what the system shows of the process's memory
HEADLESS = """
import ctypes, os, threading, time
def work():
    time.sleep(0.05)
    taken = bytearray(os.urandom(1 << 20) * 30)
    time.sleep(60)
for _ in range(3):
    if os.fork() == 0:
        threading.Thread(target=work).start()
        ctypes.CDLL(None).syscall(EXIT, 0)
time.sleep(60)
""".replace("EXIT", "60" if platform.machine() == "x86_64" else "93")


@TIGHT_WALLS
def test_memory_of_threads_whose_first_has_ended(wall: Sandbox) -> None:
    assert confined(wall, HEADLESS, memory_mb=80).struck == "it used more than 80 MiB of memory"


def test_memory_that_is_shared_counts_once() -> None:
    shared = "import os, time\nblock = bytearray(os.urandom(1 << 20) * 40)\n"
    code = f"{shared}for _ in range(6):\n    if os.fork() == 0: break\ntime.sleep(1)"
    processes = tree.snapshot()
    me = processes[os.getpid()]
    box = Box(["true"], memory_mb=1)
    assert watch.of_memory([me], box) is not None
    outcome = confined(choose(), code, memory_mb=150)
    assert (outcome.struck, outcome.returncode) == ("", 0)


@pytest.mark.parametrize("code", [BUSY, RELAYED], ids=["at once", "one after another"])
def test_processor_time_of_all_processes_together(code: str) -> None:
    outcome = confined(choose(), code, cpu_s=0.5)
    assert (outcome.struck, outcome.timed_out) == ("it used more than 0.5 s of CPU time", True)


@WALLS
def test_printing_without_end(wall: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "FLOOD", 4 << 20)
    outcome = confined(wall, "import os\nwhile True: os.write(1, bytes(1 << 16))", output_bytes=1000)
    assert outcome.struck == "it printed more than 4 MiB"
    assert len(outcome.output) < 1100


def test_wall_time_is_named() -> None:
    wall = choose()
    outcome = wall.run(Box([wall.python(), "-I", "-S", "-c", "import time; time.sleep(60)"], wall_s=0.5))
    assert (outcome.struck, outcome.timed_out) == ("it did not end within 0.5 s", True)


def test_what_others_are_ended_before() -> None:
    pid = os.fork()
    if pid == 0:
        time.sleep(60)
        os._exit(0)
    tree.end_first([tree.snapshot()[pid]])
    assert Path(f"/proc/{pid}/oom_score_adj").read_text() == "1000\n"
    tree.kill([pid])
    os.waitpid(pid, 0)


def test_a_crowd_gives_way() -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as one:
        tree.give_way([tree.snapshot()[one.pid]])
        assert os.getpriority(os.PRIO_PROCESS, one.pid) == 19
        one.kill()


@pytest.mark.parametrize("own_session", [False, True])
def test_other_children_of_this_process_are_no_strays(own_session: bool) -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=own_session) as other:
        time.sleep(0.05)  # two ticks: the box is younger
        confined(Limits(), "pass")
        assert other.poll() is None
        other.kill()


def test_limits_are_not_this_processs() -> None:
    before = resource.getrlimit(resource.RLIMIT_NPROC)
    confined(choose(), "pass")
    assert resource.getrlimit(resource.RLIMIT_NPROC) == before
