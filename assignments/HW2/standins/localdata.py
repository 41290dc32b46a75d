"""Where the stand-ins find their data; the training run says so, and elsewhere there is none."""

from __future__ import annotations

FILES: dict[str, str] = {}
"""``train`` and ``validation`` (TSV: sentence, label), ``words`` (a word a line), ``vectors`` (an .npy, a row each)."""


def path(name: str) -> str:
    """The file of that name.

    Raises:
        RuntimeError: there is no data in this check.
    """
    if name not in FILES:
        raise RuntimeError("there is no data here: data is loaded in the main block, under `if __name__ == ...`")
    return FILES[name]
