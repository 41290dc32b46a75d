"""A CUDA file as tokens: what is a comment, a string or a directive, and what is code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# A raw string ends at its own mark; the others at a quote that no backslash precedes, at the latest with the line.
_TOKEN = re.compile(
    r"""
    (?P<space>\s+|\\\n)
  | (?P<comment>//(?:[^\n\\]|\\.|\\\n)*|/\*.*?(?:\*/|\Z))
  | (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^\s()\\]{0,16})\(.*?(?:\)(?P=mark)"|\Z))
  | (?P<text>(?:u8|[uUL])?(?:"(?:[^"\\\n]|\\.|\\\n)*(?:"|$)|'(?:[^'\\\n]|\\.)+'))
  | (?P<number>\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*)
  | (?P<name>[A-Za-z_$]\w*)
  | (?P<sign><<<|::|->|[^\w\s])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_SILENT = ("space", "comment")
_DIRECTIVE = re.compile(r"[ \t]*\#(?:[^\n\\]|\\.|\\\n)*", re.DOTALL)
_INCLUDE = re.compile(r"[ \t]*\#[ \t]*(?:include|import)\b")
OPENING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Token:
    """A token that means something.

    Attributes:
        kind: ``name``, ``number``, ``text``, ``raw`` or ``sign``.
        text: as it is written.
        start: its first character in the file.
        end: the one behind its last.
        directive: the number of the preprocessor's directive that it stands in; 0: in none.
    """

    kind: str
    text: str
    start: int
    end: int
    directive: int = 0


def tokens(source: str) -> list[Token]:
    """The tokens of a file without spaces and comments; an ``#include`` has none."""
    return list(_tokens(source))


def _tokens(source: str) -> Iterator[Token]:
    position, directive, ends, line_starts = 0, 0, 0, True
    while position < len(source):
        if line_starts and (found := _DIRECTIVE.match(source, position)):
            if _INCLUDE.match(source, position):
                position = found.end()
                continue
            directive, ends = directive + 1, found.end()
        match = _TOKEN.match(source, position)
        if match is None:  # a character that no code has
            position += 1
            continue
        kind = str(match.lastgroup if match.lastgroup != "mark" else "raw")
        if kind not in _SILENT:
            yield Token(kind, match[0], position, match.end(), directive if position < ends else 0)
        line_starts = (kind == "space" and "\n" in match[0].replace("\\\n", "")) or (kind in _SILENT and line_starts)
        position = match.end()


def matching(found: Sequence[Token], index: int) -> int:
    """The place of the bracket that closes the one at ``index``; the last token where there is none."""
    depth = 0
    for place in range(index, len(found)):
        depth += (found[place].text in OPENING) - (found[place].text in OPENING.values())
        if depth == 0:
            return place
    return len(found) - 1


def opening(found: Sequence[Token], index: int) -> int:
    """The place of the bracket that the one at ``index`` closes; the first token where there is none."""
    depth = 0
    for place in range(index, -1, -1):
        depth += (found[place].text in OPENING.values()) - (found[place].text in OPENING)
        if depth == 0:
            return place
    return 0


def split(found: Sequence[Token], start: int, end: int) -> list[tuple[int, int]]:
    """The parts between commas outside of all brackets, template arguments among them, as places in the list."""
    parts, depth, begin = [], 0, start
    for place in range(start, end):
        text = found[place].text
        depth += (text in OPENING or text == "<") - (text in OPENING.values() or text == ">")
        if text == "," and depth == 0:
            parts.append((begin, place))
            begin = place + 1
    return [*parts, (begin, end)] if begin < end else parts
