"""Tensor files (safetensors) on the judging side: bounded, links not followed, checked before they are used."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy

from grader.cases import Array


class TensorFileError(Exception):
    """The file is not a tensor file that can be used; the message says why."""


def _open(path: Path, limit: int) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise TensorFileError("no tensor was handed back") from error
    except OSError as error:
        raise TensorFileError(f"the tensor file cannot be opened: {error.strerror}") from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise TensorFileError("what was handed back is not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        if status.st_size > limit:
            raise TensorFileError(f"what was handed back has {status.st_size} bytes, more than {limit}")
        return file.read(limit)


def read(path: Path, limit: int = 1 << 30) -> dict[str, Array]:
    """Reads a tensor file of at most ``limit`` bytes; the arrays are this process's own.

    Raises:
        TensorFileError: it is missing, a link, too large, damaged, or of a type numpy lacks.
    """
    blob = _open(path, limit)
    try:
        return dict(sorted(safetensors.numpy.load(blob).items()))  # its own order changes from run to run
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError) as error:
        raise TensorFileError(f"what was handed back is not a tensor file: {error}") from error


def write(path: Path, tensors: Mapping[str, Array]) -> None:
    """Writes a tensor file; the same tensors give the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {name: np.ascontiguousarray(array) for name, array in sorted(tensors.items())}
    path.write_bytes(safetensors.numpy.save(arrays))
