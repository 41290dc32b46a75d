"""The data of the training run: the stand-ins' side and the judge's are the same, and real data can be imported."""

from __future__ import annotations

import importlib
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assignments.HW2 import data
from grader import assignment as assignments
from grader import fixture_build, fixtures, tensorfile, training
from grader.errors import UsageError
from grader.options import Options
from tests.support import ROOT

CORPUS = ROOT / "fixtures" / "HW2" / "corpus"
STANDINS = ROOT / "assignments" / "HW2" / "standins"
FILES = {"train": "train.tsv", "validation": "validation.tsv", "words": "words.txt", "vectors": "vectors.npy"}


@pytest.fixture
def standins(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A function that imports a stand-in, over the embedded corpus."""
    monkeypatch.syspath_prepend(str(STANDINS))
    names = ("localdata", "datasets", "embeddings")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    importlib.import_module("localdata").FILES.update({k: str(CORPUS / name) for k, name in FILES.items()})
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)


def test_the_judge_sees_the_sentences_that_the_program_sees(standins: Any) -> None:
    splits = standins("datasets").load_dataset("nyu-mll/glue", "sst2")
    glove = standins("embeddings").GloveEmbedding("wikipedia_gigaword", d_emb=50, show_progress=True)
    longest = max(len(s.split()) for split in splits.values() for s in split["sentence"])
    means = []
    for sentence in splits["validation"]["sentence"][:100]:
        rows = [glove.emb(word) for word in sentence.split() if word in glove]
        means.append(np.sum(rows, 0) / longest)
    known = data.known(CORPUS)
    assert np.allclose(means, known["x_validation"], atol=1e-6)
    assert splits["train"]["label"][:450] == known["y_train"].astype(int).tolist()
    assert len(known["y_heldout"]) == 200


def test_splits_are_read_in_all_the_usual_ways(standins: Any) -> None:
    load = standins("datasets").load_dataset
    train = load("glue", "sst2", split="train")
    assert len(train) == 450
    assert len(load("glue", "sst2", split="train[:7]")) == 7
    assert train[3]["sentence"] == train["sentence"][3]
    assert train[2:4]["label"] == train["label"][2:4]
    assert [row["idx"] for row in train.select([5, 1])] == [5, 1]


def sst2(folder: Path) -> tuple[Path, Path]:
    """A folder like GLUE's SST-2 and a file like GloVe's, of the embedded corpus."""
    (folder / "train.tsv").write_bytes((CORPUS / "train.tsv").read_bytes())
    rest = (CORPUS / "heldout.tsv").read_text("utf-8").splitlines()[1:]
    (folder / "dev.tsv").write_text((CORPUS / "validation.tsv").read_text("utf-8") + "\n".join(rest) + "\n", "utf-8")
    vectors = np.load(CORPUS / "vectors.npy")
    words = (CORPUS / "words.txt").read_text("utf-8").splitlines()
    lines = [" ".join([word, *map(str, row)]) for word, row in zip(words, vectors, strict=True)]
    (folder / "glove.txt").write_text("\n".join(lines) + "\n", "utf-8")
    return folder, folder / "glove.txt"


def test_imported_data_takes_the_place_of_the_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADE_HOME", str(tmp_path / "home"))
    folder = training.data_folder("HW2")
    assert folder == tmp_path / "home" / "data" / "HW2"
    assert data.take(*sst2(tmp_path), folder).startswith("450 train, 100 validation, 200 heldout")
    options = training.with_training(assignments.load("HW2"), Options(), True, False, lambda text: None)
    case = options.replaced["accuracy"]
    case.check_inputs()
    right = data.known(CORPUS)
    assert all(np.allclose(case.expected[name], right[name], atol=1e-6) for name in right)
    assert options.changed_checks["accuracy"].options["data"] == "SST-2"
    assert Path(options.probe_options["accuracy"]["train"]) == folder / "train.tsv"
    assert "heldout" not in " ".join(options.probe_options["accuracy"].values())


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("train.tsv", "sentence\tlabel\nonly one\t1\n", "too few"),
        ("train.tsv", "sentence\tlabel\n" + "no label\n" * 500, "not SST-2"),
        ("train.tsv", "sentence\tlabel\n" + "five\t5\n" * 500, "neither 0 nor 1"),
        ("glove.txt", "the 1 2 3\n", "50-dimensional"),
    ],
)
def test_what_is_no_such_data_is_refused(name: str, content: str, says: str, tmp_path: Path) -> None:
    folder, glove = sst2(tmp_path)
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(UsageError, match=says):
        data.take(folder, glove, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_data_is_fetched_and_taken(standins: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, glove = sst2(tmp_path)
    packed = tmp_path / "glove.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(glove, data.GLOVE_MEMBER)
    files = importlib.import_module("localdata").FILES
    files["validation"] = str(folder / "dev.tsv")  # the stand-in is asked in the package's place
    monkeypatch.setattr(data, "GLOVE_URL", packed.as_uri())
    said: list[str] = []
    assert data.fetch(tmp_path / "home", said.append).startswith("450 train, 100 validation, 200 heldout")
    assert len(said) == 2


def test_what_cannot_be_fetched_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UsageError, match="needs the package datasets"):
        data.fetch(tmp_path, lambda text: None)


def test_the_committed_fixtures_are_what_the_oracle_says() -> None:
    assert fixture_build.verify("HW2", fixtures.set_folder("HW2", "public"), None) == []


def test_nothing_held_out_is_given_to_the_sandbox() -> None:
    files = assignments.load("HW2").checks["accuracy"].files
    assert not [path for path in files.values() if "heldout" in path]
    inputs = fixtures.set_folder("HW2", "public") / "inputs" / "accuracy" / "corpus.safetensors"
    assert list(tensorfile.read(inputs)) == ["nothing"]
