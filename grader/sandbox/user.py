"""For root where namespaces are forbidden, as in most containers: each box is a user of its own.

Files are kept from it by Landlock where the kernel has it, and by their permissions where it has not; then what it
must not see has to be closed to others, or this wall is not used. The network is cut by the filter of system calls.
What the user leaves behind, processes, files, shared memory, is ended and removed.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

from grader.errors import InfrastructureError
from grader.home import ROOT
from grader.sandbox import disk, ids, ipc, tree
from grader.sandbox.box import Box, Outcome, interpreter
from grader.sandbox.launched import Launched, has_filter, has_landlock, scratch

LONGEST_END_S = 20.0
SECRETS = ("expected", "*/expected", "fixtures/*/*/expected", "reference")  # in a folder that is to be hidden


class User(Launched):
    """Another user for each box."""

    name = "user"

    def __init__(self) -> None:
        super().__init__(filtered=has_filter(), landlock=has_landlock())

    def python(self) -> str:
        """An interpreter of the grader's version that other users can start."""
        return self._interpreter or interpreter()

    @cached_property
    def _interpreter(self) -> str | None:
        name = f"python3.{sys.version_info.minor}"
        with ids.lease() as who:
            found = [interpreter(), f"/usr/bin/{name}", f"/usr/local/bin/{name}"]
            return next((path for path in found if who and ids.can_use(who, Path(path))), None)

    def reaches(self, path: Path) -> bool:
        """What permissions let other users read."""
        with ids.lease() as who:
            return who is not None and ids.can_use(who, path)

    def unusable(self) -> str | None:
        """Why it does not work here; None where it does."""
        if not ids.available():
            return "it takes root, on Linux"
        if self._interpreter is None:
            return f"other users cannot start {interpreter()}; open the folders above it: chmod o+x"
        return self._unreachable() or self._exposed([ROOT]) or self.trial()

    @staticmethod
    def _unreachable() -> str | None:
        place = Path(tempfile.gettempdir())
        with ids.lease() as who:
            if who is None or ids.can_pass(who, place):
                return None
        return f"other users cannot come to {place}; open the folders above it (chmod o+x), or have TMPDIR name another"

    def _exposed(self, hidden: Iterable[Path]) -> str | None:
        """What permissions would let a box read of what it must not see; None: nothing, or Landlock keeps it."""
        if self.landlock:
            return None
        secrets = [path for folder in hidden for pattern in SECRETS for path in folder.glob(pattern)]
        with ids.lease() as who:
            found = [str(path) for path in secrets if who is None or ids.can_enter(who, path)]
        closing = f"this kernel has no Landlock, and everybody can read {found[0]}: chmod -R o-rwx " if found else ""
        return closing + " ".join(found) if found else None

    def run(self, box: Box) -> Outcome:
        """Runs the command as a user that nobody else is.

        Raises:
            InfrastructureError: that user cannot read what it is to read, or could read what it must not.
        """
        if (reason := self._exposed(box.hidden)) is not None:
            raise InfrastructureError(reason)
        with ids.lease() as who:
            if who is None:
                raise InfrastructureError(ids.NONE_LEFT)
            roomy = scratch(replace(box, owner=None if self.landlock else who.user))
            with roomy as box, ids.given(who, box.writable):
                closed = [path for path in (*box.readable, *box.writable) if not ids.can_use(who, path)]
                if closed:
                    raise InfrastructureError(f"boxes run as other users, and these cannot read {closed[0]}")
                try:
                    return self._launch(box, who, partial(_end_all_of, who))
                finally:
                    _end_all_of(who)
                    _remove_all_of(who)


def _end_all_of(who: ids.Identity) -> None:
    """Ends all processes of a user; some may be starting others faster than they can be counted."""
    deadline = time.monotonic() + LONGEST_END_S
    while found := tree.of_user(who.user):
        if time.monotonic() > deadline:
            raise InfrastructureError(f"the processes of user {who.user} cannot be ended")
        # one system call for all of them, which only they themselves can get in the way of
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                ["/bin/sh", "-c", "kill -9 -1"],
                user=who.user,
                group=who.user,
                extra_groups=[],
                capture_output=True,
                timeout=LONGEST_END_S,
                check=False,
            )
        tree.end_all(found)


def _remove_all_of(who: ids.Identity) -> None:
    for path in disk.owned_by(who.user):
        disk.remove(path)
    ipc.remove_all_of(who.user)
