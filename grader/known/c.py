"""Changes to a reference in C, as ``mistakes.yaml`` and ``variants.yaml`` hold them; their heads explain the keys."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from grader.known.entries import NAME, Entry

DEFINITION = r"^(?:[a-zA-Z_][^\n;{{}}]*\b{name}\([^;{{}}]*\{{.*?^\}}\n|typedef struct \{{[^}}]*\}} {name};\n)"


class Patch(BaseModel):
    """One text for another, inside the function or struct that ``within`` names, or anywhere in the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    replace: str = Field(min_length=1)
    by: str
    within: str | None = None

    def apply(self, text: str) -> str:
        """The text with the patch made.

        Raises:
            ValueError: what is to be replaced does not stand there exactly once.
        """
        start, end = region(text, self.within)
        count = text.count(self.replace, start, end)
        if count != 1:
            raise ValueError(f"stands {count} times in {self.within or 'the file'}: {self.replace}")
        return text[:start] + text[start:end].replace(self.replace, self.by) + text[end:]


class Mistake(Entry):
    """An entry of ``mistakes.yaml``; the file's head explains the keys."""

    name: str = Field(pattern=NAME)
    row: str
    function: str
    mistake: str
    replace: str | None = None
    by: str | None = None
    patches: list[Patch] = Field(default=[])
    official: Literal["passes", "fails"]
    verdict: Literal["fail", "crashed", "timed_out", "not_implemented"] = "fail"
    wrong: list[str] = Field(default=[])
    serial: Literal["right", "wrong"] = "wrong"
    slow: bool = False
    fault: str = ""
    told: str = ""

    def source(self, solved: str) -> str:
        """The solved file with the mistake in it."""
        text = solved
        for patch in self._all_patches():
            text = patch.model_copy(update={"within": self.function}).apply(text)
        return text

    def _all_patches(self) -> list[Patch]:
        if self.patches:
            return self.patches
        if self.replace is None or self.by is None:
            raise ValueError(f"{self.name} changes nothing")
        return [Patch(replace=self.replace, by=self.by)]


class Variant(Entry):
    """An entry of ``variants.yaml``; the file's head explains the keys."""

    name: str = Field(pattern=NAME)
    what: str
    slow: bool = False
    bodies: dict[str, str] = Field(default={})
    before: dict[str, str] = Field(default={})
    patches: list[Patch] = Field(default=[])
    flags: str = ""

    def source(self, solved: str) -> str:
        """The solved file, written otherwise."""
        text = solved
        for function, body in self.bodies.items():
            text = _with_body(text, function, body)
        for patch in self.patches:
            text = patch.apply(text)
        for function, front in self.before.items():
            start, _ = region(text, function)
            text = text[:start] + front + text[start:]
        return text


def region(text: str, function: str | None) -> tuple[int, int]:
    """Where the definition of a function, or of a struct, begins and ends; none: the whole file."""
    if not function:
        return 0, len(text)
    found = re.findall(DEFINITION.format(name=function), text, re.MULTILINE | re.DOTALL)
    if len(found) != 1:
        raise ValueError(f"{function} is defined {len(found)} times in the reference")
    start = text.index(found[0])
    return start, start + len(found[0])


def _with_body(text: str, function: str, body: str) -> str:
    start, end = region(text, function)
    first = text.index("// BEGIN SOLUTION\n", start, end) + len("// BEGIN SOLUTION\n")
    last = text.rindex("    // END SOLUTION", start, end)
    return text[:first] + body + text[last:]
