"""The second wall: a filter of system calls (seccomp), as the kernel takes it. Written out here, byte by byte.

What it takes away is what code that computes tensors never needs and what has let programs out of sandboxes before:
looking into other processes, setting their limits, mounting, new namespaces, keys, BPF, io_uring, sockets, System V
memory. A call that is taken away fails like on a machine without it, so that libraries fall back to something else.

The layout is that of <linux/filter.h> and <linux/seccomp.h>; the numbers are those of <asm/unistd.h>.
"""

from __future__ import annotations

import errno
import platform
import struct

# <linux/bpf_common.h>: load a word, jump if equal, jump if any of these bits is set, return
LOAD, IF_EQUAL, IF_ANY, IF_AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data; an argument takes 8 bytes
ALLOW, FAIL, KILL = 0x7FFF0000, 0x00050000, 0x80000000
X32 = 0x40000000  # the bit of a second table of calls on x86_64, with other numbers
AF_UNIX = 1
NEW_NAMESPACES = 0x7E020080  # CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
# ioctls that put characters into a terminal's input: TIOCSTI, TIOCLINUX
INTO_A_TERMINAL = (0x5412, 0x541C)

# AUDIT_ARCH of <linux/audit.h>, and the column of NUMBERS
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1), "arm64": (0xC00000B7, 1)}

# name: (x86_64, aarch64); -1: there is none. These fail with EPERM.
DENIED = {
    # other processes' memory, files and time
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    # mounts and roots
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    # namespaces
    "unshare": (272, 97),
    "setns": (308, 268),
    # keys, and large parts of the kernel that have had many holes
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    # the machine itself
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
    "iopl": (172, -1),
    "ioperm": (173, -1),
    "modify_ldt": (154, -1),
    "uselib": (134, -1),
    # memory and messages that outlive a process, or count nowhere
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}
# These fail with ENOSYS: a library takes that for an older kernel, and does it in another way.
UNKNOWN = {
    "clone3": (435, 435),  # its flags lie in memory, where a filter cannot look; glibc goes back to clone
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "memfd_create": (319, 279),  # memory that is nobody's
    "memfd_secret": (447, 447),
}
# These name a process, of whatever box or none, by its number: for 0, the caller, alone. Limits and priorities of the
# same user's processes may be lowered, the grader's among them. Name: (x86_64, aarch64), what each argument has to be.
ON_ITSELF: dict[str, tuple[tuple[int, int], dict[int, int]]] = {
    "prlimit64": ((302, 261), {0: 0}),
    "sched_setparam": ((142, 118), {0: 0}),
    "sched_setscheduler": ((144, 119), {0: 0}),
    "sched_setattr": ((314, 274), {0: 0}),
    "sched_setaffinity": ((203, 122), {0: 0}),
    "setpriority": ((141, 140), {0: 0, 1: 0}),  # PRIO_PROCESS
    "ioprio_set": ((251, 30), {0: 1, 1: 0}),  # IOPRIO_WHO_PROCESS
}
SOCKET, SOCKETPAIR, CLONE, IOCTL = (41, 198), (53, 199), (56, 220), (16, 29)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _fail(error: int) -> bytes:
    return _step(RETURN, FAIL | error)


def _when(number: int, steps: bytes) -> bytes:
    """``steps``, which must end in a return, for the call of that number alone."""
    return _step(IF_EQUAL, number, 0, len(steps) // 8) + steps


def _argument(index: int) -> bytes:
    """Loads the lower half of an argument: flags, families and requests are 32 bits wide."""
    return _step(LOAD, ARGUMENTS + 8 * index)


def supported() -> bool:
    """Whether the filter knows this machine's numbers."""
    return platform.machine() in MACHINES


def program(machine: str = "", sockets: bool = False) -> bytes:
    """The filter for ``machine`` (default: this one); ``sockets``: they stay, in a network that leads nowhere.

    Raises:
        KeyError: its numbers are not known here.
    """
    architecture, column = MACHINES[machine or platform.machine()]
    steps = [
        _step(LOAD, ARCHITECTURE),
        _step(IF_EQUAL, architecture, 1, 0),
        _step(RETURN, KILL),  # 32-bit code has other numbers
        _step(LOAD, NUMBER),
    ]
    if column == 0:
        steps.append(_step(IF_AT_LEAST, X32, 0, 1) + _fail(errno.ENOSYS))
    for table, error in ((DENIED, errno.EPERM), (UNKNOWN, errno.ENOSYS)):
        steps += [_when(numbers[column], _fail(error)) for numbers in table.values() if numbers[column] >= 0]
    for numbers, wanted in ON_ITSELF.values():
        fitting = b"".join(
            _argument(i) + _step(IF_EQUAL, value, 1, 0) + _fail(errno.EPERM) for i, value in wanted.items()
        )
        steps.append(_when(numbers[column], fitting + _step(RETURN, ALLOW)))
    if not sockets:
        steps.append(_when(SOCKET[column], _fail(errno.EAFNOSUPPORT)))
    allow = _step(RETURN, ALLOW)
    not_local = _argument(0) + _step(IF_EQUAL, AF_UNIX, 1, 0) + _fail(errno.EAFNOSUPPORT) + allow
    new_namespace = _argument(0) + _step(IF_ANY, NEW_NAMESPACES, 0, 1) + _fail(errno.EPERM) + allow
    typing = _argument(1) + b"".join(_step(IF_EQUAL, code, 0, 1) + _fail(errno.EPERM) for code in INTO_A_TERMINAL)
    steps += [_when(SOCKETPAIR[column], not_local), _when(CLONE[column], new_namespace)]
    steps += [_when(IOCTL[column], typing + allow), allow]
    return b"".join(steps)
