"""Hostile submissions as ``c.yaml`` and ``python.yaml`` hold them; the files' heads explain the keys."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from tests.a2.patches import SOURCE, Patch, region
from tests.hw2.patches import FILES
from tests.support import ROOT

HERE = Path(__file__).resolve().parent
BASES = {"right": ROOT / "reference", "wrong": ROOT / "student_template"}

Base = Literal["right", "wrong"]
Verdict = Literal["pass", "fail", "not_implemented", "crashed", "timed_out", "blocked"]


class Strict(BaseModel):
    """Base of what the YAML files hold: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Outcome(Strict):
    """What must come of an attack.

    Attributes:
        lost: the rows without their points; none: all are kept.
        verdict: of the rows that are lost.
        says: texts that the result holds, in the rows' details, the problems or the advice.
        shows: texts that the terminal's report holds.
        hides: texts that it must not hold.
        quick: graded by default; the others are left to the slow tests.
    """

    lost: list[str] = []
    verdict: Verdict | None = None
    says: list[str] = []
    shows: list[str] = []
    hides: list[str] = []
    quick: bool = False


class Attack(Strict):
    """A hostile submission, laid over a right solution or in the place of one.

    Attributes:
        name: the test's id.
        row: which row of the list of what submissions try it belongs to, from 1.
        what: what it does, in a sentence.
        only: the rows that are graded.
        front: text before the file's first line (Python: behind the last import of the file's head).
        file: a fragment in a file of this folder's; stands where ``front`` does.
        tail: text behind the file's last line.
        inside: statements that begin a function, by its name.
        patches: texts that are replaced.
        where: Python: the file that front and tail are for.
        options: further options of the command.
        extra: files that lie beside, each of which ends whatever takes it in.
        short: graded under short limits, since it runs until one strikes.
        open_to: walls that do not keep it from what it looks for: there it is not tried.
        over: over which bases it is laid, and what must come of it.
    """

    name: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    row: int = Field(ge=1, le=19)
    what: str
    only: list[str] = Field(min_length=1)
    front: str = ""
    file: str = ""
    tail: str = ""
    inside: dict[str, str] = {}
    patches: list[Patch] = []
    where: Literal["autodiff", "sentiment"] = "autodiff"
    options: list[str] = []
    extra: list[str] = []
    short: bool = False
    open_to: list[str] = []
    over: dict[Base, Outcome] = Field(min_length=1)

    def fragment(self) -> str:
        """What stands in front."""
        return self.front + ((HERE / self.file).read_text(encoding="utf-8") if self.file else "")


def load(name: str) -> list[Attack]:
    """The attacks of a file, their names all different."""
    attacks = [Attack.model_validate(entry) for entry in yaml.safe_load((HERE / name).read_bytes())]
    names = [attack.name for attack in attacks]
    assert len(names) == len(set(names)), sorted(n for n in names if names.count(n) > 1)
    return attacks


DEADLY = {".c": "#error taken in\n", ".h": "#error taken in\n", ".py": "import os\n\nos._exit(0)\n"}
DEADLY_ELSE = "import os; os._exit(0)\n: [{\n"


def write_extra(attack: Attack, folder: Path) -> None:
    """The files that lie beside the submission's own."""
    for name in attack.extra:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(DEADLY.get(Path(name).suffix, DEADLY_ELSE), encoding="utf-8")


# -- C ------------------------------------------------------------------------------------------------


def write_c(attack: Attack, base: Base, folder: Path, known: dict[str, str]) -> Path:
    """A folder with ``train_gpt2.c``; ``known`` are the values of the names between ``@``."""
    text = (BASES[base] / "A2" / SOURCE).read_text(encoding="utf-8")
    for patch in attack.patches:
        text = patch.apply(text)
    for function, statement in attack.inside.items():
        start, _ = region(text, function)
        begin = text.index("\n", text.index(f"// TODO (A2): {function}", start)) + 1
        text = f"{text[:begin]}    {statement}\n{text[begin:]}"
    folder.mkdir(parents=True)
    (folder / SOURCE).write_text(filled(attack.fragment() + text + attack.tail, known), encoding="utf-8")
    write_extra(attack, folder)
    return folder


def filled(text: str, known: dict[str, str]) -> str:
    """The text with each ``@NAME@`` replaced by what is known of this run."""
    for name, value in known.items():
        text = text.replace(f"@{name}@", value)
    return text


# -- Python -------------------------------------------------------------------------------------------


def write_python(attack: Attack, base: Base, folder: Path, known: dict[str, str]) -> Path:
    """A folder with the two files."""
    texts = {name: (BASES[base] / "HW2" / name).read_text(encoding="utf-8") for name in FILES}
    target = FILES[0] if attack.where == "autodiff" else FILES[1]
    for function, statement in attack.inside.items():
        name = next(n for n in FILES if _body(texts[n], function))
        texts[name] = _begun(texts[name], function, statement)
    for patch in attack.patches:
        texts[target] = patch.apply(texts[target])
    texts[target] = _with_front(texts[target], attack.fragment()) + attack.tail
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(filled(text, known), encoding="utf-8")
    write_extra(attack, folder)
    return folder


def _body(text: str, qualified: str) -> tuple[int, int] | None:
    """The first line (from 0) of a function's body behind its docstring, and the indentation."""
    body: list[ast.stmt] = ast.parse(text).body
    for part in qualified.split("."):
        found = next((n for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == part), None)
        if found is None:
            return None
        body = found.body
    first = body[1] if isinstance(body[0], ast.Expr) and len(body) > 1 else body[0]
    return first.lineno - 1, first.col_offset


def _begun(text: str, qualified: str, statement: str) -> str:
    """The text with a statement before a function's first."""
    place = _body(text, qualified)
    assert place is not None
    lines = text.splitlines(keepends=True)
    new = "".join(f"{' ' * place[1]}{line}\n" for line in statement.strip("\n").splitlines())
    return "".join([*lines[: place[0]], new, *lines[place[0] :]])


def _with_front(text: str, front: str) -> str:
    """The text with ``front`` behind ``from __future__ import annotations``."""
    if not front:
        return text
    future = "from __future__ import annotations\n"
    assert text.count(future) == 1
    return text.replace(future, future + front)
