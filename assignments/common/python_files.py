"""What the builds of Python files share: whether a file can be used, and what it defines; it is not run for that."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from assignments.common.compiler import UTF_16

MOST_REASON = 1000  # characters


@dataclass
class Build:
    """What the build step hands back, in ``build.json``."""

    ok: bool = True
    messages: str = ""
    unavailable: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def lost(self, part: str, name: str, reason: str) -> None:
        """A file that cannot be used, and why; a line of code in the reason may be as long as the file."""
        reason = reason if len(reason) <= MOST_REASON else reason[:MOST_REASON] + "..."
        self.unavailable[part] = f"{name}{reason}"
        self.problems.append(f"{name}{reason}")


def is_notebook(blob: bytes) -> bool:
    """Whether a file is a notebook, whatever it is called."""
    try:
        content = json.loads(blob)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and "cells" in content


def source_problem(blob: bytes, name: str) -> str:
    """Why Python does not take a source file, with the line; empty if it does."""
    if is_notebook(blob):
        return " is a notebook; export it as a script (jupyter nbconvert --to script)"
    if blob.startswith(UTF_16):
        return " is UTF-16, which some editors call Unicode; save it as UTF-8"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(blob, name, "exec", dont_inherit=True)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        text = f": {error.text.strip()}" if error.text else ""
        return f"{line}: {type(error).__name__}: {error.msg}{text}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f": {type(error).__name__}: {error}"
    return ""


def defined(body: list[ast.stmt]) -> Iterator[str]:
    """The names that a module has: those of its own level, also under an ``if``, a ``try`` or a ``with``."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            yield from (name.id for name in ast.walk(node) if isinstance(name, ast.Name))
        for inner in ("body", "orelse", "finalbody"):
            yield from defined(getattr(node, inner, []))
        for handler in getattr(node, "handlers", []):
            yield from defined(handler.body)
