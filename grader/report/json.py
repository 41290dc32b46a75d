"""The result as JSON, versioned: ``schema`` is ``tensorgrade/result/1``."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from grader.errors import NotShownError, UsageError
from grader.report.stdout import shown
from grader.result import Result

STDOUT = "-"


def text(result: Result) -> str:
    """The result as JSON text; the same result gives the same bytes."""
    return result.model_dump_json(indent=2, by_alias=True) + "\n"


def check_target(target: str) -> None:
    """Refuses a target that cannot become a file, before anything is graded.

    Raises:
        UsageError: its folder is missing, or it is a folder itself.
    """
    path = Path(target)
    if target == STDOUT:
        return
    if not target or path.is_dir():
        raise UsageError(f"--json: {target or '``'} is not the name of a file")
    if not path.parent.is_dir():
        raise UsageError(f"--json: there is no folder {path.parent}")


def write(result: Result, target: str) -> None:
    """Writes to a path, or to standard output for ``-``; an earlier file stays whole until the new one is."""
    if target == STDOUT:
        with shown():
            sys.stdout.write(text(result))
        return
    path = Path(target)
    try:
        if path.exists() and not path.is_file():  # /dev/null, a pipe: written to, not replaced
            path.write_text(text(result), encoding="utf-8")
            return
        descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text(result))
                file.flush()
                os.fsync(file.fileno())
            Path(part).chmod(0o644)
            Path(part).replace(path)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise NotShownError(f"cannot write {target}: {error.strerror}") from error
