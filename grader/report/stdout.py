"""Standard output, which may be closed before its time, or take nothing."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from grader.errors import NotShownError


def give_up() -> None:
    """Has nothing more written to it: not at the end of the program either."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def shown(kept: str = "") -> Iterator[None]:
    """Around what prints a result; whoever reads it may stop to (``| head``). ``kept``: where else the result is.

    Raises:
        NotShownError: it cannot be written.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        give_up()
    except OSError as error:
        give_up()
        elsewhere = f"; it is in {kept}" if kept else ""
        raise NotShownError(f"the result cannot be shown on standard output: {error.strerror}{elsewhere}") from error
