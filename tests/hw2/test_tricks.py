"""Programs that try to have points for what they do not do, and honest ones that look like that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader import assignment as assignments
from grader import fixtures, tensorfile
from grader.cases import DOES_NOT_FIT
from grader.derive import Handed, UnusableError
from tests.hw2.patches import FILES
from tests.hw2.support import grade_hw2
from tests.hw2.test_submissions import changed

TRAINED = "SentenceSentimentTrain().train(data_train,"


def program(folder: Path, replace: str, by: str) -> Path:
    """The reference with its program changed in one place."""

    def change(text: str) -> str:
        assert text.count(replace) == 1, replace
        return text.replace(replace, by)

    return changed(folder, FILES[1], change)


def test_training_on_the_validation_data_earns_no_accuracy(tmp_path: Path) -> None:
    submission = program(tmp_path, TRAINED, TRAINED.replace("data_train", "data_val"))
    row = grade_hw2(submission, "--only", "accuracy", training=True).rows["accuracy"]
    assert (row["points"], row["verdict"]) == (0, "fail"), row
    assert "does it train on the validation data?" in row["detail"]


def without(text: str, name: str) -> str:
    """The program without a function of its own level."""
    start = text.index(f"def {name}(")
    end = text.index("\n\n\n", start)
    return text[:start] + text[end:].lstrip("\n")


def test_a_loss_that_is_called_and_not_there_earns_nothing(tmp_path: Path) -> None:
    submission = changed(tmp_path, FILES[1], lambda text: without(text, "binary_cross_entropy_loss"))
    row = grade_hw2(submission, "--only", "binary_cross_entropy_loss").rows["binary_cross_entropy_loss"]
    assert row["points"] == 0, row


@pytest.mark.parametrize(("eps", "points"), [("0.0", 8), ("0.001", 0)])
def test_a_loss_that_is_a_method_is_inferred(eps: str, points: int, tmp_path: Path) -> None:
    def change(text: str) -> str:
        text = text.replace("y * out.log()", f"y * (out + {eps}).log()")
        start = text.index("def binary_cross_entropy_loss(")
        end = text.index("\n\n\n", start)
        method = "    @staticmethod\n" + "\n".join(
            f"    {line}" if line else "" for line in text[start:end].split("\n")
        )
        rest = (text[:start] + text[end:].lstrip("\n")).replace("binary_cross_entropy_loss(", "self.of_batch(")
        method = method.replace("binary_cross_entropy_loss", "of_batch")
        return rest.replace("    def train(\n", method + "\n\n    def train(\n", 1)

    graded = grade_hw2(changed(tmp_path, FILES[1], change), "--only", "binary_cross_entropy_loss")
    row = graded.rows["binary_cross_entropy_loss"]
    assert row["points"] == points, graded.said()
    assert all(check["inferred"] for check in row["checks"])


def test_a_renamed_loss_without_a_derivative_earns_nothing(tmp_path: Path) -> None:
    detached = "minitorch.tensor(value.to_numpy().tolist(), backend=BACKEND).view(1) + (out - out).mean().view(1)"

    def change(text: str) -> str:
        assert "return -log_likelihood.mean()" in text
        text = text.replace("return -log_likelihood.mean()", f"value = -log_likelihood.mean()\n    return {detached}")
        return text.replace("binary_cross_entropy_loss(", "loss_of(")

    graded = grade_hw2(changed(tmp_path, FILES[1], change), "--only", "binary_cross_entropy_loss")
    row = graded.rows["binary_cross_entropy_loss"]
    assert (row["points"], row["verdict"], row["inferred"]) == (0, "fail", True), graded.said()
    assert "dw1" in row["detail"]


def test_a_program_that_never_says_train_or_eval_is_followed_by_what_it_prints(tmp_path: Path) -> None:
    submission = changed(
        tmp_path, FILES[1], lambda text: text.replace("model.train()", "pass").replace("model.eval()", "pass")
    )
    row = grade_hw2(submission, "--only", "accuracy", training=True).rows["accuracy"]
    assert row["points"] == 10, row


def test_an_output_of_another_shape_in_evaluation_is_wrong(tmp_path: Path) -> None:
    submission = program(
        tmp_path, "        hidden = minitorch.nn.dropout(", "        if not self.training:\n            return hidden\n"
        "        hidden = minitorch.nn.dropout("
    )  # fmt: skip
    graded = grade_hw2(submission, "--only", "network_forward")
    assert (graded.exit, graded.rows["network_forward"]["points"]) == (0, 0), graded.said()


def cases(check: str) -> list[fixtures.FixtureCase]:
    return fixtures.load(fixtures.set_folder("HW2", "public")).cases(check)


ODD = hnp.arrays(np.float32, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4), elements=st.just(0.5))
NAMES = {
    "network_dropout": ["training", "evaluation"],
    "loss": ["loss", "dout"],
    "training_loop": ["w1", "b1", "w2", "b2", "batch", "dw1", "db1", "dw2", "db2", "loss"],
    "validation_loop": ["epochs", "w1.0", "b1.0", "w2.0", "b2.0", "predictions.0", "accuracies.0"],
    "accuracy": ["w1.0", "b1.0", "w2.0", "b2.0", "printed.0"],
}


@pytest.mark.parametrize("check", NAMES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_shape_that_is_handed_back_is_the_graders_error(check: str, data: st.DataObject) -> None:
    from assignments.HW2.derive import derive

    assignment = assignments.load("HW2")
    spec = assignment.checks[check]
    case = cases(spec.cases_of or check)[0]
    got: Mapping[str, np.ndarray] = data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES[check], ODD)))
    inputs = tensorfile.read(case.inputs_path)
    handed = Handed(check, case.entry.params, inputs, case.expected, got, spec.options, assignment.policies)
    try:
        derive(handed)
    except (UnusableError, *DOES_NOT_FIT):
        return
