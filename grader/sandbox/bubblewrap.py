"""bubblewrap: namespaces of its own, no network, no home, a read-only minimal system."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from grader.sandbox.box import Box, Outcome, run_confined

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives")
NOBODY = "65534"


def _mounts_of_the_system() -> list[str]:
    arguments: list[str] = []
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            arguments += ["--symlink", os.readlink(path), name]
        elif path.is_dir():
            arguments += ["--ro-bind", name, name]
    for name in SYSTEM_FILES:
        arguments += ["--ro-bind-try", name, name]
    return arguments


def _interpreter() -> list[Path]:
    """Where this Python's standard library lies; under /usr it is there already."""
    return [Path(sys.base_prefix)]


def _read_only(paths: Iterable[Path]) -> list[str]:
    return [word for path in paths for word in ("--ro-bind", str(path), str(path))]


def _covered(hidden: Iterable[Path], shown: Sequence[Path]) -> list[str]:
    """The folders to hide that lie inside of what is shown; any other is out of sight as it is."""
    return [str(path) for path in hidden if any(path.is_relative_to(folder) for folder in shown)]


def _covers(hidden: Iterable[Path], shown: Sequence[Path]) -> list[str]:
    """An empty folder in the place of each of them."""
    return [word for path in _covered(hidden, shown) for word in ("--tmpfs", path)]


class Bubblewrap:
    """The strongest wall: nothing of the machine but the system and what the box names."""

    name = "bubblewrap"

    def __init__(self) -> None:
        self.program = shutil.which("bwrap")

    def unusable(self) -> str | None:
        """Why it does not work here; None where it does."""
        if self.program is None:
            return "bubblewrap is not installed (Debian and Ubuntu: apt install bubblewrap)"
        done = subprocess.run(self._wrapped(Box(["true"])), capture_output=True, text=True, check=False)
        return None if done.returncode == 0 else f"bubblewrap does not work here: {done.stderr.strip()}"

    def _wrapped(self, box: Box) -> list[str]:
        command = [str(self.program), "--unshare-all", "--unshare-user", "--uid", NOBODY, "--gid", NOBODY]
        command += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox"]
        command += [*_mounts_of_the_system(), "--proc", "/proc", "--dev", "/dev"]
        for place in ("/tmp", "/dev/shm"):
            command += ["--size", str(box.scratch_mb << 20), "--tmpfs", place]
        system, interpreter = [Path(name) for name in SYSTEM], _interpreter()
        command += _covers(box.hidden, system)
        command += _read_only(interpreter) + _covers(box.hidden, interpreter)
        command += _read_only(box.readable)
        for path in box.writable:
            command += ["--bind", str(path), str(path)]
        # these lie in memory, without a bound of their own
        for place in ["/dev", "/", *_covered(box.hidden, system + interpreter)]:
            command += ["--remount-ro", place]
        command += ["--chdir", str(box.writable[0]) if box.writable else "/", "--"]
        return [*command, *box.command]

    def run(self, box: Box) -> Outcome:
        """Runs the command behind the wall."""
        return run_confined(self._wrapped(box), box)
