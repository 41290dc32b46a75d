"""HW2's fault dictionary: formulas without a fault are the oracle; every fault is recognised from its own tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from assignments.HW2 import known_steps
from assignments.HW2.formulas import loss_and_gradients, output, share_right
from assignments.HW2.known_orders import Walks
from grader import tolerances
from grader.cases import Array, Case
from grader.fault_build import CheckFaults, Made
from grader.faults import Fault, Formula
from reference.HW2 import cases, oracle
from reference.HW2.faults import backpropagation, initial, layers, losses
from tests.grader.explain.support import explained, inputs_of, known, public_set, tensors_of

FORMULAS: dict[str, Formula] = {
    "gradients": backpropagation.gradients,
    "accumulation": backpropagation.accumulation,
    "chain_rule_once": backpropagation.calls,
    "linear_init": initial.linear_init,
    "network_init": initial.network_init,
    "linear_forward": layers.linear_forward,
    "network_forward": layers.network_forward,
    "loss": losses.loss,
}
BOTH_SETS = [*cases.build(2026), *cases.build(77, "another")]
FAULTS = list(known("HW2").values())
Tensors = dict[str, Array]
Cases = dict[str, Tensors]
# What no tensor tells from another mistake.
ALIKE = {"back-halved-from-the-first": "back-halved"}


def test_there_are_faults_enough() -> None:
    assert len(FAULTS) >= 120
    assert {fault.check for fault in FAULTS if fault.formula} == FORMULAS.keys()
    assert all(fault.says and fault.hint for fault in FAULTS)
    assert not [fault.id for fault in FAULTS if fault.says.endswith(".") or fault.hint.endswith(".")]


@pytest.mark.parametrize("case", [c for c in BOTH_SETS if c.check in FORMULAS], ids=lambda case: case.id)
def test_a_formula_without_a_fault_is_the_oracle(case: Case) -> None:
    right, found = oracle.expected(case), FORMULAS[case.check](case, frozenset())
    assert found.keys() == (right.keys() if case.check != "network_init" else {"w1"})
    for name, value in found.items():
        assert value.shape == right[name].shape
        assert np.allclose(value, right[name], rtol=1e-9, atol=1e-12), name


def recognised(fault: str, got: Mapping[str, Mapping[str, Array]]) -> None:
    told = explained("HW2", known("HW2")[fault].check, got).explanations
    assert [one.kind for one in told] == ["fault"], told
    assert told[0].fault == ALIKE.get(fault, fault) or known("HW2")[fault].says in told[0].text
    assert told[0].hint


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.formula], ids=lambda fault: fault.id)
def test_a_fault_is_recognised_from_its_own_tensors(fault: Fault) -> None:
    recognised(fault.id, tensors_of("HW2", fault.id))


@pytest.mark.parametrize("seed", [77, pytest.param(4321, marks=pytest.mark.slow)])
def test_another_set_tells_every_fault_from_right_code(seed: int) -> None:
    """Building it would be refused otherwise."""
    given = cases.build(seed, "another")
    for check in FORMULAS:
        own = [fault for fault in FAULTS if fault.check == check]
        made: list[Made] = [(case, oracle.expected(case)) for case in given if case.check == check]
        CheckFaults("HW2", check, own, made, tolerances.load())


# ---- orders ------------------------------------------------------------------------------------------------


def _right(walks: Walks) -> list[int]:
    """Parents last: in the reverse order of creation."""
    return sorted(walks.required, reverse=True)


def _early(walks: Walks) -> list[int]:
    """A right order in which every node comes as early as it can."""
    left = set(walks.required)
    found: list[int] = []
    while left:
        found.append(min(n for n in left if not any(n in walks.kept(other) for other in left)))
        left.remove(found[-1])
    return found


def _of(walks: Walks, kept: frozenset[int]) -> list[int]:
    return [node for node in _right(walks) if node in kept]


def _by_paths(walks: Walks, node: int, found: list[int]) -> list[int]:
    for parent in walks.kept(node):
        if len(found) < walks.longest:
            _by_paths(walks, parent, found)
    found.insert(0, node)
    return found[: walks.longest]


ORDERS: dict[str, Callable[[Walks], list[int]]] = {
    "reversed": lambda w: _early(w)[::-1],
    "by-creation": lambda w: sorted(w.required),
    "without-visited": lambda w: _by_paths(w, w.root, []),
    "breadth-first": lambda w: w.breadth_first(1),
    "preorder": lambda w: w.preorder(1),
    "with-constants": lambda w: list(range(w.root, -1, -1)),
    "without-root": lambda w: _right(w)[1:],
    "without-leaves": lambda w: [node for node in _right(w) if w.parents[node]],
    "root-alone": lambda w: [w.root],
    "empty": lambda w: [],
    "first-parent": lambda w: _of(w, w.followed(0)),
    "last-parent": lambda w: _of(w, w.followed(-1)),
    "membership-by-value": lambda w: w.to_the_first_leaf(1),
}


ORDER_FAULTS = [fault.id.removeprefix("sort-") for fault in FAULTS if fault.check == "topological_sort"]


@pytest.mark.parametrize("fault", ORDER_FAULTS)
def test_a_wrong_order_is_recognised(fault: str) -> None:
    got: Cases = {}
    for case in public_set("HW2").cases("topological_sort"):
        walks = Walks.of(inputs_of("HW2")[case.id].inputs["program"], case.expected["order"])
        wrong = np.array(ORDERS.get(fault, _right)(walks), np.int64)
        got[case.id] = {"order": wrong, "again": wrong if fault in ORDERS else np.zeros(0, np.int64)}
        got[case.id]["compared"] = np.array([fault == "membership-by-value"], np.int64)
    recognised(f"sort-{fault}", got)


def test_what_compares_by_value_is_told_from_what_follows_one_parent() -> None:
    """Their orders are the same."""
    for compared, fault in ((0, "sort-first-parent"), (3, "sort-membership-by-value")):
        got: Cases = {}
        for case in public_set("HW2").cases("topological_sort"):
            walks = Walks.of(inputs_of("HW2")[case.id].inputs["program"], case.expected["order"])
            order = np.array(walks.to_the_first_leaf(1), np.int64)
            got[case.id] = {"order": order, "again": order, "compared": np.array([compared], np.int64)}
        (only,) = explained("HW2", "topological_sort", got).explanations
        assert only.fault == fault
        assert only.text.startswith("the order and that of a second call equal what comes out when ")


# ---- loops -------------------------------------------------------------------------------------------------

HIDDEN = 6


def _parameters(seed: int, dim: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    shapes = {"w1": (dim, HIDDEN), "b1": (HIDDEN,), "w2": (HIDDEN, 1), "b2": (1,)}
    return {name: rng.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}


def _trained(case: Case, fault: str) -> Tensors:
    """What a loop with a mistake would hand back; its parameters are others in each step."""
    count, size, epochs = len(case.inputs["y_train"]), int(case.params["batch_size"]), int(case.params["epochs"])
    name = fault.removeprefix("train-")
    epoch = [list(range(s, min(s + size, count))) for s in range(0, count, size)]
    epoch = known_steps.BATCHES[name](count, size) if name in known_steps.BATCHES else epoch
    if name.startswith("step-once-an-epoch"):
        epoch = [list(range(count))]
    rows = epoch * epochs
    x = case.inputs["x_train"].astype(np.float64).mean(1)
    y = case.inputs["y_train"].astype(np.float64)
    parameters = [_parameters(k, x.shape[1]) for k in range(len(rows))]
    taken = [
        ({n: v.astype(np.float64) for n, v in p.items()}, np.array(row))
        for p, row in zip(parameters, rows, strict=True)
    ]
    made = [loss_and_gradients(p, x[row], y[row]) for p, row in taken]
    right = {"loss": np.array([loss for loss, _ in made])}
    right |= {f"d{n}": np.array([own[n] for _, own in made]) for n in known_steps.NAMES}
    foreign = np.array([fault == "train-other-network"] * len(rows), np.int64)
    told = known_steps.Found(right["loss"] * (1 + 0.3 * foreign), np.zeros((epochs, count)), foreign.astype(float))
    found = known_steps.Steps(taken, x, y, epochs, size, right, told).faults().get(fault, {})
    longest = max(len(row) for row in rows)
    batch = np.array([row + [-2] * (longest - len(row)) for row in rows])
    given = {n: np.array([p[n] for p in parameters]) for n in known_steps.NAMES}
    return {**right, **given, **{n: v for n, v in found.items() if n != "seen"}, "batch": batch, "foreign": foreign}


NOTHING_TO_COMPARE = ("step-before-backward", "no-backward", "no-step", "step-twice", "on-validation")


def _stepped(case: Case, name: str) -> Tensors:
    """Of a right loop the batches as these mistakes leave them."""
    right = _trained(case, "")
    batch = right["batch"]
    if name == "no-step":
        return {**right, "batch": batch[:0]}
    if name == "on-validation":
        return {**right, "batch": batch + len(case.inputs["y_train"])}
    empty = {"no-backward": slice(None), "step-before-backward": slice(1), "step-twice": slice(1, None, 2)}[name]
    batch[empty] = -2
    return {**right, "batch": batch}


@pytest.mark.parametrize("fault", [fault.id for fault in FAULTS if fault.check == "training_loop"])
def test_a_wrong_training_loop_is_recognised(fault: str) -> None:
    name = fault.removeprefix("train-")
    loops = {key: case for key, case in inputs_of("HW2").items() if case.check == "training_loop"}
    made = _stepped if name in NOTHING_TO_COMPARE else _trained
    recognised(fault, {key: made(case, name if made is _stepped else fault) for key, case in loops.items()})


def test_derivatives_that_are_zero_beside_a_wrong_loss_are_not_told_as_zeroed() -> None:
    """With a loss that is not that of the network under training, something else is wrong."""
    got = {}
    for key, case in inputs_of("HW2").items():
        if case.check == "training_loop":
            handed = _trained(case, "train-zeroed-too-late")
            loss = handed["loss"].astype(np.float64)
            got[key] = {**handed, "loss": loss * np.linspace(1.3, 2.0, len(loss))}
    told = explained("HW2", "training_loop", got).explanations
    assert not [one.fault for one in told if one.fault], told
    assert "what is the loss of a step made of: which outputs, of which network, and which labels?" in [
        one.hint for one in told
    ]


def _validated(case: Case, fault: str) -> Tensors:
    """What a validation loop with a mistake would hand back; its parameters are others in each epoch."""
    epochs, name = int(case.params["epochs"]), fault.removeprefix("validate-")
    x, y = case.inputs["x_val"].astype(np.float64).mean(1), case.inputs["y_val"].astype(np.float64)
    y_train = case.inputs["y_train"].astype(np.float64)
    right: Tensors = {}
    got: Tensors = {"epochs": np.array([epochs])}
    for k in range(epochs):
        p = {n: v.astype(np.float64) for n, v in _parameters(10 + k, x.shape[1]).items()}
        got |= {f"{n}.{k}": v for n, v in p.items()}
        out = output(p, x)
        right |= {f"output.{k}": out, f"label.{k}": y, f"accuracy.{k}": np.array([share_right(out, y)])}
    told = {**right, **{f"accuracy.{k}": np.array([0.77]) for k in range(epochs) if name == "constant"}}
    found = {**told, **known_steps.validation(right, told, y_train, epochs).get(fault, {})}
    sizes = {"on-training-data": len(y_train), "half": len(y) // 2, "last-batch": int(case.params["batch_size"])}
    for k in range(epochs):
        rows = np.stack([found[f"label.{k}"], found[f"output.{k}"] > 0.5, found[f"output.{k}"]], axis=1)
        many = {**sizes, "no-predictions": 0, "never-cleared": (k + 1) * len(y)}.get(name, len(y))
        times = {"not-appended": 0, "appended-twice": 2}.get(name, 1)
        got[f"predictions.{k}"] = np.resize(rows, (many, 3))
        got[f"accuracies.{k}"] = np.repeat([found[f"accuracy.{j}"].item() for j in range(k + 1)], times)
    return got


@pytest.mark.parametrize("fault", [fault.id for fault in FAULTS if fault.check == "validation_loop"])
def test_a_wrong_validation_loop_is_recognised(fault: str) -> None:
    loops = {key: case for key, case in inputs_of("HW2").items() if case.check == "validation_loop"}
    recognised(fault, {key: _validated(case, fault) for key, case in loops.items()})


# ---- dropout -----------------------------------------------------------------------------------------------

KEPT = {"without-dropout": 1.0, "dropout-fixed": 0.5, "dropout-complement": 0.25, "dropout-twice": 0.75**2}


@pytest.mark.parametrize("fault", [fault.id for fault in FAULTS if fault.check == "network_dropout"])
def test_wrong_dropout_is_recognised(fault: str) -> None:
    name = fault.removeprefix("network-")
    (key, case) = next((k, c) for k, c in inputs_of("HW2").items() if c.check == "network_dropout")
    p = {n: v.astype(np.float64) for n, v in case.inputs.items()}
    shape = (int(case.params["draws"]), len(p["embeddings"]))
    rng = np.random.default_rng(1)
    mean, units = p["embeddings"].mean(1), len(p["b1"])
    given = (rng.random((*shape, mean.shape[1])) < 0.75) if name == "dropout-on-input" else 1.0
    hidden = np.maximum((mean * given) @ p["w1"] + p["b1"], 0)
    keep = 1.0 if name == "dropout-on-input" else rng.random((*shape, units)) < KEPT.get(name, 0.75)
    scale = 1 / 0.75 if name == "dropout-scaled" else 1.0
    training = 1 / (1 + np.exp(-((hidden * keep * scale) @ p["w2"][:, 0] + p["b2"])))
    recognised(fault, {key: {"training": training}})
