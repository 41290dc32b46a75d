"""The training run's data as the judge has it, the held-out sentences among it. Never seen by the sandbox."""

from __future__ import annotations

import importlib
import json
import shutil
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from assignments.HW2.probes.sentences import longest, means, read_split, read_vectors
from grader import fixtures, tensorfile
from grader.cases import Array
from grader.errors import UsageError

TRAIN, VALIDATION = 450, 100  # what the course's main block takes of each split
SPLITS = ("train", "validation", "heldout")


def known(folder: Path) -> dict[str, Array]:
    """``x_<split>`` [sentences, dim], the mean embeddings, and ``y_<split>`` of the three splits, float32."""
    vectors = read_vectors(str(folder / "words.txt"), str(folder / "vectors.npy"))
    splits = {name: read_split(str(folder / f"{name}.tsv")) for name in SPLITS}
    length = longest(splits["train"], splits["validation"])
    found: dict[str, Array] = {}
    for name, most in (("train", TRAIN), ("validation", VALIDATION), ("heldout", None)):
        found[f"x_{name}"] = means(splits[name].sentences[:most], vectors, length).astype(np.float32)
        found[f"y_{name}"] = np.array(splits[name].labels[:most], np.float32)
    return found


# ---- importing SST-2 and GloVe -----------------------------------------------------------------------------

DIM = 50
TRAIN_KEPT = 5000  # of SST-2's 67,349: the course takes the first 450
ALTERNATIVES = {"train": ("train.tsv",), "validation": ("validation.tsv", "dev.tsv")}


def take(sst2: Path, glove: Path, folder: Path) -> str:
    """Takes SST-2 (GLUE's TSV files) and GloVe's vectors of its words into a folder; says what was taken.

    The validation rows after the first 100 are kept for the judge alone.

    Raises:
        UsageError: a file is missing, or not of its format.
    """
    train, validation = (_rows(sst2, names) for names in ALTERNATIVES.values())
    if len(train) < TRAIN or len(validation) <= VALIDATION:
        raise UsageError(f"{sst2} holds {len(train)} training and {len(validation)} validation rows; too few")
    splits = {"train": train[:TRAIN_KEPT], "validation": validation[:VALIDATION], "heldout": validation[VALIDATION:]}
    vectors = _vectors(glove, {word for rows in splits.values() for text, _ in rows for word in text.split()})
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for name, rows in splits.items():
        lines = [f"{text}\t{label}" for text, label in rows]
        (fresh / f"{name}.tsv").write_text("\n".join(["sentence\tlabel", *lines, ""]), encoding="utf-8")
    (fresh / "words.txt").write_text("\n".join([*vectors, ""]), encoding="utf-8")
    np.save(fresh / "vectors.npy", np.array(list(vectors.values()), np.float32))
    _write_fixture(fresh)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    counts = ", ".join(f"{len(rows)} {name}" for name, rows in splits.items())
    return f"{counts} sentences, vectors of {len(vectors)} words"


def _rows(folder: Path, names: tuple[str, ...]) -> list[tuple[str, int]]:
    path = next((folder / name for name in names if (folder / name).is_file()), None)
    if path is None:
        raise UsageError(f"there is no {' or '.join(names)} in {folder}")
    try:
        pairs = [line.rsplit("\t", 1) for line in path.read_text("utf-8").splitlines()[1:] if line.strip()]
        rows = [(text.strip(), int(label)) for text, label in pairs]
    except ValueError as error:
        raise UsageError(f"{path} is not SST-2 as GLUE has it: a sentence, a tab, 0 or 1 on each line") from error
    if any(label not in (0, 1) for _, label in rows):
        raise UsageError(f"{path} has labels that are neither 0 nor 1")
    return rows


def _vectors(path: Path, wanted: set[str]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                word, *numbers = line.rstrip().split(" ")
                if word in wanted and len(numbers) == DIM:
                    found[word] = [float(number) for number in numbers]
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read as GloVe's text format: {error}") from error
    if not found:
        raise UsageError(f"{path} holds no word of the sentences with {DIM} numbers; take the 50-dimensional GloVe")
    return found


def _write_fixture(folder: Path) -> None:
    """The judge's part, as a fixture set of one case."""
    fixture = folder / "fixture"
    entry = fixtures.CaseEntry(id="accuracy/sst2", params={"runs": 3, "seed": 1}, inputs="", expected="")
    files = fixtures.FixtureCase(fixture, entry)
    tensorfile.write(files.inputs_path, {"nothing": np.zeros(1, np.float32)})
    tensorfile.write(files.expected_path, known(folder))
    case = {
        "id": entry.id,
        "params": entry.params,
        "inputs": fixtures.sha256(files.inputs_path.read_bytes()),
        "expected": fixtures.sha256(files.expected_path.read_bytes()),
    }
    manifest = {"schema": fixtures.SCHEMA, "assignment": "HW2", "set": "SST-2", "seed": None, "cases": [case]}
    (fixture / fixtures.MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


# ---- fetching them -----------------------------------------------------------------------------------------

GLOVE_URL = "https://nlp.stanford.edu/data/glove.6B.zip"  # 862 MB
GLOVE_MEMBER = "glove.6B.50d.txt"


def fetch(folder: Path, progress: Callable[[str], None]) -> str:
    """Downloads SST-2 (by the package ``datasets``, an optional one) and GloVe, and takes them.

    Raises:
        UsageError: the package is not installed, or a download fails.
    """
    with tempfile.TemporaryDirectory() as work:
        progress("SST-2 from Hugging Face, nyu-mll/glue")
        _fetch_sst2(Path(work))
        progress(f"GloVe from {GLOVE_URL} (862 MB)")
        return take(Path(work), _fetch_glove(Path(work)), folder)


def _fetch_sst2(work: Path) -> None:
    try:
        splits = importlib.import_module("datasets").load_dataset("nyu-mll/glue", "sst2")
    except ModuleNotFoundError as error:
        raise UsageError(
            f"fetching needs the package {error.name}; install it beside the grader's, or use `data import`"
        ) from error
    except Exception as error:  # the package raises errors of many other packages
        raise UsageError(f"SST-2 cannot be fetched: {error}") from error
    for name, most in (("train", TRAIN_KEPT), ("validation", None)):
        sentences, labels = splits[name]["sentence"][:most], splits[name]["label"][:most]
        lines = [f"{text}\t{label}" for text, label in zip(sentences, labels, strict=True)]
        (work / f"{name}.tsv").write_text("\n".join(["sentence\tlabel", *lines, ""]), encoding="utf-8")


def _fetch_glove(work: Path) -> Path:
    try:
        with urllib.request.urlopen(GLOVE_URL, timeout=60) as response, (work / "glove.zip").open("wb") as file:
            shutil.copyfileobj(response, file)
        with zipfile.ZipFile(work / "glove.zip") as archive:
            return Path(archive.extract(GLOVE_MEMBER, work))
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise UsageError(f"{GLOVE_URL} cannot be fetched: {error}") from error
