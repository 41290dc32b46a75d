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
from tests.support import LONGEST_S, ROOT, Record

DOCUMENT = ROOT / "docs" / "instructors.md"
ID = "N1"
TAKEN = ("grader", "packages", "assignments/common", "reference", "student_template/HW2", "assignments/HW2")
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


def rows(result: Path) -> dict[str, Record]:
    """The rows of a result, by id."""
    return {row["id"]: row for row in json.loads(result.read_bytes())["rows"]}


def test_right_wrong_and_empty_ones_as_a_class(made: Copy) -> None:
    solved = (made.root / "reference" / ID / "layers.py").read_text("utf-8")
    cut = (made.root / "student_template" / ID / "layers.py").read_text("utf-8")
    assert "mean(" not in cut
    assert 'raise NotImplementedError("softmax")' in cut
    assert solved.count(DIVIDES) == 1
    class_of, out = made.root.parent / "class", made.root.parent / "out"
    for name, text in {"ada": solved, "bob": solved.replace(DIVIDES, ONE_LESS), "eve": cut}.items():
        (class_of / name).mkdir(parents=True)
        (class_of / name / "layers.py").write_text(text, encoding="utf-8")
    made.run("batch", ID, class_of, "--out", out, "-q")
    right, wrong, empty = (rows(out / ID / name / "result.json") for name in ("ada", "bob", "eve"))
    assert {name: row["points"] for name, row in right.items()} == {"softmax": 40, "layernorm": 60}
    assert {name: row["points"] for name, row in wrong.items()} == {"softmax": 40, "layernorm": 0}
    assert {name: row["verdict"] for name, row in empty.items()} == dict.fromkeys(right, "not_implemented")
    explained = wrong["layernorm"]["checks"][0]["explanations"][0]
    assert (explained["fault"], explained["kind"]) == ("layernorm-one-less", "fault")
    assert explained["text"] == "y equals what comes out when the variance is divided by one channel less"
    assert (out / f"{ID}-canvas.csv").is_file()
    replayed = made.run("replay", out / ID / "bob" / "result.json", class_of / "bob", "-q")
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
    made.run("package", "gradescope", ID, "--fixtures", fall, "--out", made.root.parent / "n1.zip")
    assert (made.root.parent / "n1.zip").stat().st_size > 100_000
