"""The reference, the template, and submissions that cannot be taken as they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hw2.patches import FILES, SOLVED, Right
from tests.hw2.support import grade_hw2
from tests.support import ROOT, Graded, slow

P1 = {"topological_sort", "backpropagate"}
REST = {
    "linear_init",
    "linear_forward",
    "network_init",
    "network_forward",
    "binary_cross_entropy_loss",
    "training_loop",
    "validation_loop",
}
REFERENCE = Right(name="reference", what="The reference.")


def changed(folder: Path, name: str, change: Callable[[str], str]) -> Path:
    """The reference with one of its files changed."""
    target = REFERENCE.write(folder, SOLVED)
    path = target / name
    path.write_bytes(change(path.read_text("utf-8")).encode("utf-8"))
    return target


def assert_blocked(graded: Graded, rows: set[str], text: str) -> None:
    assert graded.exit == 0
    assert graded.lost == rows, graded.said()
    assert {graded.rows[row]["verdict"] for row in rows} == {"blocked"}
    assert all(text in graded.rows[row]["detail"] for row in rows), graded.said()


def test_the_reference_scores_100() -> None:
    graded = grade_hw2("--reference", training=True)
    assert graded.result["score"] == 100, graded.said()
    assert graded.result["complete"]
    assert graded.result["advice"] == []


def test_the_template_scores_nothing_and_says_why() -> None:
    graded = grade_hw2(ROOT / "student_template" / "HW2", training=True)
    assert graded.result["score"] == 0
    assert set(graded.verdicts.values()) == {"not_implemented"}, graded.said()
    assert set(graded.rows) == {*P1, *REST, "accuracy"}


def test_without_training_its_row_is_left_out_and_the_result_says_so() -> None:
    graded = grade_hw2("--reference")
    assert (graded.result["score"], graded.result["max_score"]) == (90, 90)
    assert not graded.result["complete"]
    assert "accuracy" not in graded.rows


def test_a_syntax_error_is_told_with_its_line(tmp_path: Path) -> None:
    submission = changed(tmp_path, FILES[1], lambda text: text.replace("class Network(", "class Network)(", 1))
    assert_blocked(grade_hw2(submission), REST, "project/run_sentiment.py, line")


def test_a_missing_file_blocks_its_rows_alone(tmp_path: Path) -> None:
    submission = REFERENCE.write(tmp_path, SOLVED)
    (submission / FILES[0]).unlink()
    graded = grade_hw2(submission)
    assert_blocked(graded, P1, "minitorch/autodiff.py is missing")
    assert graded.result["problems"] == ["minitorch/autodiff.py is missing"]


def test_a_notebook_is_told_as_one(tmp_path: Path) -> None:
    submission = changed(tmp_path, FILES[1], lambda text: '{"cells": [], "nbformat": 4}')
    assert_blocked(grade_hw2(submission), REST, "is a notebook")


@pytest.mark.parametrize("package", ["torch", *slow("pandas")])
def test_a_package_that_is_not_there_is_named(package: str, tmp_path: Path) -> None:
    submission = changed(tmp_path, FILES[1], lambda text: text.replace("import random", f"import {package}", 1))
    assert_blocked(grade_hw2(submission), REST, f"No module named '{package}'")


def test_a_file_that_ends_the_program_when_it_is_imported(tmp_path: Path) -> None:
    submission = changed(tmp_path, FILES[0], lambda text: text + "\nimport os\nos._exit(0)\n")
    assert_blocked(grade_hw2(submission), P1, "cannot be imported")


def test_a_missing_function_blocks_its_row_alone(tmp_path: Path) -> None:
    submission = changed(tmp_path, FILES[0], lambda text: text.replace("def topological_sort(", "def sort("))
    graded = grade_hw2(submission)
    assert graded.lost == {"topological_sort"}, graded.said()
    assert graded.rows["topological_sort"]["verdict"] == "blocked"


def test_bom_crlf_and_noise_do_no_harm(tmp_path: Path) -> None:
    def change(text: str) -> str:
        noisy = text.replace("import random", "import random\nprint('x' * 4_000_000)", 1)
        return "\ufeff" + noisy.replace("\n", "\r\n")

    graded = grade_hw2(changed(tmp_path, FILES[1], change))
    assert not graded.lost, graded.said()


def test_files_of_the_framework_are_ours(tmp_path: Path) -> None:
    submission = REFERENCE.write(tmp_path, SOLVED)
    (submission / "minitorch" / "tensor.py").write_text("raise SystemExit\n", encoding="utf-8")
    inside = submission / "project" / "minitorch"
    inside.mkdir()
    (inside / "__init__.py").write_text("raise SystemExit\n", encoding="utf-8")
    graded = grade_hw2(submission)
    assert not graded.lost, graded.said()
    assert graded.result["submission"]["ignored"] == ["minitorch/tensor.py", "project/minitorch/__init__.py"]


def test_endless_recursion_costs_what_it_is_in(tmp_path: Path) -> None:
    submission = changed(
        tmp_path, FILES[1], lambda text: text.replace("batch, in_size = x.shape", "return self.forward(x)", 1)
    )
    graded = grade_hw2(submission)
    assert graded.lost == {"linear_forward"}, graded.said()
    assert "RecursionError" in graded.rows["linear_forward"]["detail"]


def test_what_judges_is_out_of_reach(tmp_path: Path) -> None:
    secrets = [
        ROOT / "assignments" / "HW2" / "derive.py",
        ROOT / "assignments" / "HW2" / "formulas.py",
        ROOT / "fixtures" / "HW2" / "public" / "expected" / "loss" / "batch.safetensors",
        ROOT / "fixtures" / "HW2" / "corpus" / "heldout.tsv",
        ROOT / "reference" / "HW2" / "project" / "run_sentiment.py",
    ]
    look = f"import os\nif any(os.path.exists(p) for p in {[str(p) for p in secrets]}): raise RuntimeError('seen')\n"
    graded = grade_hw2(changed(tmp_path, FILES[0], lambda text: text + look))
    if graded.result["sandbox"] == "none":
        pytest.skip("there is no sandbox here")
    assert not graded.lost, graded.said()


@pytest.mark.slow
def test_a_training_loop_that_never_learns_costs_the_accuracy_too(tmp_path: Path) -> None:
    submission = changed(tmp_path, FILES[1], lambda text: text.replace("                optim.step()\n", "", 1))
    graded = grade_hw2(submission, training=True)
    assert graded.lost == {"training_loop", "accuracy"}, graded.said()


@pytest.mark.slow
def test_a_printed_accuracy_that_differs_is_told(tmp_path: Path) -> None:
    text_of_it = "validation_accuracy.append(get_accuracy(validation_predictions))"
    submission = changed(tmp_path, FILES[1], lambda text: text.replace(text_of_it, "validation_accuracy.append(0.99)"))
    graded = grade_hw2(submission, "--full", training=True)
    assert graded.lost == {"validation_loop"}, graded.said()
    assert any("prints a validation accuracy of 99%" in note["text"] for note in graded.result["advice"])


@pytest.mark.parametrize(
    ("replace", "by", "verdict", "says"),
    [
        ("max_epochs = 250", "max_epochs = 0", "fail", "ends without training"),
        ("    import embeddings", "    import matplotlib\n    import embeddings", "crashed", "No module named"),
        ("learning_rate = 0.025", "learning_rate = 0.0", "fail", "75% are needed"),
        ("    main()", "    pass", "fail", "ends without training"),
        ("embedding_dim = 50", "embedding_dim = 100", "crashed", "50 dimensions, 100 are asked for"),
    ],
)
def test_a_main_block_that_does_not_get_there(replace: str, by: str, verdict: str, says: str, tmp_path: Path) -> None:
    short = replace.startswith("learning") and ("max_epochs = 250", "max_epochs = 3")
    submission = changed(
        tmp_path, FILES[1], lambda text: text.replace(replace, by).replace(*(short or ("max_epochs = 250",) * 2))
    )
    graded = grade_hw2(submission, "--only", "accuracy", training=True)
    row = graded.rows["accuracy"]
    assert (row["points"], row["verdict"]) == (0, verdict), graded.said()
    assert says in row["detail"], row["detail"]


def test_weights_count_even_if_the_main_block_ends_badly(tmp_path: Path) -> None:
    bad = "    main()\n    import matplotlib"
    submission = changed(tmp_path, FILES[1], lambda text: text.replace("    main()", bad).replace("= 250", "= 12"))
    graded = grade_hw2(submission, "--only", "accuracy", "--full", training=True)
    assert graded.rows["accuracy"]["points"] == 10, graded.said()
    assert any("No module named 'matplotlib'" in note["text"] for note in graded.result["advice"])
