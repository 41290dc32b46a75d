"""The project's own tests fail on wrong code; its scripts and its corpus are in order."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
AUTODIFF, RUN = "minitorch/autodiff.py", "project/run_sentiment.py"

MUTANTS = [
    ("autodiff", AUTODIFF, "finished[::-1]", "finished"),
    ("autodiff", AUTODIFF, "derivatives[parent.unique_id] = d_parent if known is None else known + d_parent",
     "derivatives[parent.unique_id] = d_parent"),
    ("linear", RUN, "RParam(in_size, out_size)", "minitorch.Parameter(minitorch.zeros((in_size, out_size)))"),
    ("linear", RUN, ".view(batch, self.out_size) + bias", ".view(batch, self.out_size)"),
    ("network", RUN, "self.linear1.forward(mean).relu()", "self.linear1.forward(mean)"),
    ("network", RUN, "embeddings.mean(dim=1)", "embeddings.sum(dim=1)"),
    ("network", RUN, ".sigmoid().view(batch)", ".view(batch)"),
    ("training", RUN, "return -log_likelihood.mean()", "return -log_likelihood.sum()"),
    ("training", RUN, "                optim.step()\n", ""),
    ("training", RUN, "                loss.backward()\n", ""),
]  # fmt: skip


def run_tests(folder: Path, keyword: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", keyword, "tests"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_the_reference_passes_the_projects_tests(project: Path) -> None:
    result = run_tests(project, "")
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(("keyword", "file", "right", "wrong"), MUTANTS, ids=range(len(MUTANTS)))
def test_wrong_code_fails_the_projects_tests(
    project: Path, tmp_path: Path, keyword: str, file: str, right: str, wrong: str
) -> None:
    folder = tmp_path / "wrong"
    shutil.copytree(project, folder, ignore=shutil.ignore_patterns("__pycache__"))
    text = (folder / file).read_text()
    assert text.count(right) == 1
    (folder / file).write_text(text.replace(right, wrong))
    assert run_tests(folder, keyword).returncode == 1


def test_the_import_needs_numpy_alone(project: Path) -> None:
    code = (
        "import sys; import minitorch, project.run_sentiment;"
        "loaded = {m.split('.')[0] for m in sys.modules};"
        "print(sorted(loaded & {'torch', 'datasets', 'embeddings', 'numba', 'hypothesis', 'pycuda'}))"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr


def test_the_kernels_compile(project: Path, tmp_path: Path) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("no nvcc")
    other = tmp_path / "hw1"
    shutil.copytree(project / "src", other / "src")
    command = [sys.executable, "migrate_kernel.py", "--hw1-dir", str(other), "--hw2-dir", str(tmp_path)]
    result = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "minitorch" / "cuda_kernels" / "combine.so").is_file()


def test_missing_kernels_are_named(project: Path, tmp_path: Path) -> None:
    command = [sys.executable, "migrate_kernel.py", "--hw1-dir", str(tmp_path), "--hw2-dir", str(tmp_path)]
    result = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert result.returncode == 1
    assert "combine.cu does not exist" in result.stderr


CORPUS = ROOT / "fixtures" / "HW2" / "corpus"


def test_the_corpus_is_what_its_code_writes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(ROOT / "reference/HW2/corpus.py"), str(tmp_path)], check=True)
    for file in CORPUS.iterdir():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes(), file.name


def test_the_corpus_is_balanced_small_and_without_repetition() -> None:
    seen: set[str] = set()
    longest = {}
    for name, count in {"train": 450, "validation": 100, "heldout": 200}.items():
        header, *rows = (CORPUS / f"{name}.tsv").read_text().splitlines()
        assert header == "sentence\tlabel"
        sentences, labels = zip(*(row.split("\t") for row in rows), strict=True)
        assert len(rows) == count == 2 * labels.count("1")
        assert not seen & set(sentences)
        seen |= set(sentences)
        longest[name] = max(len(sentence.split()) for sentence in sentences)
    assert len(seen) == 750
    assert longest["heldout"] <= longest["train"] == 36
    words = (CORPUS / "words.txt").read_text().split()
    assert np.load(CORPUS / "vectors.npy").shape == (len(words), 50)
    assert len(set(words)) == len(words)
    assert sum(file.stat().st_size for file in CORPUS.iterdir()) < 400_000
