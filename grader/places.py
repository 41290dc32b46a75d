"""Where a function stands in the student's files, so that an annotation can point at it.

The text is searched, not parsed: whatever a submission holds, this takes time in proportion to its length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from grader.submission import Taken

_C_NOISE = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*|\"(?:\\.|[^\"\\\n])*|'(?:\\.|[^'\\\n])*", re.DOTALL)
_LONGEST_HEAD = 4_000  # characters from a function's name to its body
_MOST_PLACES = 1_000  # where a name is looked at


@dataclass(frozen=True)
class Place:
    """A line of a file, as the submission names that file."""

    file: str
    line: int


def find(taken: Taken, names: str) -> Place | None:
    """Where a function or class is defined; ``Network.forward`` is the method in its class."""
    for wanted, blob in taken.files.items():
        text = blob.decode("utf-8", "replace").replace("\r\n", "\n")
        line = _in_python(text, names.split(".")) if wanted.endswith(".py") else _in_c(text, names)
        if line is not None:
            return Place(taken.paths.get(wanted, wanted), line)
    return None


def _in_c(text: str, name: str) -> int | None:
    """The line of a definition: the name, what stands in parentheses, and a brace."""
    code = _C_NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    found = re.compile(rf"\b{re.escape(name)}\s*\(")
    for count, match in enumerate(found.finditer(code)):
        if count >= _MOST_PLACES:
            break
        if _body_follows(code[match.end() : match.end() + _LONGEST_HEAD]):
            return code.count("\n", 0, match.start()) + 1
    return None


def _body_follows(rest: str) -> bool:
    """Whether a brace comes after the parenthesis that closes the one before ``rest``."""
    depth = 1
    for position, character in enumerate(rest):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return rest[position + 1 :].lstrip().startswith("{")
        if character in ";{}":
            return False
    return False


def _in_python(text: str, names: list[str]) -> int | None:
    """The line of a definition; each further name within the one before it."""
    lines = text.split("\n")
    start, outer = 0, -1
    for name in names:
        found = _definition(lines, start, outer, re.compile(rf"(\s*)(?:class|(?:async\s+)?def)\s+{re.escape(name)}\b"))
        if found is None:
            return None
        start, outer = found
    return start


def _definition(lines: list[str], start: int, outer: int, pattern: re.Pattern[str]) -> tuple[int, int] | None:
    """Line and indentation of a definition that stands deeper than ``outer``, from line ``start`` on."""
    for number in range(start, len(lines)):
        line = lines[number]
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent <= outer and not line.lstrip().startswith(("#", ")")):
            return None
        match = pattern.match(line)
        if match and indent > outer:
            return number + 1, indent
    return None
