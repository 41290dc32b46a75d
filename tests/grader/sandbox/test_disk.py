"""What a box writes: counted while it runs, bounded, removed however it was left."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.sandbox import Box, Outcome, Sandbox, disk
from tests.grader.sandbox.test_box import WALLS

MIB = 1 << 20
FOLDERS = """
for i in range(3000):
    try:
        os.mkdir("d", 0o700)
        os.chdir("d")
    except OSError:
        break
"""


@pytest.fixture(autouse=True)
def _nothing_stays(tmp_path: Path) -> Iterator[None]:
    yield
    disk.remove(tmp_path)  # pytest itself cannot


def confined(wall: Sandbox, folder: Path, code: str, disk_mb: int = 8) -> Outcome:
    command = [wall.python(), "-I", "-S", "-c", f"import os, time\nos.chdir({str(folder)!r})\n{code}"]
    return wall.run(Box(command, writable=[folder], environment={"PATH": "/usr/bin:/bin"}, disk_mb=disk_mb))


FILL = """
for i in range(4):
    with open(str(i), "wb") as file: file.write(bytes(4 << 20))
"""
NAMELESS = """
file = open("x", "wb", 0)
os.unlink("x")
file.write(bytes(16 << 20))
"""
KINDS = {
    "bytes": (FILL, "it wrote more than 8 MiB"),
    "nameless": (NAMELESS, "it wrote more than 8 MiB"),
    "names": ("for i in range(600): open(str(i), 'w').close()", "it made more than 500 files and folders"),
    "deep": (FOLDERS, "it made folders that lie deeper than 64 in each other"),
}


@WALLS
@pytest.mark.parametrize("kind", KINDS)
def test_what_goes_over_a_limit_is_ended_and_told(
    wall: Sandbox, kind: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "MOST_ENTRIES", 500)
    code, told = KINDS[kind]
    started = time.monotonic()
    outcome = confined(wall, place, f"{code}\ntime.sleep(60)")
    assert (outcome.struck, outcome.timed_out) == (told, False)
    assert time.monotonic() - started < 20


@WALLS
def test_what_ends_at_once_is_looked_at_too(wall: Sandbox, place: Path) -> None:
    assert confined(wall, place, FILL).struck == "it wrote more than 8 MiB"


@WALLS
def test_below_the_limits_nothing_is_told(wall: Sandbox, place: Path) -> None:
    code = f"{FILL}\nopen('big', 'wb').truncate(1 << 30)\nos.symlink('/', 'all')\ntime.sleep(0.6)"
    outcome = confined(wall, place, code, disk_mb=32)
    assert (outcome.struck, outcome.returncode) == ("", 0), outcome.output


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_what_cannot_be_counted_is_not_allowed(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(0o300)
    assert disk.excess([tmp_path], 8) == "it made a folder that cannot be looked into"
    disk.remove(tmp_path)
    assert not tmp_path.exists()


def test_a_folder_that_is_gone_holds_nothing(tmp_path: Path) -> None:
    assert disk.excess([tmp_path / "absent"], 8) == ""


def test_folders_too_deep_for_a_path_are_removed(tmp_path: Path) -> None:
    here, top = os.getcwd(), tmp_path / "top"
    top.mkdir()
    os.chdir(top)
    for _ in range(3000):
        os.mkdir("d")
        os.chdir("d")
    os.chmod(".", 0)
    os.chdir(here)
    disk.remove(top)
    assert not top.exists()


def test_what_cannot_be_removed_stays_silently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("shutil.rmtree", lambda folder: (_ for _ in ()).throw(RecursionError))
    disk.remove(tmp_path)
    assert tmp_path.exists()
    disk.remove(tmp_path / "absent")
    monkeypatch.undo()


def test_links_are_removed_and_not_what_they_lead_to(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "link").symlink_to(tmp_path / "kept")
    disk.remove(tmp_path / "gone")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
