"""What of the machine every box sees: the system's programs and libraries, without the packages of its Pythons."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives")
# where Pythons keep what was installed for them: torch may lie there, and differentiate in the submission's place
PACKAGES = (
    "lib/python*/site-packages",
    "lib/python*/dist-packages",
    "lib64/python*/site-packages",
    "local/lib/python*/dist-packages",
    "local/lib/python*/site-packages",
)
LIBRARYS_MARK = "os.py"  # as Python itself finds its library


def interpreters() -> list[Path]:
    """Where this Python's standard library lies; under /usr it is there already."""
    return [Path(sys.base_prefix)]


@cache
def packages() -> tuple[Path, ...]:
    """The folders of Pythons' packages in what every box sees."""
    places = dict.fromkeys([Path("/usr"), *interpreters()])
    return tuple(found for place in places for pattern in PACKAGES for found in sorted(place.glob(pattern)))


def inside(left_out: Iterable[Path], shown: Sequence[Path]) -> list[Path]:
    """The folders to leave out that lie inside of what is shown; any other is out of sight as it is."""
    found = [path for path in left_out if any(path.is_relative_to(folder) for folder in shown)]
    return list(dict.fromkeys(found))


@cache
def without(folders: tuple[Path, ...], left_out: tuple[Path, ...]) -> tuple[list[Path], list[Path]]:
    """Folders without some that lie inside of them, for a wall that can only add: what is whole, and what is a list.

    Of a list the names of all below are seen, and no more. A Python needs that of its library, and nothing else does.
    """
    whole: list[Path] = []
    lists: list[Path] = []
    waiting = [folder for folder in folders if not any(folder.is_relative_to(path) for path in left_out)]
    while waiting:
        folder = waiting.pop()
        if not any(path.is_relative_to(folder) for path in left_out):
            whole.append(folder)
            continue
        if (folder / LIBRARYS_MARK).exists():
            lists.append(folder)
        waiting += [child for child in folder.iterdir() if child not in left_out]
    return whole, lists
