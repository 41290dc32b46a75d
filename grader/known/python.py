"""Changes to a reference in Python, as its ``mistakes.yaml`` and ``variants.yaml`` hold them."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from grader.known.entries import NAME, Entry

Texts = Mapping[str, str]  # the solved files, by the assignment's paths


class Patch(BaseModel):
    """One text for another; it stands exactly once in one of the files."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    replace: str = Field(min_length=1)
    by: str


class Variant(Entry):
    """A change to the reference.

    Attributes:
        name: the test's id.
        what: what it is, in a sentence.
        define: functions and methods that are written anew, by qualified name.
        patches: texts that are replaced.
        head: lines put before the last file's first import, behind ``from __future__``.
        slow: left to the slow tests, since a like one is among the quick.
    """

    name: str = Field(pattern=NAME)
    what: str
    define: dict[str, str] = Field(default={})
    patches: list[Patch] = Field(default=[])
    head: str = ""
    slow: bool = False

    def files(self, solved: Texts) -> dict[str, str]:
        """The solved files with the change made.

        Raises:
            ValueError: a text or a definition is not there exactly once.
        """
        texts = dict(solved)
        for qualified, source in self.define.items():
            name = next(n for n in texts if _span(texts[n], qualified))
            texts[name] = _redefined(texts[name], qualified, source)
        for patch in self.patches:
            holders = [name for name in texts if patch.replace in texts[name]]
            if sum(text.count(patch.replace) for text in texts.values()) != 1:
                raise ValueError(f"{self.name}: does not stand exactly once: {patch.replace!r}")
            texts[holders[0]] = texts[holders[0]].replace(patch.replace, patch.by)
        future = "from __future__ import annotations\n"
        last = list(texts)[-1]
        texts[last] = texts[last].replace(future, future + self.head, 1)
        return texts

    def write(self, folder: Path, solved: Texts) -> Path:
        """A submission in a folder of its own."""
        target = folder / self.name
        for name, text in self.files(solved).items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_text(text, encoding="utf-8")
        return target


class Mistake(Variant):
    """A variant that is wrong.

    Attributes:
        row: the row that it costs, and no other.
        points: what is left of the row.
        verdict: the row's.
        says: a text that the row's detail, or a check's, holds.
        fault: what the fault dictionary calls it; empty: by its own name, or not at all.
        told: a text that one of its explanations holds, where the dictionary does not know it.
    """

    row: str
    points: int = 0
    verdict: str = "fail"
    says: str = ""
    fault: str = ""
    told: str = ""


class Right(Variant):
    """A variant that is right.

    Attributes:
        advice: the checks that have something to say about it.
        inferred: the rows that are judged by inference.
    """

    advice: list[str] = Field(default=[])
    inferred: list[str] = Field(default=[])


def _span(text: str, qualified: str) -> tuple[int, int, int] | None:
    """First line, last line (from 0, end exclusive) and indentation of a definition."""
    body: list[ast.stmt] = ast.parse(text).body
    found: ast.stmt | None = None
    for part in qualified.split("."):
        kinds = (ast.FunctionDef, ast.ClassDef)
        found = next((n for n in body if isinstance(n, kinds) and n.name == part), None)
        if not isinstance(found, kinds):
            return None
        body = found.body
    assert found is not None
    assert found.end_lineno is not None
    return found.lineno - 1, found.end_lineno, found.col_offset


def _redefined(text: str, qualified: str, source: str) -> str:
    span = _span(text, qualified)
    assert span is not None
    first, last, indent = span
    lines = text.splitlines(keepends=True)
    new = textwrap.indent(textwrap.dedent(source).strip("\n") + "\n", " " * indent)
    return "".join([*lines[:first], new, *lines[last:]])
