"""Probes of a build with sanitizers: the runtime under which they run, and what it reports.

AddressSanitizer's runtime must be there before Python is, so the driver starts itself anew with it. The probes'
buffers are marked for it: one element too far in either direction is reported with the line that does it.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import json
import mmap
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assignments.A2.native.buffers import Region
from assignments.common.probe_io import Job, apply_limits, write_json

RUNTIME = "runtime.json"  # in the build's folder: which tool it is for, and the tool's libraries
HOST = "races"  # ThreadSanitizer's program, which is linked with the student's file
LOG = "sanitizer"  # reports lie at <out>/sanitizer.<tool>.<pid>
SAID = f"{LOG}.stderr"  # gcc's UndefinedBehaviorSanitizer writes nowhere else when AddressSanitizer is there first
MOST_REPORTED = 2  # cases of a check that end in a report; those after them would tell the same
MOST_TEXT = 32 << 10  # bytes of a case's reports that are handed on
MOST_PLACES = 64
DATA = 5  # /proc/self/statm: pages of data
NO_RANDOM_ADDRESSES = 0x0040000  # <sys/personality.h>: older runtimes do not find room for themselves otherwise
_ADDRESS = re.compile(r"0x[0-9a-f]{6,16}\b")

VARIABLES = {"address": "ASAN_OPTIONS", "undefined": "UBSAN_OPTIONS", "thread": "TSAN_OPTIONS"}
COMMON: dict[str, int | str] = {"symbolize": 1, "allow_addr2line": 1, "color": "never", "exitcode": 77}
OPTIONS: dict[str, dict[str, int | str]] = {
    "address": {
        **COMMON,
        "detect_leaks": 0,  # needs ptrace, and a student's program frees at its end or never
        "detect_odr_violation": 0,  # our operators bear the names of the student's
        "detect_stack_use_after_return": 1,
        "allocator_may_return_null": 1,
        "quarantine_size_mb": 32,
        # what malloc hands out is not zero: floats of 3.4e38
        "malloc_fill_byte": 0x7F,
        "max_malloc_fill_size": 1 << 24,
        # the reports come from the runtime, not from crash.c
        **{f"handle_{signal}": 2 for signal in ("segv", "sigbus", "sigfpe")},
    },
    "undefined": COMMON,
    "thread": {**COMMON, "ignore_noninstrumented_modules": 1, "report_thread_leaks": 0, "report_signal_unsafe": 0},
}


def tool_of(flags: Sequence[str]) -> str:
    """``address`` or ``thread``, as the flags say; empty for an ordinary build."""
    asked = {name for flag in flags if flag.startswith("-fsanitize=") for name in flag.partition("=")[2].split(",")}
    return next((tool for tool in ("address", "thread") if tool in asked), "")


def _library(compiler: str, name: str) -> str:
    """Where the compiler has a library; empty: it has none."""
    done = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False)
    path = done.stdout.strip()
    return os.path.realpath(path) if os.path.isabs(path) and os.path.exists(path) else ""


def linking(compiler: str, flags: Sequence[str]) -> tuple[list[str], str]:
    """The flags that link AddressSanitizer's runtime as a library, and that library; nothing without it."""
    if tool_of(flags) != "address":
        return [], ""
    for name, more in ((f"libclang_rt.asan-{os.uname().machine}.so", ["-shared-libasan"]), ("libasan.so", [])):
        if path := _library(compiler, name):
            return more, path
    return [], ""


def archer() -> str:
    """Where LLVM's archer lies: what tells ThreadSanitizer of OpenMP's barriers. Empty: nowhere."""
    name = "libarcher.so"
    places = [_library("clang", name), *sorted(glob.glob(f"/usr/lib*/llvm*/lib/{name}"), reverse=True)]
    with contextlib.suppress(OSError):
        done = subprocess.run(["clang", "-print-resource-dir"], capture_output=True, text=True, check=False)
        places.insert(1, os.path.join(done.stdout.strip(), "..", "..", name))
    return next((os.path.realpath(path) for path in places if path and os.path.exists(path)), "")


def keep_runtime(job: Job, **runtime: str) -> None:
    """Writes down for the probes what the build needs around it: ``tool``, ``library``, ``archer``."""
    write_json(os.path.join(job.build, RUNTIME), runtime)


def _runtime(job: Job) -> dict[str, str]:
    try:
        with open(os.path.join(job.build, RUNTIME), encoding="utf-8") as file:
            found: dict[str, str] = json.load(file)
            return found
    except OSError:
        return {}


def sanitizer_of(job: Job) -> str:
    """The tool that the job's build was made for; empty: none."""
    return tool_of(job.flags)


def enter(job: Job) -> None:
    """Starts the driver anew under the runtime that its build asks for; comes back where that is done."""
    library = _runtime(job).get("library", "")
    if not library:
        return
    if os.environ.get("LD_PRELOAD") == library:
        said = os.open(os.path.join(job.out, SAID), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(said, sys.stderr.fileno())
        return
    fixed_addresses()
    os.execve(sys.executable, sys.orig_argv, {**settings(job, "address", "undefined"), "LD_PRELOAD": library})


def settings(job: Job, *tools: str) -> dict[str, str]:
    """The environment, with what these tools are to do."""
    found = dict(os.environ)
    for tool in tools:
        options = {**OPTIONS[tool], "log_path": os.path.join(job.out, f"{LOG}.{tool}")}
        found[VARIABLES[tool]] = ":".join(f"{key}={value}" for key, value in options.items())
    if "thread" in tools:
        found["OMP_TOOL_LIBRARIES"] = _runtime(job).get("archer", "")
    return found


def fixed_addresses() -> None:
    """Has the programs that are started from here on lie at the same addresses each time, where that is allowed."""
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).personality(NO_RANDOM_ADDRESSES)


# -- reports ----------------------------------------------------------------------------------------------


def reporting(
    probe: Callable[[Job, dict[str, Any]], dict[str, Any]],
) -> Callable[[Job, dict[str, Any]], dict[str, Any]]:
    """A probe whose status also bears the text of the reports, and what their addresses mean."""

    reported = 0

    def probed(job: Job, case: dict[str, Any]) -> dict[str, Any]:
        nonlocal reported
        if reported >= MOST_REPORTED:
            return {"status": "skipped"}
        status = probe(job, case)
        text = _collect(job)
        regions = [Region(*region) for region in status.pop("regions", [])]
        reported += re.search(r"Sanitizer: |: runtime error: ", text) is not None
        return {**status, "report": text, "places": _places(text, regions)}

    return probed


def _collect(job: Job) -> str:
    """The reports since the last case; the student's file is called as the student calls it."""
    text = b""
    for path in sorted(glob.glob(os.path.join(glob.escape(job.out), f"{LOG}.*"))):
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as file:
                text += file.read(MOST_TEXT - len(text))
            os.truncate(path, 0) if path.endswith(SAID) else os.remove(path)
    return text.decode("utf-8", "replace").replace(job.build + "/", "")


def _places(text: str, regions: Sequence[Region]) -> dict[str, Any]:
    """By address: the buffer, the element and how it lies to the buffer."""
    found: dict[str, Any] = {}
    for word in dict.fromkeys(_ADDRESS.findall(text)):
        places = [place for region in regions if (place := region.place(int(word, 16)))]
        if places and len(found) < MOST_PLACES:
            found[word] = vars(min(places, key=lambda place: place.distance))
    return found


# -- the driver's process ---------------------------------------------------------------------------------


def apply_limits_beside(limits: Mapping[str, float], tool: str) -> None:
    """The limits of a probe under a sanitizer: its runtime takes hold of terabytes of addresses for itself.

    ThreadSanitizer's program bounds its own memory.
    """
    apply_limits({key: value for key, value in limits.items() if key != "memory_mb"})
    if tool == "address":
        with open("/proc/self/statm", encoding="ascii") as file:
            words = [int(word) for word in file.read().split()]
        room = int(limits["memory_mb"]) << 20
        # addresses, and those of them that can be written to: small pieces come out of addresses taken before
        for kind, pages in ((resource.RLIMIT_AS, words[0]), (resource.RLIMIT_DATA, words[DATA])):
            most = pages * mmap.PAGESIZE + room
            with contextlib.suppress(ValueError, OSError):  # it is lower already
                resource.setrlimit(kind, (most, most))
