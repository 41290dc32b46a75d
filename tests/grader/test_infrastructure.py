"""Errors of the machine are never zeros: no score is written, an earlier one stays, nothing of a run is left."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.grader.sandbox.test_box import alive
from tests.support import LAUNCHER, ROOT, run_command

QUICK = ("A2", "--reference", "--only", "zero_grad", "--no-second-look", "--cflags=-O0", "--quiet")
SLOW = pytest.mark.slow
PUBLIC = ROOT / "fixtures" / "A2" / "public"
TOO_SMALL = 32_000  # KiB: a grading is not begun
OLD = '{"score": 42}\n'


@pytest.fixture
def room() -> Iterator[Path]:
    """A folder for temporary files that other users can come to; pytest's own are closed."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "tmp").mkdir()
        yield Path(folder) / "tmp"


def start(room: Path, result: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [LAUNCHER, *QUICK, *arguments, "--json", result],
        env={**os.environ, "TMPDIR": str(room)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def kill_at(room: Path, result: Path, seconds: float, *arguments: str) -> None:
    with start(room, result, *arguments) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)


def is_whole(result: Path) -> bool:
    """Whether a result is the old one or a new one, and no part of any."""
    text = result.read_text()
    return text == OLD or json.loads(text)["score"] == 5


def killed_at_random(room: Path, times: int, sandbox: str = "auto") -> None:
    result = room.parent / "result.json"
    begun = time.monotonic()
    with start(room, result, "--sandbox", sandbox) as first:
        said = first.communicate()[1]
        assert first.returncode == 0, said
    whole = time.monotonic() - begun
    moments = random.Random(7)
    for _ in range(times):
        result.write_text(OLD)
        kill_at(room, result, moments.uniform(0, 1.1 * whole), "--sandbox", sandbox)
        assert is_whole(result), result.read_text()
    with start(room, result, "--sandbox", sandbox) as last:
        said = last.communicate()[1]
        assert last.returncode == 0, said
    assert json.loads(result.read_text())["score"] == 5
    for folder in room.iterdir():  # too young to be taken for abandoned, unless locked
        assert not (folder / "lock").exists(), "a killed grader's folder is still there"
    assert alive(str(room)) == [], "something runs on"


def test_a_grader_that_is_killed_leaves_the_old_result_or_a_new_one(room: Path) -> None:
    killed_at_random(room, 2)


@pytest.mark.slow
@pytest.mark.parametrize("sandbox", ["auto", "user"])
def test_a_grader_that_is_killed_two_hundred_times(room: Path, sandbox: str) -> None:
    killed_at_random(room, 200, sandbox)


def test_two_graders_at_once_on_the_same_submission_and_result(room: Path) -> None:
    result = room.parent / "result.json"
    both = [start(room, result) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert json.loads(result.read_text())["score"] == 5
    assert sorted(path.name for path in room.parent.iterdir()) == ["result.json", "tmp"]
    assert list(room.iterdir()) == []
    for process in both:
        assert process.stderr is not None
        process.stderr.close()


def small_disk(folder: Path, options: str, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs a command with a file system of its own at ``folder``."""
    mount = f"mount -t tmpfs -o {options} small {folder} && exec "
    return subprocess.run(
        ["unshare", "-m", "sh", "-c", mount + '"$@"', "sh", *command],
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


CAN_MOUNT = shutil.which("unshare") and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not CAN_MOUNT, reason="it takes a file system of its own")
def test_a_folder_from_which_nothing_can_be_run_is_no_zero(room: Path) -> None:
    """As the /tmp of ``docker run --tmpfs /tmp``."""
    result = room.parent / "result.json"
    result.write_text(OLD)
    done = small_disk(room, "noexec,size=1g,mode=1777", [str(LAUNCHER), *QUICK, "--json", str(result)])
    assert done.returncode == 3, done.stdout
    assert f"nothing was scored: {room} is mounted noexec" in done.stderr
    assert "TMPDIR" in done.stderr
    assert result.read_text() == OLD


@pytest.mark.skipif(not CAN_MOUNT, reason="it takes a file system of its own")
@pytest.mark.parametrize("kilobytes", [64, 34_000])
def test_a_full_disk_is_no_zero(kilobytes: int, room: Path) -> None:
    result = room.parent / "result.json"
    result.write_text(OLD)
    # fills what is left as soon as the grader has begun, and before it has graded
    filling = f"(until ls {room}/tensorgrade-*/stage; do sleep 0.02; done; head -c 99m /dev/zero >{room}/fill)"
    filling = f"{filling} >/dev/null 2>&1 & exec" if kilobytes > TOO_SMALL else "exec"
    command = ["sh", "-c", f'{filling} "$@"', "sh", str(LAUNCHER), *QUICK, "--json", str(result)]
    done = small_disk(room, f"size={kilobytes}k", command)
    assert done.returncode in (0, 3), done.stderr
    if done.returncode == 0:
        assert json.loads(result.read_text())["score"] == 5
    else:
        assert result.read_text() == OLD
        assert "nothing was scored" in done.stderr
    if kilobytes < TOO_SMALL:
        assert "MiB left; TMPDIR names another folder" in done.stderr


def broken(room: Path, fixtures: Path, environment: Mapping[str, str]) -> str:
    """Grades with a broken machine; what it says."""
    result = room.parent / "result.json"
    result.write_text(OLD)
    done = run_command(*QUICK, "--json", result, "--fixtures", fixtures, env=environment)
    assert done.exit == 3, done.stdout + done.stderr
    assert result.read_text() == OLD
    return done.stderr


def programs(folder: Path, *names: str) -> str:
    """A PATH with these programs alone."""
    folder.mkdir()
    for name in names:
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    return str(folder)


def test_without_a_compiler(room: Path) -> None:
    path = programs(room.parent / "bin", "sh", "cmp", "bwrap", "setpriv")
    assert "no C compiler" in broken(room, PUBLIC, {"PATH": path})


FAKE = (
    '#!/bin/sh\ncase $* in *echo*works*) exec {bwrap} "$@" ;; esac\necho "bwrap: no room for namespaces" >&2\nexit 1\n'
)


def test_a_sandbox_that_breaks_after_it_was_chosen(room: Path) -> None:
    found = shutil.which("bwrap")
    if found is None:
        pytest.skip("bubblewrap is not installed")
    (room.parent / "bin").mkdir()
    (room.parent / "bin" / "bwrap").write_text(FAKE.format(bwrap=found))
    (room.parent / "bin" / "bwrap").chmod(0o755)
    said = broken(room, PUBLIC, {"PATH": f"{room.parent}/bin:{os.environ['PATH']}"})
    assert "bwrap: no room for namespaces" in said


DAMAGE = {
    "expected": ("expected/zero_grad/allocated.safetensors", b"x", "is damaged (its hash is not the manifest's)"),
    "inputs": ("inputs/zero_grad/allocated.safetensors", b"x", "is damaged (its hash is not the manifest's)"),
    "absent": ("expected/zero_grad/allocated.safetensors", None, "is damaged (No such file"),
    "manifest": ("manifest.json", b"{", "manifest.json is damaged"),
}


@pytest.mark.parametrize("kind", [k if k in ("expected", "absent") else pytest.param(k, marks=SLOW) for k in DAMAGE])
def test_fixtures_that_are_damaged(kind: str, room: Path) -> None:
    name, blob, said = DAMAGE[kind]
    copy = room.parent / "set"
    shutil.copytree(PUBLIC, copy)
    (copy / name).unlink()
    if blob is not None:
        (copy / name).write_bytes(blob)
    assert said in broken(room, copy, {})


def test_fixtures_of_another_version(room: Path) -> None:
    copy = room.parent / "set"
    shutil.copytree(PUBLIC, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps({**manifest, "schema": "tensorgrade/fixtures/2"}))
    assert "tensorgrade/fixtures/2" in broken(room, copy, {})
