"""When a box has ended nothing of it is left: processes, files, shared memory, semaphores, mounts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.sandbox import Box, Sandbox, disk, ids, ipc, tree
from grader.sandbox.launched import Limits
from grader.sandbox.user import User
from tests.grader.sandbox.test_box import TIGHT_WALLS, WALLS, alive

LEAVE = """
import ctypes, os, sys, time
mark = sys.argv[1]
libc = ctypes.CDLL(None)
for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", os.environ.get("TMPDIR", "/tmp")):
    try:
        os.makedirs(f"{folder}/{mark}/a/b", 0o700)
        open(f"{folder}/{mark}.file", "w").write("x")
        os.chmod(f"{folder}/{mark}/a", 0)
    except OSError:
        pass
libc.sem_open(f"/{mark}".encode(), os.O_CREAT, 0o600, 1)
libc.shm_open(f"/{mark}".encode(), os.O_CREAT | os.O_RDWR, 0o600)
print(libc.shmget(0, 4096, 0o1600) >= 0, libc.semget(0, 1, 0o1600) >= 0, libc.msgget(0, 0o1600) >= 0)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(90)
    os._exit(0)
"""
PLACES = [*map(Path, disk.OPEN_TO_ALL)]


def leave(wall: Sandbox, mark: str) -> str:
    command = [wall.python(), "-I", "-S", "-c", LEAVE, mark]
    return wall.run(Box(command, environment={"PATH": "/usr/bin:/bin"}, wall_s=60.0)).output


def left(mark: str) -> list[str]:
    files = [str(path) for place in PLACES if place.is_dir() for path in place.glob(f"*{mark}*")]
    inside = [str(path) for path in Path("/tmp").glob(f"tmp-*/{mark}*")]
    return [*files, *inside, *(f"process {pid}" for pid in alive(mark))]


def of_system_v() -> list[str]:
    return [f"{kind} {line}" for kind in ipc.KINDS for line in Path("/proc/sysvipc", kind).read_text().splitlines()[1:]]


@TIGHT_WALLS
def test_nothing_is_left(wall: Sandbox, tmp_path: Path) -> None:
    mark = f"left-{tmp_path.name}-{os.getpid()}"
    before, mounts = of_system_v(), Path("/proc/self/mounts").read_text()
    assert leave(wall, mark) == "False False False\n"
    assert left(mark) == []
    assert of_system_v() == before
    assert Path("/proc/self/mounts").read_text() == mounts


@pytest.mark.skipif(not ids.available(), reason="it takes root")
def test_what_another_user_left_is_removed_where_nothing_kept_it_from_leaving_it(tmp_path: Path) -> None:
    wall = User()
    if (reason := wall.unusable()) is not None:
        pytest.skip(reason)
    wall.landlock = wall.filtered = False
    wall._exposed = lambda hidden: None  # type: ignore[method-assign]
    mark = f"left-{tmp_path.name}-{os.getpid()}"
    before = of_system_v()
    assert leave(wall, mark) == "True True True\n"
    assert left(mark) == []
    assert of_system_v() == before


@WALLS
def test_no_zombies_gather(wall: Sandbox) -> None:
    before = tree.snapshot().keys()
    command = [wall.python(), "-I", "-S", "-c", "import os\nfor _ in range(9):\n    if os.fork() == 0: os._exit(0)"]
    for _ in range(3):
        wall.run(Box(command, environment={"PATH": "/usr/bin:/bin"}))
    found = tree.snapshot()
    children = [found[pid] for pid in found.keys() - before if found[pid].parent == os.getpid()]
    assert [process for process in children if process.ended] == []


def test_a_child_that_kills_its_driver_does_not_get_away(tmp_path: Path) -> None:
    mark = f"away-{tmp_path.name}-{os.getpid()}"
    code = f"""
import os, time
driver = os.getpid()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        os.kill(driver, 9)
        time.sleep(90)  # {mark}
    os._exit(0)
time.sleep(90)
"""
    wall = Limits()
    outcome = wall.run(Box([wall.python(), "-I", "-S", "-c", code], environment={"PATH": "/usr/bin:/bin"}, wall_s=20.0))
    assert outcome.returncode == -9
    assert alive(mark) == []
