"""Compiles the student's ``src/combine.cu`` with nvcc, as the handout does."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Any

from assignments.common.probe_io import Job

LIBRARY = "combine.so"
MOST_MESSAGES = 32 << 10  # bytes kept of what the compiler says


def probe_nvcc(job: Job, case: dict[str, Any]) -> dict[str, Any]:
    """``combine.so`` in the job's folder of results; ``messages``: what nvcc says.

    It starts in the stage, so that the files in its messages are named as the student knows them.
    """
    del case
    library, temporary = os.path.join(job.out, LIBRARY), os.path.join(job.out, "compiling")
    os.makedirs(temporary)
    command = [job.options["nvcc"], *job.options["flags"].split(), job.options["source"], "-o", library]
    environment = {**os.environ, "TMPDIR": temporary}
    done = subprocess.run(
        command,
        cwd=job.stage,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    shutil.rmtree(temporary, ignore_errors=True)
    messages = done.stdout[:MOST_MESSAGES].decode("utf-8", "replace")
    compiled = done.returncode == 0 and os.path.isfile(library)
    return {"status": "ok" if compiled else "wrong", "messages": messages}
