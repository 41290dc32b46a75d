"""Whose a file is, by the name that a course site's download gives it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from hashlib import sha256

LONGEST_KEY = 60
# lastfirst_LATE_<user>_<attachment>_<file>; a second version of a file gets `-1` behind its stem.
_CANVAS = re.compile(r"(?P<who>[^_]+)_(?:(?P<late>LATE)_)?(?P<user>\d+)_(?P<attachment>\d+)_(?P<file>.+)", re.DOTALL)
# What was typed in, or a link: a page without a number of its own.
_TYPED = re.compile(r"(?P<who>[^_]+)_(?:(?P<late>LATE)_)?(?P<user>\d+)_(?P<file>(?:text|link)\.html)")
_VERSION = re.compile(r"(?P<stem>.+)-(?P<version>\d{1,3})(?P<ending>(?:\.[A-Za-z0-9]+)*)", re.DOTALL)


@dataclass(frozen=True)
class CanvasName:
    """What Canvas says in the name of a file of its bulk download.

    Attributes:
        who: the sortable name, letters alone, in lower case.
        late: whether it is marked as late.
        user: Canvas's number of the student.
        attachment: Canvas's number of the file; a later upload has a higher one.
        file: the name that the student gave, without the version.
        version: 0, or the number that Canvas put behind the name of a further version.
    """

    who: str
    late: bool
    user: str
    attachment: int
    file: str
    version: int


def canvas(name: str) -> CanvasName | None:
    """The parts of a name as Canvas makes it; None for another one."""
    found = _CANVAS.fullmatch(name)
    if found is None:
        typed = _TYPED.fullmatch(name)
        return typed and CanvasName(typed["who"], typed["late"] is not None, typed["user"], 0, typed["file"], 0)
    file, version = found["file"], 0
    if numbered := _VERSION.fullmatch(file):
        file, version = numbered["stem"] + numbered["ending"], int(numbered["version"])
    return CanvasName(found["who"], found["late"] is not None, found["user"], int(found["attachment"]), file, version)


def is_plain(name: str) -> bool:
    """Whether it names something that lies in a folder itself, and nothing above, below or elsewhere."""
    return name not in ("", ".", "..") and not set(name) & set("/\\\0")


def key(text: str) -> str:
    """A name for a folder, the same for the same text, different for different ones.

    Letters, digits, ``.``, ``_``, ``-`` and ``@`` are kept; where something else had to go, or the name is long,
    eight hexadecimal digits of its hash stand behind.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    kept = re.sub(r"[^A-Za-z0-9._@-]+", "-", plain).strip("-.")[:LONGEST_KEY]
    if kept and kept == text:
        return kept
    return f"{kept or 'student'}-{sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def letters(name: str) -> str:
    """A name as Canvas writes it into file names: its letters and digits in lower case."""
    return "".join(c for c in name.casefold() if c.isalnum())


def stem(name: str) -> str:
    """A file's name without the endings of an archive or source."""
    for ending in (".tar.gz", ".tar.zst", ".tar.xz", ".tar.bz2", ".tgz", ".zip", ".tar", ".c", ".py"):
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return name
