"""Patches on the reference's functions, as ``mistakes.yaml`` and ``variants.yaml`` hold them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field

from tests.support import ROOT

HERE = Path(__file__).resolve().parent
REFERENCE = ROOT / "reference" / "A2" / "train_gpt2.c"
SOURCE = "train_gpt2.c"
DEFINITION = r"^(?:[a-zA-Z][^\n;{{}}]*\b{name}\([^;{{}}]*\{{.*?^\}}\n|typedef struct \{{[^}}]*\}} {name};\n)"
NAME = r"^[a-z0-9]+(-[a-z0-9]+)*$"

Row = Literal[
    "zero_grad",
    "encoder_backward",
    "layernorm_backward",
    "matmul_backward",
    "attention_backward",
    "gelu_residual_backward",
    "crossentropy_softmax_backward",
    "gpt2_backward",
    "adamw",
]


class Strict(BaseModel):
    """Base of what the YAML files hold: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Patch(Strict):
    """One text for another, inside the function or struct that ``within`` names, or anywhere in the file."""

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


class Mistake(Strict):
    """An entry of ``mistakes.yaml``; the file's head explains the keys."""

    name: str = Field(pattern=NAME)
    row: Row
    function: str
    mistake: str
    replace: str | None = None
    by: str | None = None
    patches: list[Patch] = []
    official: Literal["passes", "fails"]
    verdict: Literal["fail", "crashed", "timed_out", "not_implemented"] = "fail"
    wrong: list[str] = []
    serial: Literal["right", "wrong"] = "wrong"
    slow: bool = False

    def source(self) -> str:
        """The reference with the mistake in it."""
        text = REFERENCE.read_text(encoding="utf-8")
        for patch in self._all_patches():
            text = patch.model_copy(update={"within": self.function}).apply(text)
        return text

    def _all_patches(self) -> list[Patch]:
        if self.patches:
            return self.patches
        if self.replace is None or self.by is None:
            raise ValueError(f"{self.name} changes nothing")
        return [Patch(replace=self.replace, by=self.by)]


class Variant(Strict):
    """An entry of ``variants/variants.yaml``; the file's head explains the keys."""

    name: str = Field(pattern=NAME)
    what: str
    slow: bool = False
    bodies: dict[str, str] = {}
    before: dict[str, str] = {}
    patches: list[Patch] = []
    flags: str = ""

    def source(self) -> str:
        """The reference, written otherwise."""
        text = REFERENCE.read_text(encoding="utf-8")
        for function, body in self.bodies.items():
            text = _with_body(text, function, body)
        for patch in self.patches:
            text = patch.apply(text)
        for function, front in self.before.items():
            start, _ = region(text, function)
            text = text[:start] + front + text[start:]
        return text


Entry = TypeVar("Entry", Mistake, Variant)


def load(path: Path, kind: type[Entry]) -> list[Entry]:
    """The entries of a file, their names all different."""
    entries = [kind.model_validate(entry) for entry in yaml.safe_load(path.read_bytes())]
    names = [entry.name for entry in entries]
    assert len(names) == len(set(names)), sorted(name for name in names if names.count(name) > 1)
    return entries


def region(text: str, function: str | None) -> tuple[int, int]:
    """Where the definition of a function, or of a struct, begins and ends; none: the whole file."""
    if not function:
        return 0, len(text)
    found = re.findall(DEFINITION.format(name=function), text, re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f"{function} is defined {len(found)} times in the reference"
    start = text.index(found[0])
    return start, start + len(found[0])


def _with_body(text: str, function: str, body: str) -> str:
    start, end = region(text, function)
    first = text.index("// BEGIN SOLUTION\n", start, end) + len("// BEGIN SOLUTION\n")
    last = text.rindex("    // END SOLUTION", start, end)
    return text[:first] + body + text[last:]


def write(folder: Path, source: str | bytes) -> Path:
    """A submission: a folder with this ``train_gpt2.c``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SOURCE).write_bytes(source.encode() if isinstance(source, str) else source)
    return folder
