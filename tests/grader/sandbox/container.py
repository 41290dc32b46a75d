"""A command as in a container that forbids namespaces: root, but not for mounts, namespaces and the rest."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from grader.home import ROOT

# what containers leave to root, roughly; not the administration of the system
LEFT = "-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+sys_chroot"
PROGRAM = f"""
import errno, os, sys
sys.path.insert(0, {str(ROOT)!r})
from grader.sandbox import launch, seccomp
FORBIDDEN = ("mount", "umount2", "pivot_root", "unshare", "setns", "fsopen", "open_tree", "move_mount")
LANDLOCK = (launch.NR_CREATE_RULESET, launch.NR_ADD_RULE, launch.NR_RESTRICT_SELF)
architecture, column = seccomp.MACHINES[os.uname().machine]
steps = seccomp._step(seccomp.LOAD, seccomp.NUMBER)
for name in FORBIDDEN:
    steps += seccomp._when(seccomp.DENIED[name][column], seccomp._fail(errno.EPERM))
for number in LANDLOCK if sys.argv[1] == "without-landlock" else ():
    steps += seccomp._when(number, seccomp._fail(errno.ENOSYS))
steps += seccomp._when(seccomp.UNKNOWN["clone3"][column], seccomp._fail(errno.ENOSYS))
allow = seccomp._step(seccomp.RETURN, seccomp.ALLOW)
new = seccomp._argument(0) + seccomp._step(seccomp.IF_ANY, seccomp.NEW_NAMESPACES, 0, 1)
steps += seccomp._when(seccomp.CLONE[column], new + seccomp._fail(errno.EPERM) + allow) + allow
launch.LIBC.prctl(launch.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
launch.put_filter(steps)
os.execvp(sys.argv[2], sys.argv[2:])
"""


def contained(command: Sequence[str], user: int = 0, landlock: bool = True) -> list[str]:
    """The command, to be run so; by root, or by another user."""
    become = ["--reuid", str(user), "--regid", str(user), "--clear-groups"] if user else []
    limits = ["setpriv", *become, "--bounding-set", LEFT, "--inh-caps", "-all", "--"]
    python = sys.executable if not user else f"/usr/bin/python3.{sys.version_info.minor}"
    return [*limits, python, "-I", "-S", "-c", PROGRAM, "with-landlock" if landlock else "without-landlock", *command]
