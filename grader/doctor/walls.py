"""The sandboxes, one by one: which of them work here, and what would let the others."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from grader import sandbox
from grader.doctor.findings import Finding
from grader.sandbox import launched, seccomp
from grader.sandbox.bubblewrap import Bubblewrap
from grader.sandbox.launch import landlock_version

APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
CLONE = Path("/proc/sys/kernel/unprivileged_userns_clone")
MOST_NAMESPACES = Path("/proc/sys/user/max_user_namespaces")
CONTAINERS = (Path("/.dockerenv"), Path("/run/.containerenv"))
CONTAINER = "container"  # Podman, LXC and systemd tell their name in this variable
DOCKER = (
    "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
    " --security-opt systempaths=unconfined …"
)
CONTROLLERS = (Path("/sys/fs/cgroup/cgroup.controllers"), Path("/sys/fs/cgroup/unified/cgroup.controllers"))


def findings() -> Iterator[Finding]:
    """Each sandbox, what they are made of, and the one that is taken."""
    yield _bubblewrap()
    yield from (_wall(name) for name in sandbox.WALLS if name != Bubblewrap.name)
    yield _namespaces()
    yield _filter()
    yield _landlock()
    yield _cgroups()
    yield _taken()


def _bubblewrap() -> Finding:
    wall = Bubblewrap()
    reason = wall.unusable()
    if reason is None:
        manner = "each box a user of its own" if wall.hands_over else "as nobody, in a namespace of users"
        walls = "with" if wall.filtered else "without"
        return Finding(name="bubblewrap", state="ok", found=f"works: {manner}, {walls} the filter of system calls")
    return Finding(name="bubblewrap", state="absent", found=reason, advice=_allowing(wall.program is not None))


def _allowing(installed: bool) -> str:
    """What would let bubblewrap work."""
    if not installed:
        return "apt install bubblewrap (Debian, Ubuntu); dnf install bubblewrap (Fedora)"
    if _number(MOST_NAMESPACES) == 0:
        return "sysctl -w user.max_user_namespaces=15000"
    if _number(CLONE) == 0:
        return "sysctl -w kernel.unprivileged_userns_clone=1"
    if _number(APPARMOR) == 1:
        return (
            "Ubuntu's AppArmor lets no program make namespaces but those with a profile:"
            " sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or a profile for bwrap with `userns,`"
        )
    if CONTAINER in os.environ or any(path.exists() for path in CONTAINERS):
        return f"this is a container: start it with {DOCKER}; without that, `user` or `landlock` takes its place"
    return "see what it says; namespaces have to be allowed"


def _wall(name: str) -> Finding:
    reason = sandbox.WALLS[name]().unusable()
    return Finding(name=name, state="ok" if reason is None else "absent", found=reason or "works")


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _namespaces() -> Finding:
    settings = {path.name: _number(path) for path in (MOST_NAMESPACES, CLONE, APPARMOR)}
    said = ", ".join(f"{name} {value}" for name, value in settings.items() if value is not None)
    closed = 0 in (settings[MOST_NAMESPACES.name], settings[CLONE.name]) or settings[APPARMOR.name] == 1
    return Finding(
        name="namespaces of users", state="absent" if closed else "ok", found=said or "the system does not say"
    )


def _filter() -> Finding:
    works = launched.has_filter()
    known = "" if seccomp.supported() else f"; its numbers are not known for {os.uname().machine}"
    said = f"{len(seccomp.DENIED) + len(seccomp.UNKNOWN)} system calls are taken away" if works else f"none{known}"
    return Finding(name="seccomp", state="ok" if works else "absent", found=said)


def _landlock() -> Finding:
    version = landlock_version() if sys.platform == "linux" else 0
    if version:
        return Finding(name="Landlock", state="ok", found=f"version {version}")
    advice = "Linux 5.13 or later, with `landlock` among the kernel's lsm=" if sys.platform == "linux" else ""
    return Finding(name="Landlock", state="absent", found="none", advice=advice)


def _cgroups() -> Finding:
    controllers = next((path.read_text().split() for path in CONTROLLERS if path.exists()), [])
    said = f"version 2 with {', '.join(controllers)}" if controllers else "none of version 2"
    return Finding(name="cgroups", state="ok", found=f"{said}; not needed, use is counted from /proc")


def _taken() -> Finding:
    wall = sandbox.choose()
    if wall.name in sandbox.WALLS:
        return Finding(name="sandbox that is taken", state="ok", found=wall.name)
    advice = "scores are for the student's own information; one of the sandboxes above has to work"
    return Finding(name="sandbox that is taken", state="absent", found="none: limits alone", advice=advice)
