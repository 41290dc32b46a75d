"""What is right given what was handed back: dropout's masks, known losses, a student's own training run.

Runs on the judging side alone, in NumPy's float64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignments.HW2 import known_orders, known_steps
from assignments.HW2.formulas import (
    Float,
    Parameters,
    entropy,
    known_losses,
    log_softmax_gradient,
    loss_and_gradients,
    loss_bounds,
    output,
    share_right,
    sigmoid,
)
from assignments.HW2.probes.recorded import MOST_STEPS
from grader.cases import Array
from grader.derive import Derivation, Handed, UnusableError

PRINTED_WITHIN = 0.006  # an accuracy as it is printed, in hundredths
NO_MASK = 1e-3  # further from what every mask gives, an output is none of theirs, and says nothing of the share kept
TYPES = (np.float32, np.float64, np.int32, np.int64)  # what can be right
# The sizes are the submission's: the hidden units of all steps' sentences, and half of the file's float32 weights. The
# other half are their derivatives: no honest loop goes beyond.
MOST_UNITS, MOST_WEIGHTS = 1 << 22, 1 << 23
SAME = 1e-4  # two losses of one batch are the same, relative to the larger


def derive(handed: Handed) -> Derivation:
    """The derivation of the check that the tensors were handed back for."""
    return DERIVATIONS[handed.check.split("_over_")[0]](handed)


def _given(handed: Handed, *names: str) -> list[Float]:
    return [handed.inputs[name].astype(np.float64) for name in names]


def got(handed: Handed, name: str, shape: tuple[int, ...] | None = None) -> Float:
    """A tensor that was handed back.

    Raises:
        UnusableError: it is not there, of another type or shape, or not finite.
    """
    if name not in handed.got:
        raise UnusableError(f"{name} was not handed back")
    if handed.got[name].dtype not in TYPES:
        raise UnusableError(f"{name} is of type {handed.got[name].dtype}")
    value = handed.got[name].astype(np.float64)
    if shape is not None and value.shape != shape:
        raise UnusableError(f"{name} has shape {list(value.shape)}, should be {list(shape)}")
    if not np.isfinite(value).all():
        raise UnusableError(f"{name} is not finite")
    return value


# ---- orders ------------------------------------------------------------------------------------------------


def order(handed: Handed) -> Derivation:
    """What the fixture set has; known mistakes are told from the order itself."""
    program, right, found = handed.inputs["program"], handed.expected, handed.got
    return Derivation(right, faults=lambda: known_orders.faults(program, right, found))


# ---- dropout -----------------------------------------------------------------------------------------------


def dropout(handed: Handed) -> Derivation:
    """``training`` [draws, B]: the nearest outputs that masks give; ``kept`` [1]: the share of units that these keep.

    The case is made so that the sums over subsets of the hidden units are all different, by more than float32
    rounds. Whether the mask comes before or after the ReLU makes no difference.
    """
    x, w1, b1, w2, b2 = _given(handed, "embeddings", "w1", "b1", "w2", "b2")
    hidden = np.maximum(x.mean(1) @ w1 + b1, 0)  # [B, H]
    masks = known_steps.masks(len(b1))
    logits = np.einsum("bh,mh,h->bm", hidden, masks, w2[:, 0]) + b2
    training = got(handed, "training", (int(handed.params["draws"]), len(x)))
    nearest = np.abs(sigmoid(logits) - training[:, :, None]).argmin(2)
    rows = np.arange(len(x))[None]
    expected: dict[str, Array] = {"training": sigmoid(logits[rows, nearest])}
    facts: dict[str, Array] = {}
    if np.allclose(training, expected["training"], rtol=0, atol=NO_MASK):
        expected["kept"] = np.array([1 - handed.params["dropout_prob"]])
        facts["kept"] = np.array([masks[nearest].mean()])
    off = handed.expected["evaluation"]
    advice: tuple[str, ...] = ()
    if handed.policies["dropout_in_evaluation"] == "cost":
        expected["evaluation"] = off
    elif not np.allclose(got(handed, "evaluation", off.shape), off, rtol=0, atol=1e-4):
        advice = ("dropout stays on in evaluation (model.eval()), so the validation accuracy is that of a thinned net",)
    given = {"embeddings": x, "w1": w1, "b1": b1, "w2": w2, "b2": b2}
    probability = float(handed.params["dropout_prob"])
    return Derivation(expected, facts, advice=advice, faults=lambda: known_steps.dropout(given, training, probability))


# ---- the loss ----------------------------------------------------------------------------------------------


def loss(handed: Handed) -> Derivation:
    """Names the loss that it is, where it is a known one; takes the log-softmax reading where the course does."""
    out, y = _given(handed, "out", "y")
    known = known_losses(out, y)
    if handed.policies["log_softmax_loss"] == "accept" and _is(handed, reading := next(iter(known.values()))):
        return Derivation(_reading(handed, reading, out, y))
    says = next((f"it is {name}" for name, value in known.items() if _is(handed, value)), "")
    if (found := handed.got.get("loss")) is not None and found.size > 1:
        says = f"it is {found.size} numbers, of shape {list(found.shape)}; take their mean"
    right = handed.expected["loss"].mean()
    return Derivation(handed.expected, says="" if _is(handed, right) else says)


def _reading(handed: Handed, value: float, out: Float, y: Float) -> dict[str, Array]:
    if "dout" not in handed.expected:  # the extremes: a least and a greatest value
        return {"loss": np.array([[value, value]])}
    return {"loss": np.array([value]), "dout": log_softmax_gradient(out, y)}


def _is(handed: Handed, value: float) -> bool:
    found = handed.got.get("loss")
    return found is not None and found.size == 1 and abs(float(found.item()) - value) <= SAME * abs(value)


# ---- the loops ---------------------------------------------------------------------------------------------

NAMES = ("w1", "b1", "w2", "b2")
PADDING = -2
REFUSED = "the training loop raises where the last batch is not a whole one; that case is left out"


def _parameters(handed: Handed, p: Parameters) -> Parameters:
    """Parameters, if they are of one network, of any hidden size."""
    dim = handed.inputs["x_train"].shape[2]
    hidden = p["b1"].size
    shapes = {"w1": (dim, hidden), "b1": (hidden,), "w2": (hidden, 1), "b2": (1,)}
    if hidden == 0 or any(p[name].shape != shape for name, shape in shapes.items()):
        raise UnusableError("the parameters are not those of the network")
    return p


def _batches(handed: Handed) -> list[NDArray[np.int64]]:
    """The numbers of the sentences of each step.

    Raises:
        UnusableError: there is no step, or a step rests on something else than training sentences.
    """
    count = len(handed.inputs["y_train"])
    shape = handed.got["batch"].shape if "batch" in handed.got else ()
    if len(shape) == 2 and (shape[0] > MOST_STEPS or shape[1] > MOST_STEPS * count):
        raise UnusableError(f"what was handed back has more than {MOST_STEPS} steps, or more sentences than these have")
    batch = got(handed, "batch").astype(np.int64)
    if batch.ndim != 2 or len(batch) == 0:
        raise UnusableError("the optimiser never takes a step", "train-no-step")
    rows = [row[row != PADDING] for row in batch]
    for number, row in enumerate(rows):
        if not len(row):
            since = f"since step {number - 1} (counted from 0)" if number else "before it"
            text = f"step {number} is taken without a backward pass {since}"
            raise UnusableError(text, known_steps.why_no_batch(rows))
        if (row < 0).any():
            text = f"step {number} (counted from 0) rests on something that is no sentence of the training data"
            raise UnusableError(text)
        if (row >= count).any():
            text = f"step {number} (counted from 0) rests on sentences of the validation data"
            raise UnusableError(text, "train-on-validation")
    return rows


def _steps(handed: Handed, rows: Sequence[NDArray[np.int64]]) -> list[Parameters]:
    """The parameters that were handed over at each step.

    Raises:
        UnusableError: they are not those of the network, or too many to be computed with.
    """
    all_of_them = {name: got(handed, name) for name in NAMES}
    found = [
        _parameters(handed, {name: value[step] for name, value in all_of_them.items()}) for step in range(len(rows))
    ]
    units = sum(len(row) * p["b1"].size for row, p in zip(rows, found, strict=True))
    if units > MOST_UNITS or all_of_them["w1"].size > MOST_WEIGHTS:
        raise UnusableError("the steps that were handed back are too large to be computed")
    return found


def loss_extremes_in_loop(handed: Handed) -> Derivation:
    """``loss`` [steps, 2]: the least and the greatest right loss of each step, its outputs being 0 and 1."""
    rows = _batches(handed)
    x, y = _given(handed, "x_train", "y_train")
    mean = x.mean(1)
    bounds = [loss_bounds(output(p, mean[row]), y[row]) for p, row in zip(_steps(handed, rows), rows, strict=True)]
    return Derivation({"loss": np.array(bounds)})


def training_loop(handed: Handed) -> Derivation:
    """Loss and derivatives of each step at the parameters that were handed over; each sentence once an epoch."""
    if handed.params.get("rest_may_raise") and "refused" in handed.got:
        return Derivation({}, advice=(REFUSED,))
    rows = _batches(handed)
    x, y = _given(handed, "x_train", "y_train")
    mean = x.mean(1)
    taken = list(zip(_steps(handed, rows), rows, strict=True))
    losses, gradients = [], []
    for p, row in taken:
        value, derivatives = loss_and_gradients(p, mean[row], y[row])
        losses.append(value)
        gradients.append(derivatives)
    expected: dict[str, Array] = {"d" + n: np.array([g[n] for g in gradients]) for n in NAMES}
    expected["loss"] = np.array(losses)
    epochs, size = int(handed.params["epochs"]), int(handed.params["batch_size"])
    counts, says = _seen(rows, len(y), epochs, size)
    expected["seen"] = np.ones_like(counts)
    told = {name: handed.got.get(name, np.zeros(0)).astype(np.float64) for name in ("loss", "foreign")}
    found = known_steps.Found(told["loss"], counts, told["foreign"])
    steps = known_steps.Steps(taken, mean, y, epochs, size, expected, found)
    return Derivation(expected, {"seen": counts}, says, faults=steps.faults)


def _seen(rows: list[NDArray[np.int64]], count: int, epochs: int, asked: int) -> tuple[Float, str]:
    """How often each epoch has used each sentence ``[epochs, sentences]``, and what is wrong about it."""
    numbers = np.concatenate(rows)
    if len(rows[0]) == count and asked < count:
        return np.full((epochs, count), np.nan), f"each step uses all {count} sentences, not a batch of {asked}"
    if len(numbers) != epochs * count:
        says = f"{len(rows)} steps use {len(numbers)} sentences; {epochs} epochs have {epochs * count}"
        if (rest := count % asked) and len(numbers) == epochs * (count - rest):
            says += f": the last {rest} of each epoch, which are no whole batch, are left out"
        return np.full((epochs, count), np.nan), says
    counts = np.array([np.bincount(part, minlength=count) for part in numbers.reshape(epochs, count)])
    says = "" if (counts == 1).all() else "some sentences are used twice in an epoch, and others never"
    return counts.astype(np.float64), says


def validation_loop(handed: Handed) -> Derivation:
    """Predictions and accuracy of each epoch, at the parameters that it ended with."""
    epochs = int(handed.params["epochs"])
    if got(handed, "epochs").reshape(-1)[:1] != epochs:
        raise UnusableError(f"log_fn is called {int(got(handed, 'epochs').sum())} times in {epochs} epochs")
    x, y, y_train = _given(handed, "x_val", "y_val", "y_train")
    expected: dict[str, Array] = {}
    facts: dict[str, Array] = {}
    for k in range(epochs):
        p = _parameters(handed, {name: got(handed, f"{name}.{k}") for name in NAMES})
        out = output(p, x.mean(1))
        found = got(handed, f"predictions.{k}")
        accuracies = got(handed, f"accuracies.{k}")
        if len(accuracies) != k + 1:
            text = f"validation_accuracy has {len(accuracies)} entries after {k + 1} epoch{'s' if k else ''}"
            raise UnusableError(text, known_steps.why_so_many_accuracies(len(accuracies), k + 1))
        if found.shape != (len(y), 3):
            sizes = {"val": len(y), "train": len(y_train), "batch": int(handed.params["batch_size"])}
            fault = known_steps.why_so_many_predictions(len(found), sizes, k)
            raise UnusableError(_count_of(len(found), len(y), len(y_train)), fault)
        expected |= {f"output.{k}": out, f"label.{k}": y, f"accuracy.{k}": np.array([share_right(out, y)])}
        facts |= {f"output.{k}": found[:, 2], f"label.{k}": found[:, 0], f"accuracy.{k}": accuracies[-1:]}
        expected[f"predicted.{k}"] = (out > 0.5).astype(np.float64)
        facts[f"predicted.{k}"] = found[:, 1]
    says = _best_so_far(expected, facts, epochs)
    return Derivation(expected, facts, says, faults=lambda: known_steps.validation(expected, facts, y_train, epochs))


def _best_so_far(right: Mapping[str, Array], found: Mapping[str, Array], epochs: int) -> str:
    """Whether the accuracies are the best until then in place of each epoch's own."""
    own, told = (np.array([part[f"accuracy.{k}"].item() for k in range(epochs)]) for part in (right, found))
    best = np.maximum.accumulate(own)
    if np.allclose(told, best, rtol=0, atol=1e-5) and not np.allclose(own, best, rtol=0, atol=1e-5):
        return "validation_accuracy has the best accuracy so far, not that of the epoch"
    return ""


def _count_of(found: int, right: int, train: int) -> str:
    what = ": it validates on the training data" if found == train else ""
    return f"there are {found} predictions for {right} sentences of validation data{what}"


# ---- the training run --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Epoch:
    """The weights after an epoch, and what they are worth."""

    run: int
    number: int
    weights: Parameters
    validation: float
    loss: float
    printed: float


def _epochs(handed: Handed) -> list[Epoch]:
    """All epochs of all runs.

    Raises:
        UnusableError: none was handed back, more than are recorded, or the weights are not those of the network.
    """
    x, y, x_train, y_train = (
        handed.expected[f"{kind}_{split}"].astype(np.float64) for split in ("validation", "train") for kind in "xy"
    )
    found: list[Epoch] = []
    most = int(handed.options["most_epochs"])
    for run in range(int(handed.params["runs"])):
        if f"w1.{run}" not in handed.got:
            break
        if len(handed.got[f"w1.{run}"]) > most:
            raise UnusableError(f"what was handed back has more than {most} epochs")
        weights = {name: got(handed, f"{name}.{run}") for name in NAMES}
        printed = handed.got.get(f"printed.{run}", np.zeros(0)).astype(np.float64).reshape(-1)
        for number in range(len(weights["w1"])):
            p = _fitting({name: value[number : number + 1] for name, value in weights.items()}, x.shape[1])
            told = float(printed[number]) if number < len(printed) else float("nan")
            loss = float(entropy(output(p, x_train), y_train).mean())
            found.append(Epoch(run, number + 1, p, share_right(output(p, x), y), loss, told))
    if not found:
        raise UnusableError("the main block ends without training a network of two linear layers")
    return found


def _fitting(weights: Mapping[str, Float], dim: int) -> Parameters:
    """One epoch's weights, given as arrays of length 1."""
    hidden = weights["b1"].size
    shapes = {"w1": (1, dim, hidden), "b1": (1, hidden), "w2": (1, hidden, 1), "b2": (1, 1)}
    if hidden == 0 or any(weights[name].shape != shape for name, shape in shapes.items()):
        raise UnusableError("the weights are not those of the network")
    return {name: value[0] for name, value in weights.items()}


def accuracy(handed: Handed) -> Derivation:
    """``validation_accuracy`` [1]: the best of all epochs, computed from the weights with dropout off.

    ``losses`` and ``accuracies`` are those of the run that the best epoch belongs to: training data, validation data.
    """
    epochs = _epochs(handed)
    best = max(epochs, key=lambda epoch: epoch.validation)
    its_run = [epoch for epoch in epochs if epoch.run == best.run]
    others = {}
    for split in ("train", "heldout"):
        x, y = (handed.expected[f"{kind}_{split}"].astype(np.float64) for kind in "xy")
        others[split] = share_right(output(best.weights, x), y)
    says = (
        f"{best.validation:.0%} on the validation data of {handed.options['data']}, after epoch {best.number} with seed"
        f" {int(handed.params['seed']) + best.run}; {others['train']:.0%} on the training data,"
        f" {others['heldout']:.0%} on sentences that it has not seen"
    )
    bar, floor = float(handed.options["bar"]), float(handed.options["unseen"])
    if best.validation < bar:
        says += f"; {bar:.0%} are needed"
    elif others["heldout"] < floor:
        says += f", where {floor:.0%} are needed: does it train on the validation data?"
    return Derivation(
        {"validation_accuracy": np.array([bar]), "heldout_accuracy": np.array([floor])},
        {
            "validation_accuracy": np.array([best.validation]),
            "heldout_accuracy": np.array([others["heldout"]]),
            "losses": np.array([epoch.loss for epoch in its_run]),
            "accuracies": np.array([epoch.validation for epoch in its_run]),
        },
        says,
        _printed_otherwise(epochs),
    )


def _printed_otherwise(epochs: list[Epoch]) -> tuple[str, ...]:
    """Whether the program prints other accuracies than its weights have."""
    off = [e for e in epochs if abs(e.printed - e.validation) > PRINTED_WITHIN]
    if not off:
        return ()
    worst = max(off, key=lambda e: abs(e.printed - e.validation))
    return (
        f"it prints a validation accuracy of {worst.printed:.0%} after epoch {worst.number}, its weights have"
        f" {worst.validation:.0%} ({len(off)} of {len(epochs)} epochs differ); is dropout off in evaluation?",
    )


DERIVATIONS: dict[str, Callable[[Handed], Derivation]] = {
    "topological_sort": order,
    "network_dropout": dropout,
    "loss": loss,
    "loss_extremes": loss,
    "loss_extremes_in_loop": loss_extremes_in_loop,
    "training_loop": training_loop,
    "validation_loop": validation_loop,
    "accuracy": accuracy,
}
