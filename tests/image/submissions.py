"""A class for the image: both bases, right and wrong variants of both assignments, and one that attacks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from grader.home import ROOT
from tests.a2 import patches as c
from tests.a2.patches import load, write
from tests.hostile.attacks import load as attacks
from tests.hostile.attacks import write_c
from tests.hw2 import patches as python

REFERENCE, TEMPLATE, HOSTILE = "reference", "template", "hostile"
BASES = {REFERENCE: ROOT / "reference", TEMPLATE: ROOT / "student_template"}
BROKEN = {"no-c": "int gelu_backward(;\n", "endless": "\nvoid gelu_backward(void) {\n"}
Entry = TypeVar("Entry")
# what an attack in the image looks for: the names that stand in the fragments
IN_THE_IMAGE = {"MARK": "tgmark", "PORT": "9", "ROOT": "/opt/tensorgrade", "GRADE": "/opt/tensorgrade/.venv"}


def spread(entries: Sequence[Entry], number: int) -> list[Entry]:
    """So many of them, evenly."""
    return [entries[i * len(entries) // number] for i in range(number)]


def bases(folder: Path) -> None:
    """The reference and the template of A2."""
    for name, base in BASES.items():
        write(folder / name, (base / "A2" / c.SOURCE).read_bytes())


def a2(folder: Path, right: int, wrong: int) -> list[str]:
    """Submissions of A2 in a folder for each: both bases, variants, and two that are no C; returns their names."""
    bases(folder)
    variants = [v for v in load(c.HERE / "variants.yaml", c.Variant) if not (v.slow or v.flags)]
    mistakes = load(c.HERE / "mistakes.yaml", c.Mistake)
    for variant in spread(variants, right):
        write(folder / variant.name, variant.source(c.SOLVED))
    for mistake in spread(mistakes, wrong):
        write(folder / mistake.name, mistake.source(c.SOLVED))
    for name, text in BROKEN.items():
        write(folder / name, (BASES[REFERENCE] / "A2" / c.SOURCE).read_text("utf-8") + text)
    return sorted(path.name for path in folder.iterdir())


def hw2(folder: Path, wrong: int) -> list[str]:
    """Submissions of HW2: both bases and mistakes; returns their names."""
    for name, base in BASES.items():
        for file in python.FILES:
            target = folder / name / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((base / "HW2" / file).read_bytes())
    for one in spread(load(python.HERE / "mistakes.yaml", python.Mistake), wrong):
        one.write(folder, python.SOLVED)
    return sorted(path.name for path in folder.iterdir())


def hostile(folder: Path) -> Path:
    """Right code that spoils its own answer where it sees the judge's side, another submission or a secret."""
    attack = next(one for one in attacks("c.yaml") if one.name == "looks-around")
    others = {"HOME": "/scratch", "OTHER": f"/submissions/{REFERENCE}"}
    return write_c(attack, "right", folder / HOSTILE, {**IN_THE_IMAGE, **others})
