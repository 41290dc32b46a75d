"""The result as JSON, versioned: ``schema`` is ``tensorgrade/result/1``."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from grader.errors import InfrastructureError
from grader.result import Result


def text(result: Result) -> str:
    """The result as JSON text; the same result gives the same bytes."""
    return result.model_dump_json(indent=2, by_alias=True) + "\n"


def write(result: Result, target: str) -> None:
    """Writes to a path, or to standard output for ``-``; an earlier file stays whole until the new one is."""
    if target == "-":
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
        raise InfrastructureError(f"cannot write {target}: {error.strerror}") from error
