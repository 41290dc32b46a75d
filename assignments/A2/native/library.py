"""The student's library, loaded in the process of one probe."""

from __future__ import annotations

import ctypes
import os
import re
from typing import Any

from assignments.A2.native.names import LIBRARY
from assignments.common.probe_io import RAISED, Ending, Job, Report, in_own_process

M_PERTURB = -6  # glibc's mallopt: memory handed out is filled first
LOADING = "loading"  # the status of a library that is about to be loaded
RUBBISH = 0x80  # glibc fills with its complement: floats of 3.4e38

_UNDEFINED = re.compile(r"undefined symbol: (\w+)")
LOADER_FAILED = 127  # the exit code with which the dynamic loader ends a process


def fill_malloc_with_rubbish() -> None:
    """Makes uninitialised memory visible: what malloc hands out is not zero from now on."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # glibc alone has it
        mallopt(M_PERTURB, RUBBISH)


def load(job: Job, report: Report) -> ctypes.CDLL:
    """Loads ``student.so``; faults are reported from here on."""
    path = os.path.join(job.build, LIBRARY)
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        undefined = _UNDEFINED.search(str(error))
        if undefined is None:
            raise
        report.send(undefined=undefined[1])
        library = ctypes.CDLL(path, handle=_open_lazily(path))
    library.tg_report_faults(report.descriptor)
    return library


def _open_lazily(path: str) -> int:
    """Opens a library whose undefined functions matter only once they are called; ctypes wants all at once."""
    dlopen = ctypes.CDLL(None).dlopen
    dlopen.argtypes, dlopen.restype = [ctypes.c_char_p, ctypes.c_int], ctypes.c_void_p
    handle: int | None = dlopen(path.encode(), os.RTLD_LAZY)
    if handle is None:
        raise OSError(f"{LIBRARY} cannot be loaded")
    return handle


def not_loaded(path: str, seconds: float) -> dict[str, Any]:
    """How a library ends the process that loads it: the status of whatever would load it; empty where it does not.

    Constructors run then, before any function of it is called. One that does not end would hold every case of every
    check for its whole time.
    """

    def work(report: Report) -> None:
        _open_lazily(path)

    ending = in_own_process(work, seconds)
    # What cannot be opened, each probe says for itself. The word alone tells nothing: a constructor can send it, too.
    unopened = (ending.status, ending.code) == ("exited", RAISED) and ending.merged().get("error")
    if ending.status == "ok" or unopened:
        return {}
    stopped = f"it stopped the program with exit code {ending.code}"
    how = {"timed_out": f"it did not end within {seconds:g} s", "exited": stopped}.get(ending.status, "it crashed")
    detail = f"{how} when it was loaded, before any function of it was called"
    return {"status": ending.status, "code": ending.code, "detail": detail}


def undefined_called(ending: Ending) -> str | None:
    """A sentence for a process that the loader ended, since it called a function that is nowhere."""
    name = ending.merged().get("undefined")
    if not name or ending.status != "exited" or ending.code != LOADER_FAILED:
        return None
    return f"it calls `{name}`, which is defined nowhere"
