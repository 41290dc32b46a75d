"""Runs a command behind the walls that a process can put around itself: ``python3 -I -S launch.py SPEC_FD``.

Standard library alone, and nothing of the grader: this is a program of its own. The open file SPEC_FD holds what is
asked for as JSON: ``command``, ``user`` and ``group`` (absent: stay), ``read``, ``list``, ``write`` and ``devices``
(paths, for Landlock; absent: no Landlock; root's powers go with it), ``filter`` (system calls, as hex; absent: none),
``parent`` (dies with that process).
What is asked for and cannot be had ends the program; it never goes on with less.
"""

import ctypes
import json
import os
import signal
import struct
import sys

NR_SECCOMP = {"x86_64": 317}.get(os.uname().machine, 277)
NR_CREATE_RULESET, NR_ADD_RULE, NR_RESTRICT_SELF = 444, 445, 446  # the same on every machine
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 24, 38
CAPABILITIES = 64  # more than there are
SET_MODE_FILTER, SPEC_ALLOW = 1, 4
# <linux/landlock.h>: what is forbidden but for rules, by the kernel's version of the interface
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
FILES = ((1, (1 << 13) - 1), (2, 1 << 13), (3, TRUNCATE), (5, IOCTL_DEV))
NETWORK, NETWORK_SINCE = 0b11, 4  # bind and connect
SCOPES, SCOPES_SINCE = 0b11, 6  # abstract sockets and signals stay inside
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
READ = EXECUTE | READ_FILE | READ_DIR
LIBC = ctypes.CDLL(None, use_errno=True)


def system_call(number: int, *arguments: object) -> int:
    """The result of a system call.

    Raises:
        OSError: it failed.
    """
    result: int = LIBC.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def landlock_version() -> int:
    """The version of Landlock's interface; 0: there is none."""
    try:
        return system_call(NR_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    except OSError:
        return 0


def ruleset(version: int, rules: dict[str, int]) -> int:
    """An open Landlock ruleset that allows, by path, these kinds of access and no others."""
    handled = sum(mask for since, mask in FILES if version >= since)
    attributes = [handled, NETWORK if version >= NETWORK_SINCE else 0, SCOPES if version >= SCOPES_SINCE else 0]
    size = 8 * (1 + (version >= NETWORK_SINCE) + (version >= SCOPES_SINCE))
    blob = struct.pack("=3Q", *attributes)
    descriptor = system_call(NR_CREATE_RULESET, blob, ctypes.c_size_t(size), ctypes.c_uint32(0))
    for path, access in rules.items():
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        allowed = access & handled & (-1 if os.path.isdir(path) else OF_A_FILE)
        rule = struct.pack("=Qi", allowed, place)
        system_call(NR_ADD_RULE, descriptor, 1, rule, ctypes.c_uint32(0))
        os.close(place)
    return descriptor


def rules_of(spec: dict[str, list[str]]) -> dict[str, int]:
    """The kinds of access by path."""
    rules = {**dict.fromkeys(spec["list"], READ_DIR), **dict.fromkeys(spec["read"], READ)}
    rules.update(dict.fromkeys(spec["devices"], READ_FILE | WRITE_FILE | READ_DIR | TRUNCATE | IOCTL_DEV))
    rules.update(dict.fromkeys(spec["write"], -1))
    return rules


def become(user: int, group: int, others: list[int]) -> None:
    """Becomes another user, for good."""
    os.setgroups(others)
    os.setresgid(group, group, group)
    os.setresuid(user, user, user)


def lose_powers() -> None:
    """Has nothing that is started from here on be given root's powers: some go around Landlock."""
    for capability in range(CAPABILITIES):
        LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails for who has none, and for those that do not exist


def put_filter(blob: bytes) -> None:
    """Has the kernel refuse system calls from here on."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))

    program = Program(len(blob) // 8, blob)
    system_call(NR_SECCOMP, SET_MODE_FILTER, SPEC_ALLOW, ctypes.byref(program))


def main() -> None:
    """Puts up the walls, then runs the command."""
    with os.fdopen(int(sys.argv[1]), "rb") as file:
        spec = json.load(file)
    rules = ruleset(landlock_version(), rules_of(spec)) if "read" in spec else None
    if rules is not None:
        lose_powers()
    if "user" in spec:
        become(spec["user"], spec["group"], spec["groups"])
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != spec["parent"]:
        sys.exit("the grader is gone")
    LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if rules is not None:
        system_call(NR_RESTRICT_SELF, rules, ctypes.c_uint32(0))
        os.close(rules)
    if "filter" in spec:
        put_filter(bytes.fromhex(spec["filter"]))
    os.execv(spec["command"][0], spec["command"])


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"the sandbox cannot be put up: {error}")
