"""The walls that need no namespaces: another user, Landlock, a filter of system calls; as many as there are.

``user`` (in its own module) is for root in a container that forbids namespaces, ``landlock`` for anybody on a kernel
that has it, ``limits`` for the rest, where nothing keeps the code from reading what its user can read.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from grader.errors import InfrastructureError
from grader.sandbox import disk, ids, launch, seccomp
from grader.sandbox.box import Box, Outcome, interpreter
from grader.sandbox.bubblewrap import LONGEST_TRIAL_S, WORKS
from grader.sandbox.running import handed, run_confined
from grader.sandbox.system import SYSTEM, SYSTEM_FILES, interpreters, packages, without

PROGRAM = Path(launch.__file__)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
# what programs ask of the machine: how many processors it has, how much memory, who they are themselves
TOLD = ("/proc", "/sys/devices/system")


@contextlib.contextmanager
def scratch(box: Box) -> Iterator[Box]:
    """A folder in the place of /tmp, counted with what else the box writes."""
    beside = box.writable[0].parent if box.writable else None
    folder = Path(tempfile.mkdtemp(prefix="tmp-", dir=beside))
    try:
        environment = {**box.environment, "TMPDIR": str(folder)}
        yield replace(box, writable=[*box.writable, folder], environment=environment)
    finally:
        disk.remove(folder)


@cache
def has_landlock() -> bool:
    """Whether this kernel has Landlock, and lets it be used."""
    return sys.platform == "linux" and launch.landlock_version() > 0


@cache
def has_filter() -> bool:
    """Whether this kernel takes the filter, tried on a program that does nothing."""
    if sys.platform != "linux" or not seccomp.supported():
        return False
    return Launched(filtered=True).trial() is None


class Launched:
    """A command started by `launch`, which puts up the walls that are asked for."""

    name = "none"

    def __init__(self, filtered: bool, landlock: bool = False) -> None:
        self.filtered = filtered
        self.landlock = landlock

    def python(self) -> str:
        """The interpreter for what runs inside."""
        return interpreter()

    def reaches(self, path: Path) -> bool:
        """Anything that this user can read."""
        return True

    def trial(self) -> str | None:
        """Why nothing can be run so; None: it works."""
        try:
            outcome = self.run(Box([self.python(), "-I", "-S", "-c", f"print('{WORKS}')"], wall_s=LONGEST_TRIAL_S))
        except (InfrastructureError, OSError) as error:
            return str(error)
        return None if outcome.output == f"{WORKS}\n" else outcome.output.strip() or "it gives no reason"

    def _spec(self, box: Box, who: ids.Identity | None) -> dict[str, Any]:
        program = shutil.which(box.command[0], path=box.environment.get("PATH", os.defpath))
        if program is None:
            raise InfrastructureError(f"cannot start {box.command[0]}: there is no such program")
        spec: dict[str, Any] = {"command": [program, *box.command[1:]], "parent": os.getpid()}
        if who is not None:
            spec.update(user=who.user, group=who.user, groups=[who.group])
        if self.filtered:
            spec["filter"] = seccomp.program().hex()
        if self.landlock:
            # /lib and the like are links into /usr on most systems: a rule for one would be for what it leads to
            system = dict.fromkeys(Path(name).resolve() for name in SYSTEM if Path(name).exists())
            whole, lists = without((*system, *interpreters()), (*box.hidden, *packages()))
            spec["read"] = [str(path) for path in (*whole, *SYSTEM_FILES, *TOLD, *box.readable)]
            spec["list"] = [str(path) for path in lists]
            spec["write"] = [str(path) for path in box.writable]
            spec["devices"] = [*DEVICES, *map(str, box.devices)]
        return spec

    def _launch(self, box: Box, who: ids.Identity | None = None, end_all: Callable[[], None] | None = None) -> Outcome:
        with handed(json.dumps(self._spec(box, who)).encode()) as descriptor:
            command = [interpreter(), "-I", "-S", str(PROGRAM), str(descriptor)]
            return run_confined(command, box, [descriptor], end_all=end_all)

    def run(self, box: Box) -> Outcome:
        """Runs the command, with a folder of its own for temporary files."""
        with scratch(box) as roomy:
            return self._launch(roomy)


class Landlock(Launched):
    """For anybody: files by Landlock, the network and other processes by the filter."""

    name = "landlock"

    def __init__(self) -> None:
        super().__init__(filtered=True, landlock=True)

    def unusable(self) -> str | None:
        """Why it does not work here; None where it does."""
        if not has_landlock():
            return "this kernel has no Landlock, or does not let it be used"
        return self.trial()


class Limits(Launched):
    """Limits alone: what is left. The result says ``sandbox: none``."""

    def __init__(self) -> None:
        super().__init__(filtered=False)

    def run(self, box: Box) -> Outcome:
        """Runs the command as the same user, with the box's environment alone."""
        with scratch(box) as roomy:
            if sys.platform != "linux":
                return run_confined(roomy.command, roomy)
            self.filtered = has_filter()
            return self._launch(roomy)
