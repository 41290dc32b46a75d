"""What the builds of compiled languages share: their report, a source file's text, a compiler run within bounds."""

from __future__ import annotations

import codecs
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO

UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
FLAGS = ("-fdiagnostics-color=never", "-fmax-errors=50")  # more errors tell nothing
MOST_MESSAGES = 64 << 10  # bytes kept of what the compiler says
MOST_LINE = 1000  # bytes of one line of it


@dataclass
class Build:
    """What the build step of a compiled language hands back, in ``build.json``."""

    ok: bool = False
    compiler: str = ""
    flags: list[str] = field(default_factory=list)
    messages: str = ""
    unavailable: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_source(path: str) -> str:
    """A file's text: UTF-8, UTF-16 with its mark (some editors call it Unicode), or else Latin-1; no NUL."""
    with open(path, "rb") as file:
        blob = file.read()
    try:
        text = blob.decode("utf-16" if blob.startswith(UTF_16) else "utf-8-sig")
    except UnicodeDecodeError:
        text = blob.decode("latin-1")
    return text.replace("\0", " ")


def run(command: Sequence[str]) -> tuple[bool, str]:
    """Runs a compiler; whether it succeeded, and its messages as far as they are kept."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        messages = _kept(process.stderr)
    return process.returncode == 0, messages


def _kept(stream: IO[bytes]) -> str:
    """The compiler's messages: the first of them, each line cut, and of what comes later the errors alone."""
    kept, room, later, begins = [], MOST_MESSAGES, MOST_MESSAGES // 4, True
    while piece := stream.readline(MOST_LINE):
        line, begins = (piece if begins else b""), piece.endswith(b"\n")
        if room > 0:
            room -= len(line)
        elif b"error: " in line and later > 0:
            later -= len(line)
        else:
            continue
        kept.append(line + b"...\n" if len(line) == MOST_LINE and not line.endswith(b"\n") else line)
    return b"".join(kept).decode("utf-8", "replace")
