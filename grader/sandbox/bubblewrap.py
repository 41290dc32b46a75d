"""bubblewrap: namespaces of its own, no network, no home, a read-only minimal system.

In two manners. A user who is not root becomes nobody in a namespace of users. Root, to whom limits on processes do
not apply and who stays the owner of the kernel's settings in such a namespace, starts it as root and hands over to a
user of the box's own (``setpriv``), which has nothing.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from contextlib import ExitStack
from itertools import product
from pathlib import Path

from grader.sandbox import ids, seccomp
from grader.sandbox.box import Box, Outcome, interpreter
from grader.sandbox.running import handed, run_confined
from grader.sandbox.system import SYSTEM, SYSTEM_FILES, inside, interpreters, packages

NOBODY = "65534"
AS_NOBODY = ("--unshare-all", "--unshare-user", "--uid", NOBODY, "--gid", NOBODY, "--cap-drop", "ALL")
# bubblewrap keeps what it takes to become somebody else, and that drops the rest
SPACES = ("ipc", "pid", "net", "uts", "cgroup-try")
TO_HAND_OVER = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
WORKS = "works"  # what a trial prints
LONGEST_TRIAL_S = 60.0
MOST_TOLD = 1 << 12  # bytes


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


def _read_only(paths: Iterable[Path]) -> list[str]:
    return [word for path in paths for word in ("--ro-bind", str(path), str(path))]


def _covers(folders: Iterable[Path]) -> list[str]:
    """An empty folder in the place of each of them."""
    return [word for path in folders for word in ("--tmpfs", str(path))]


def _ways(paths: Iterable[Path]) -> list[str]:
    """The folders above, open to everybody: bubblewrap would close them as they are closed outside."""
    folders = dict.fromkeys(folder for path in paths for folder in reversed(path.parents) if folder != Path("/"))
    return [word for folder in folders for word in ("--perms", "0755", "--dir", str(folder))]


def _first_process(told: int) -> int | None:
    """The process that all others inside end with, as bubblewrap told in an open file."""
    try:
        return int(json.loads(os.pread(told, MOST_TOLD, 0))["child-pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


class Bubblewrap:
    """The strongest wall: nothing of the machine but the system and what the box names.

    Attributes:
        hands_over: whether boxes run as users of their own.
        filtered: whether the filter of system calls is put up.
    """

    name = "bubblewrap"

    def __init__(self, hands_over: bool = True, filtered: bool = True) -> None:
        self.program = shutil.which("bwrap")
        self.becomes = shutil.which("setpriv")
        self.hands_over = hands_over and self.becomes is not None and ids.available()
        self.filtered = filtered and seccomp.supported()

    def python(self) -> str:
        """The interpreter for what runs inside."""
        return interpreter()

    def reaches(self, path: Path) -> bool:
        """Anything: it is bound into place from outside."""
        return True

    def unusable(self) -> str | None:
        """Why it does not work here; None where it does. What does not work is left out from then on."""
        if self.program is None:
            return "bubblewrap is not installed (Debian and Ubuntu: apt install bubblewrap)"
        said: str | None = None
        wishes = product({self.filtered, False}, {self.hands_over, False})
        for self.filtered, self.hands_over in sorted(wishes, reverse=True):
            if (said := self._tried()) is None:
                return None
        return f"bubblewrap does not work here: {said}"

    def _tried(self) -> str | None:
        """What it says when it does not work; None: it works."""
        outcome = self.run(Box(["echo", WORKS], environment={"PATH": os.defpath}, wall_s=LONGEST_TRIAL_S))
        return None if outcome.output == f"{WORKS}\n" else outcome.output.strip() or "it gives no reason"

    @staticmethod
    def _who(hands_over: bool) -> list[str]:
        if not hands_over:
            return list(AS_NOBODY)
        kept = [word for name in TO_HAND_OVER for word in ("--cap-add", name)]
        return [*(f"--unshare-{space}" for space in SPACES), "--cap-drop", "ALL", *kept]

    def _becoming(self, who: ids.Identity | None) -> list[str]:
        if who is None:
            return []
        ids_of = ["--reuid", str(who.user), "--regid", str(who.user), "--clear-groups"]
        return [str(self.becomes), *ids_of, "--bounding-set", "-all", "--inh-caps", "-all", "--"]

    def arguments(self, box: Box, hands_over: bool) -> list[str]:
        """What bubblewrap is told of a box: what it may see, and where it starts."""
        words = [*self._who(hands_over), "--die-with-parent", "--new-session", "--hostname", "sandbox"]
        system, pythons = [Path(name) for name in SYSTEM], interpreters()
        left_out = [*box.hidden, *packages()]
        words += _ways(Path(name) for name in SYSTEM_FILES)
        words += [*_mounts_of_the_system(), "--proc", "/proc", "--dev", "/dev"]
        for place in ("/tmp", "/dev/shm"):
            words += ["--perms", "1777", "--size", str(box.scratch_mb << 20), "--tmpfs", place]
        words += _covers(inside(left_out, system))
        words += _ways([*pythons, *box.readable, *box.writable])
        words += _read_only(pythons) + _covers(inside(left_out, pythons))
        words += _read_only(box.readable)
        for path in box.writable:
            words += ["--bind", str(path), str(path)]
        words += _ways(box.devices)
        words += [word for path in box.devices for word in ("--dev-bind", str(path), str(path))]
        # these lie in memory, without a bound of their own, or are settings of the kernel
        for place in ["/dev", "/proc", "/", *map(str, inside(left_out, system + pythons))]:
            words += ["--remount-ro", place]
        return [*words, "--chdir", str(box.writable[0]) if box.writable else "/"]

    def run(self, box: Box) -> Outcome:
        """Runs the command behind the wall."""
        with ExitStack() as stack:
            who = stack.enter_context(ids.lease()) if self.hands_over else None
            if who is not None and not all(ids.can_read(who, path) for path in box.readable):
                who = None  # better as nobody than not at all
            stack.enter_context(ids.given(who, box.writable))
            files = [stack.enter_context(handed(b""))]
            words = [*self.arguments(box, who is not None), "--info-fd", str(files[0])]
            if self.filtered:
                files.append(stack.enter_context(handed(seccomp.program(sockets=box.sockets))))
                words += ["--seccomp", str(files[-1])]
            # in a file: what is run can see the first process's command, and that would tell it of our folders
            files.append(stack.enter_context(handed(b"".join(os.fsencode(word) + b"\0" for word in words))))
            command = [str(self.program), "--args", str(files[-1]), "--", *self._becoming(who), *box.command]
            return run_confined(command, box, files, first=lambda: _first_process(files[0]))
