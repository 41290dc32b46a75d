"""What is derived on the judging side, against PyTorch's autograd and by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from assignments.HW2 import derive as derivations
from assignments.HW2 import formulas
from grader.derive import Handed, UnusableError

Float = NDArray[np.float64]
POLICIES = {"log_softmax_loss": "wrong", "dropout_in_evaluation": "advice"}


def assert_near(found: NDArray[np.generic], right: NDArray[np.generic], rtol: float = 0.0, atol: float = 0.0) -> None:
    assert np.allclose(found.astype(np.float64), right.astype(np.float64), rtol=rtol, atol=atol)


def parameters(rng: np.random.Generator, dim: int = 5, hidden: int = 7) -> dict[str, Float]:
    shapes = {"w1": (dim, hidden), "b1": (hidden,), "w2": (hidden, 1), "b2": (1,)}
    return {name: rng.normal(0, 0.7, shape) for name, shape in shapes.items()}


def handed(
    check: str,
    inputs: Mapping[str, Float],
    got: Mapping[str, Float],
    expected: Mapping[str, Float] | None = None,
    params: Mapping[str, int | float] | None = None,
    policies: Mapping[str, str] = POLICIES,
) -> Handed:
    return Handed(check, params or {}, inputs, expected or {}, got, {}, policies)


def test_gradients_are_those_of_autograd() -> None:
    rng = np.random.default_rng(1)
    p, mean, y = parameters(rng), rng.normal(0, 1, (6, 5)), rng.integers(0, 2, 6).astype(float)
    leaves = {name: torch.tensor(value, requires_grad=True) for name, value in p.items()}
    hidden = torch.relu(torch.tensor(mean) @ leaves["w1"] + leaves["b1"])
    out = torch.sigmoid(hidden @ leaves["w2"] + leaves["b2"])[:, 0]
    labels = torch.tensor(y)
    right = -(labels * (out + 1e-6).log() + (1 - labels) * (1 - out + 1e-6).log()).mean()
    grads = torch.autograd.grad(right, list(leaves.values()))
    value, derivatives = formulas.loss_and_gradients(p, mean, y)
    assert value == pytest.approx(right.item(), rel=1e-12)
    for name, grad in zip(leaves, grads, strict=True):
        assert_near(derivatives[name], grad.numpy(), rtol=1e-10, atol=1e-14)


def test_the_log_softmax_reading_has_its_own_derivative() -> None:
    rng = np.random.default_rng(2)
    out, y = rng.uniform(0.1, 0.9, 5), np.array([1.0, 0, 0, 1, 1])
    leaf, labels = torch.tensor(out, requires_grad=True), torch.tensor(y)
    value = -(labels * torch.log_softmax(leaf, 0) + (1 - labels) * torch.log_softmax(1 - leaf, 0)).mean()
    (grad,) = torch.autograd.grad(value, [leaf])
    got = {"loss": np.array([value.item()]), "dout": grad.numpy()}
    expected = {"loss": np.array([0.6]), "dout": np.zeros(5)}
    accepted = handed("loss", {"out": out, "y": y}, got, expected, policies={**POLICIES, "log_softmax_loss": "accept"})
    assert_near(derivations.derive(accepted).expected["dout"], grad.numpy(), rtol=1e-10)
    refused = derivations.derive(handed("loss", {"out": out, "y": y}, got, expected))
    assert refused.expected is expected
    assert "log-softmax" in refused.says


def dropout_case(keep: NDArray[np.bool_]) -> tuple[dict[str, Float], dict[str, Float]]:
    """Inputs, and the outputs that a mask ``[batch, 4]`` gives."""
    rng = np.random.default_rng(3)
    inputs = {
        "embeddings": rng.normal(0, 1, (len(keep), 2, 3)),
        "w1": rng.uniform(-0.03, 0.03, (3, 4)),
        "b1": np.ones(4),
        "w2": 3.0 ** -np.arange(4.0).reshape(4, 1),
        "b2": np.zeros(1),
    }
    hidden = np.maximum(inputs["embeddings"].mean(1) @ inputs["w1"] + inputs["b1"], 0)
    training = formulas.sigmoid(((hidden * keep) @ inputs["w2"])[:, 0])
    return inputs, {"training": training[None], "evaluation": formulas.sigmoid((hidden @ inputs["w2"])[:, 0])}


def test_a_mask_is_read_from_the_output() -> None:
    keep = np.random.default_rng(4).random((200, 4)) > 0.3
    inputs, got = dropout_case(keep)
    expected = {"evaluation": got["evaluation"]}
    found = derivations.derive(handed("network_dropout", inputs, got, expected, {"dropout_prob": 0.3, "draws": 1}))
    assert_near(found.expected["training"], got["training"], atol=1e-12)
    assert found.facts["kept"][0] == pytest.approx(keep.mean())
    assert found.advice == ()


@pytest.mark.parametrize(("policy", "advice", "costs"), [("advice", 1, False), ("cost", 0, True)])
def test_dropout_in_evaluation_is_a_policy(policy: str, advice: int, costs: bool) -> None:
    keep = np.random.default_rng(5).random((50, 4)) > 0.5
    inputs, got = dropout_case(keep)
    expected = {"evaluation": got["evaluation"]}
    got = {**got, "evaluation": got["training"][0]}
    policies = {**POLICIES, "dropout_in_evaluation": policy}
    params = {"dropout_prob": 0.5, "draws": 1}
    found = derivations.derive(handed("network_dropout", inputs, got, expected, params, policies))
    assert len(found.advice) == advice
    assert ("evaluation" in found.expected) == costs


SPLITS = ("train", "validation")
OPTIONS = {"bar": "0.75", "unseen": "0.62", "most_epochs": "2000", "data": "made-up data"}
LOOP = {"x_train": np.zeros((4, 2, 5)), "y_train": np.zeros(4), "x_val": np.zeros((2, 2, 5)), "y_val": np.zeros(2)}


@pytest.mark.parametrize(
    ("batch", "text"),
    [
        (np.zeros((0, 0)), "never takes a step"),
        (np.array([[0.0, 1], [-2, -2]]), r"step 1 is taken without a backward pass since step 0 \(counted from 0\)"),
        (np.array([[0.0, 5]]), r"step 0 \(counted from 0\) rests on sentences of the validation data"),
        (np.array([[0.0, -1]]), "step 0 .* rests on something that is no sentence"),
    ],
)
def test_steps_that_cannot_be_judged_are_told(batch: Float, text: str) -> None:
    with pytest.raises(UnusableError, match=text):
        derivations.derive(handed("training_loop", LOOP, {"batch": batch}, params={"epochs": 1, "batch_size": 2}))


def test_a_loop_that_refuses_the_rest_is_believed_in_that_case_alone() -> None:
    params = {"epochs": 1, "batch_size": 2}
    refused = {"refused": np.ones(1)}
    found = derivations.derive(handed("training_loop", LOOP, refused, params={**params, "rest_may_raise": 1}))
    assert (found.expected, len(found.advice)) == ({}, 1)
    with pytest.raises(UnusableError, match="batch was not handed back"):
        derivations.derive(handed("training_loop", LOOP, refused, params=params))


@pytest.mark.parametrize("name", ["w1", "b1", "w2", "b2"])
def test_weights_that_do_not_fit_are_refused(name: str) -> None:
    weights = {f"{n}.0": value[None] for n, value in parameters(np.random.default_rng(6)).items()}
    weights[f"{name}.0"] = np.zeros((1, 2, 2, 2))
    data = {f"{kind}_{split}": np.zeros((3, 5) if kind == "x" else 3) for kind in "xy" for split in SPLITS}
    given = replace(handed("accuracy", {}, weights, data, {"runs": 1, "seed": 1}), options=OPTIONS)
    with pytest.raises(UnusableError, match="not those of the network"):
        derivations.derive(given)


@pytest.mark.parametrize(("epochs", "hidden", "text"), [(2001, 3, "more than 2000 epochs"), (9, 0, "not those of the")])
def test_weights_of_more_epochs_than_are_recorded_are_refused(epochs: int, hidden: int, text: str) -> None:
    shapes = {"w1": (5, hidden), "b1": (hidden,), "w2": (hidden, 1), "b2": (1,)}
    weights = {f"{n}.0": np.zeros((epochs, *shape)) for n, shape in shapes.items()}
    data = {f"{kind}_{split}": np.zeros((3, 5) if kind == "x" else 3) for kind in "xy" for split in SPLITS}
    given = replace(handed("accuracy", {}, weights, data, {"runs": 1, "seed": 1}), options=OPTIONS)
    with pytest.raises(UnusableError, match=text):
        derivations.derive(given)


@pytest.mark.parametrize("check", ["training_loop", "loss_extremes_in_loop"])
@pytest.mark.parametrize(
    ("steps", "longest", "hidden", "text"),
    [
        (401, 1, 1, "more than 400 steps"),
        (1, 1601, 1, "more sentences than these have"),
        (400, 1, 10_000, "too large to be computed"),
        (400, 1600, 30, "too large to be computed"),
        (3, 1, 0, "not those of the network"),
    ],
)
def test_steps_without_end_are_refused_before_they_are_computed(
    check: str, steps: int, longest: int, hidden: int, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(derivations, "loss_and_gradients", None)
    monkeypatch.setattr(derivations, "loss_bounds", None)
    shapes = {"w1": (5, hidden), "b1": (hidden,), "w2": (hidden, 1), "b2": (1,)}
    got = {name: np.zeros((steps, *shape)) for name, shape in shapes.items()}
    got["batch"] = np.zeros((steps, longest))
    with pytest.raises(UnusableError, match=text):
        derivations.derive(handed(check, LOOP, got, params={"epochs": 1, "batch_size": 2}))


def test_a_large_network_is_computed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    p, mean = parameters(np.random.default_rng(9)), np.random.default_rng(9).normal(size=(11, 5))
    whole = formulas.output(p, mean)
    monkeypatch.setattr(formulas, "AT_ONCE", 21)
    assert_near(formulas.output(p, mean), whole, rtol=1e-12)


def test_the_curves_are_those_of_the_best_run() -> None:
    rng = np.random.default_rng(8)
    good, bad = (parameters(rng) for _ in range(2))
    x = rng.normal(size=(6, 5))
    y = (formulas.output(good, x) > 0.5).astype(np.float64)
    data = {f"{kind}_{split}": x if kind == "x" else y for kind in "xy" for split in (*SPLITS, "heldout")}
    runs = ((bad, bad), (bad, good))
    weights = {f"{n}.{k}": np.stack([p[n] for p in run]) for k, run in enumerate(runs) for n in good}
    given = replace(handed("accuracy", {}, weights, data, {"runs": 2, "seed": 1}), options=OPTIONS)
    found = derivations.derive(given)
    assert found.facts["accuracies"][1] == 1.0
    assert found.facts["losses"][1] == pytest.approx(formulas.loss_and_gradients(good, x, y)[0])
