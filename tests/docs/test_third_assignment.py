"""A third assignment, made from nothing but what docs/instructors.md shows; the grader stays as it is."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from grader.home import cache_folder
from tests.docs.documents import commands, files
from tests.support import LONGEST_S, ROOT

DOCUMENT = ROOT / "docs" / "instructors.md"
ID = "N1"
TAKEN = ("grader", "assignments/common", "reference", "student_template/HW2", "assignments/HW2")
DIVIDES = "(centred**2).mean(axis=-1, keepdims=True)"
ONE_LESS = "(centred**2).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1)"


class Copy:
    """A copy of the repository, with another launcher's home."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "repository"
        self.root.mkdir()
        for name in TAKEN:
            shutil.copytree(ROOT / name, self.root / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("grade", "tolerances.yaml", "assignments/__init__.py"):
            shutil.copy(ROOT / name, self.root / name)

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [str(self.root / "grade"), *map(str, arguments)]
        home = {"GRADE_HOME": str(cache_folder().parent)}
        done = subprocess.run(
            command,
            cwd=self.root,
            env={**os.environ, **home},
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done

    def code(self) -> dict[str, str]:
        """The hashes of the grader's files."""
        found = sorted(p for p in (self.root / "grader").rglob("*") if p.is_file() and "__pycache__" not in p.parts)
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """The repository with the assignment in it, as the document says."""
    pytest.importorskip("torch")
    copy = Copy(tmp_path_factory.mktemp("third"))
    assert not list(copy.root.glob(f"*/{ID}"))
    before = copy.code()
    for name, text in files(DOCUMENT).items():
        path = copy.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():  # lines to be put under `measured:`
            head, found, rest = path.read_text("utf-8").partition("measured:\n")
            assert found
            text = head + found + text + rest
        path.write_text(text, encoding="utf-8")
    for command in commands(DOCUMENT.read_text("utf-8")):
        if ID in command:
            copy.run(*command.split()[1:])
    assert copy.code() == before
    return copy


def graded(copy: Copy, name: str, text: str) -> dict[str, dict[str, object]]:
    """The rows of a submission."""
    folder = copy.root.parent / "class" / name
    folder.mkdir(parents=True)
    (folder / "layers.py").write_text(text, encoding="utf-8")
    copy.run(ID, folder, "-q", "--json", copy.root.parent / f"{name}.json")
    result = json.loads((copy.root.parent / f"{name}.json").read_bytes())
    return {row["id"]: row for row in result["rows"]}


def test_right_wrong_and_empty_ones_and_a_class_of_them(made: Copy) -> None:
    solved = (made.root / "reference" / ID / "layers.py").read_text("utf-8")
    cut = (made.root / "student_template" / ID / "layers.py").read_text("utf-8")
    assert "mean(" not in cut
    assert 'raise NotImplementedError("softmax")' in cut
    assert solved.count(DIVIDES) == 1
    right = graded(made, "ada", solved)
    assert {name: row["points"] for name, row in right.items()} == {"softmax": 40, "layernorm": 60}
    wrong = graded(made, "bob", solved.replace(DIVIDES, ONE_LESS))
    assert {name: row["points"] for name, row in wrong.items()} == {"softmax": 40, "layernorm": 0}
    explained = wrong["layernorm"]["checks"][0]["explanations"][0]  # type: ignore[index]
    assert (explained["fault"], explained["kind"]) == ("layernorm-one-less", "fault")
    assert explained["text"] == "y equals what comes out when the variance is divided by one channel less"
    empty = graded(made, "eve", cut)
    assert {row["verdict"] for row in empty.values()} == {"not_implemented"}
    out = made.root.parent / "out"
    made.run("batch", ID, made.root.parent / "class", "--out", out, "-q")

    kept = {path.parent.name: json.loads(path.read_bytes()) for path in out.glob(f"{ID}/*/result.json")}
    assert {name: result["score"] for name, result in kept.items()} == {"ada": 100, "bob": 40, "eve": 0}
    assert (out / f"{ID}-canvas.csv").is_file()
    replayed = made.run("replay", out / ID / "bob" / "result.json", made.root.parent / "class" / "bob", "-q")
    assert replayed.stdout == f"{ID}: the same result from the same files (score 40, now 40)\n"


@pytest.mark.slow
def test_private_sets_the_mutation_study_and_calibration_work_with_it(made: Copy) -> None:
    secret, fall = made.root.parent / "secret", made.root.parent / "fall"
    secret.write_bytes(b"sixteen bytes, and more")
    made.run("fixtures", "build", ID, "--set", "fall", "--seed-file", secret, "--out", fall)
    path = made.root.parent / "both.json"
    made.run(ID, "--reference", "-q", "--fixtures", fall, "--json", path)
    result = json.loads(path.read_bytes())
    assert [row["decided_by"] for row in result["rows"]] == [["public", "fall"]] * 2
    study = made.root.parent / "study.json"
    how = ("--sample", "12", "--own-row", "-q", "--out", made.root.parent / "journal", "--json", study)
    made.run("mutate", ID, "--fixtures", fall, *how)
    table = json.loads(study.read_bytes())["table"][-1]
    assert table["killed"] >= 9, table
    measured = made.run("calibrate", ID, "-q").stdout
    assert "softmax-over-rows" in measured
    assert "layernorm-one-less" in measured
    assert (
        made.run("package", "gradescope", ID, "--out", made.root.parent / "n1.zip", "--fixtures", fall).returncode == 0
    )
