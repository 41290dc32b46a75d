"""Changes to the template's CUDA kernels, as ``reference/HW2/kernels.yaml`` holds them; its head explains the keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from grader.home import ROOT
from grader.known.c import Patch
from grader.known.entries import NAME, Entry, folder, load

FILE = folder("HW2") / "kernels.yaml"
SOURCE = ROOT / "student_template" / "HW2" / "src" / "combine.cu"  # students bring theirs; ours is complete


class Kernels(Entry):
    """An entry."""

    name: str = Field(pattern=NAME)
    kernels: list[str] = Field(default=[])
    kind: str = ""
    says: str = ""
    base: str = ""
    slow: bool = False
    patches: list[Patch] = Field(min_length=1)

    def apply(self, text: str, others: Mapping[str, Kernels]) -> str:
        """The file with the change made, and that of the entry that it is a change to.

        Raises:
            ValueError: what is to be replaced does not stand there exactly once.
        """
        if self.base:
            text = others[self.base].apply(text, others)
        for patch in self.patches:
            text = patch.apply(text)
        return text


def known() -> dict[str, Kernels]:
    """All entries by name."""
    return {entry.name: entry for entry in load(FILE, Kernels)}


def source(entries: Sequence[Kernels], others: Mapping[str, Kernels]) -> str:
    """The template's file with all of these changes, which must not touch the same lines."""
    text = SOURCE.read_text(encoding="utf-8")
    for entry in entries:
        text = entry.apply(text, others)
    return text
