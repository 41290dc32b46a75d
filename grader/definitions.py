"""A source file by its definitions: what of it has changed, and what uses what.

C is split by its braces and Python by its syntax tree; comments and spaces count for nothing. What cannot be
split is said to be unclear, and is never guessed at.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

REST = ""  # what stands outside of all definitions
Pieces = dict[str, str]  # the text of each definition, by its name, and the `REST`

_C_TOKEN = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
_PIECE = re.compile(  # directives as they stand, then strings, names, numbers, operators
    _DIRECTIVE.pattern
    + r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*"""
    + r"""|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||\S""",
    re.MULTILINE | re.DOTALL,
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_NO_NAMES = {"__attribute__", "__declspec", "if", "for", "while", "switch", "return", "sizeof"}


def pieces(file: str, text: str) -> Pieces | None:
    """The definitions of a file; None where it cannot be split."""
    return _of_python(text) if file.endswith(".py") else _of_c(text)


def _of_python(text: str) -> Pieces | None:
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: Pieces = {REST: ""}
    for node in body:
        named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        name = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and named else REST
        found[name] = found.get(name, "") + ast.dump(node) + "\n"
    return found


def _of_c(text: str) -> Pieces | None:
    code = _C_TOKEN.sub(lambda match: match[0] if match[0][0] in "\"'" else " ", text.replace("\r\n", "\n"))
    # as long as the code, without braces that are none: those in strings and in directives
    bare = _blank(_DIRECTIVE, _blank(_C_TOKEN, code))
    found: Pieces = {REST: ""}
    depth = start = begun = 0
    for place, character in enumerate(bare):
        if character == "{":
            begun = place if depth == 0 else begun
            depth += 1
        elif character == "}":
            depth -= 1
            if depth < 0:
                return None
        ends = depth == 0 and character in ";}"
        if ends:
            name = _defined(bare[start:begun]) if character == "}" else REST
            found[name] = found.get(name, "") + _tokens(code[start : place + 1])
            start = begun = place + 1
    found[REST] += _tokens(code[start:])
    return found if depth == 0 else None


def _blank(pattern: re.Pattern[str], code: str) -> str:
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), code)


def _tokens(code: str) -> str:
    """The code by its tokens, whatever stands between them."""
    return " ".join(_PIECE.findall(code)) + "\n"


def _defined(head: str) -> str:
    """The name of the function whose body comes after this; the rest's where it is none."""
    if not head.rstrip().endswith(")"):
        return REST
    for match in re.finditer(r"([A-Za-z_]\w*)\s*\(", head):
        if match[1] not in _NO_NAMES and head.count("(", 0, match.start()) == head.count(")", 0, match.start()):
            return match[1]
    return REST


def changed(before: Pieces | None, after: Pieces | None) -> set[str] | None:
    """The names whose definitions differ; None where that is unclear: another set of names, or other text outside."""
    if before is None or after is None or before.keys() != after.keys() or before[REST] != after[REST]:
        return None
    return {name for name in after if before[name] != after[name]}


def reach(starts: set[str], known: Mapping[str, str], without: set[str]) -> set[str]:
    """The definitions that some use, themselves among them, directly or through others; ``without`` is not followed."""
    found: set[str] = set()
    waiting = [name for name in starts if name in known]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            used = set(_WORD.findall(known[name])) & (known.keys() - without - {REST})
            waiting += used
    return found
