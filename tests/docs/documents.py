"""What the documents hold: their commands, and the files that they show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.support import ROOT

DOCUMENTS = sorted(
    path
    for pattern in ("README.md", "docs/*.md", "assignments/*/handout.md", "student_template/*/README.md")
    for path in ROOT.glob(pattern)
)
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^\*\*`([^`\n]+)`\*\*\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(\./grade [^`]+)`")
_COMMAND = re.compile(r"(?:^|\s)(\./grade(?: .*)?)$")
SHELL = ("", "sh", "bash", "console")


def files(path: Path) -> dict[str, str]:
    """The files that a document shows: a name in bold, and a block."""
    return dict(_FILE.findall(path.read_text("utf-8")))


def commands(text: str) -> Iterator[str]:
    """The calls of ``./grade`` in a document's blocks, each on one line."""
    for _, kind, block in _BLOCK.findall(text):
        if kind in SHELL:
            for line in block.replace("\\\n", " ").splitlines():
                if found := _COMMAND.search(line.strip()):
                    yield found[1]


def mentions(text: str) -> Iterator[str]:
    """The calls of ``./grade`` in a document's sentences."""
    yield from _INLINE.findall(_BLOCK.sub("", text))
