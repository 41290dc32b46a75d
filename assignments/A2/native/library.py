"""The student's library, loaded in the process of one probe."""

from __future__ import annotations

import ctypes
import os

from assignments.A2.native.build import LIBRARY
from assignments.common.probe_io import Job, Report

M_PERTURB = -6  # glibc's mallopt: memory handed out is filled first
RUBBISH = 0x80  # glibc fills with its complement: floats of 3.4e38


def fill_malloc_with_rubbish() -> None:
    """Makes uninitialised memory visible: what malloc hands out is not zero from now on."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # glibc alone has it
        mallopt(M_PERTURB, RUBBISH)


def load(job: Job, report: Report) -> ctypes.CDLL:
    """Loads ``student.so``; faults are reported from here on."""
    library = ctypes.CDLL(os.path.join(job.build, LIBRARY))
    library.tg_report_faults(report.descriptor)
    return library
