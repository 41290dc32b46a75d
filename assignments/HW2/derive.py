"""What is right given what was handed back: dropout's masks, known losses, a student's own training run.

Runs on the judging side alone. NumPy in float64; the small network's derivatives are written out here, and a test
holds them to PyTorch's autograd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grader.cases import Array
from grader.derive import Derivation, Handed, UnusableError

Float = NDArray[np.float64]
Parameters = Mapping[str, Float]  # w1 [E, H], b1 [H], w2 [H, 1], b2 [1]

LOG_EPS = 1e-6  # MiniTorch's logarithm adds it
EPS_RANGE = (0.0, 2e-6)  # what a right loss may add inside the logarithm: MiniTorch's 1e-6, and as much again
FLOAT32_ROUNDING = 6e-8  # of 1 - out near 0
PRINTED_WITHIN = 0.006  # an accuracy as it is printed, in hundredths
SAME = 1e-4  # two losses of one batch are the same, relative to the larger


def derive(handed: Handed) -> Derivation:
    """The derivation of the check that the tensors were handed back for."""
    return DERIVATIONS[handed.check.split("_over_")[0]](handed)


def sigmoid(x: Float) -> Float:
    """The logistic function."""
    return np.asarray(1 / (1 + np.exp(-x)))


def _given(handed: Handed, *names: str) -> list[Float]:
    return [handed.inputs[name].astype(np.float64) for name in names]


def got(handed: Handed, name: str, shape: tuple[int, ...] | None = None) -> Float:
    """A tensor that was handed back.

    Raises:
        UnusableError: it is not there, of another shape, or not finite.
    """
    if name not in handed.got:
        raise UnusableError(f"{name} was not handed back")
    value = handed.got[name].astype(np.float64)
    if shape is not None and value.shape != shape:
        raise UnusableError(f"{name} has shape {list(value.shape)}, should be {list(shape)}")
    if not np.isfinite(value).all():
        raise UnusableError(f"{name} is not finite")
    return value


# ---- dropout -----------------------------------------------------------------------------------------------


def dropout(handed: Handed) -> Derivation:
    """``training`` [draws, B]: the nearest outputs that masks give; ``kept`` [1]: the share of units that these keep.

    The case is made so that the sums over subsets of the hidden units are all different, by more than float32
    rounds. Whether the mask comes before or after the ReLU makes no difference.
    """
    x, w1, b1, w2, b2 = _given(handed, "embeddings", "w1", "b1", "w2", "b2")
    hidden = np.maximum(x.mean(1) @ w1 + b1, 0)  # [B, H]
    masks = (np.arange(2 ** len(b1))[:, None] >> np.arange(len(b1))) & 1  # [2^H, H]
    logits = np.einsum("bh,mh,h->bm", hidden, masks, w2[:, 0]) + b2
    training = got(handed, "training", (int(handed.params["draws"]), len(x)))
    nearest = np.abs(sigmoid(logits) - training[:, :, None]).argmin(2)
    rows = np.arange(len(x))[None]
    expected: dict[str, Array] = {
        "training": sigmoid(logits[rows, nearest]),
        "kept": np.array([1 - handed.params["dropout_prob"]]),
    }
    off = handed.expected["evaluation"]
    advice: tuple[str, ...] = ()
    if handed.policies["dropout_in_evaluation"] == "cost":
        expected["evaluation"] = off
    elif not np.allclose(got(handed, "evaluation", off.shape), off, rtol=0, atol=1e-4):
        advice = ("dropout stays on in evaluation (model.eval()), so the validation accuracy is that of a thinned net",)
    return Derivation(expected, {"kept": np.array([masks[nearest].mean()])}, advice=advice)


# ---- the loss ----------------------------------------------------------------------------------------------


def _log(x: Float) -> Float:
    return np.asarray(np.log(x + LOG_EPS))


def _log_softmax(x: Float) -> Float:
    shifted = x - x.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))


def _entropy(out: Float, y: Float, log: Callable[[Float], Float] = _log) -> Float:
    return np.asarray(-(y * log(out) + (1 - y) * log(1 - out)))


def loss_bounds(out: Float, y: Float) -> Float:
    """``[2]``: the least and the greatest value of a right loss of a batch, at outputs of 0, 1 and next to them."""
    least, most = EPS_RANGE
    exact = np.clip(out, FLOAT32_ROUNDING, 1 - FLOAT32_ROUNDING)
    low = _entropy(out, y, lambda x: np.asarray(np.log(x + most + FLOAT32_ROUNDING))).mean()
    high = _entropy(exact, y, lambda x: np.asarray(np.log(x + least))).mean()
    return np.sort(np.array([low, high]))


def known_losses(out: Float, y: Float) -> dict[str, float]:
    """What known wrong losses give, by their names."""
    terms = _entropy(out, y)
    return {
        "the cross entropy with a log-softmax in place of the logarithm": _entropy(out, y, _log_softmax).mean(),
        "the sum over the batch, where the mean should be taken": terms.sum(),
        "the mean squared error": ((out - y) ** 2).mean(),
        "the cross entropy with the wrong sign": -terms.mean(),
        "the half with the label 1 alone": -(y * _log(out)).mean(),
        "the half with the label 0 alone": -((1 - y) * _log(1 - out)).mean(),
        "the cross entropy of swapped labels": _entropy(out, 1 - y).mean(),
    }


def _log_softmax_gradient(out: Float, y: Float) -> Float:
    """The derivative of the log-softmax reading by the outputs ``[B]``."""
    p, q = np.exp(_log_softmax(out)), np.exp(_log_softmax(1 - out))
    return np.asarray(-(y - p * y.sum() - (1 - y) + q * (1 - y).sum()) / len(out))


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
    return {"loss": np.array([value]), "dout": _log_softmax_gradient(out, y)}


def _is(handed: Handed, value: float) -> bool:
    found = handed.got.get("loss")
    return found is not None and found.size == 1 and abs(float(found.item()) - value) <= SAME * abs(value)


# ---- the loops ---------------------------------------------------------------------------------------------

NAMES = ("w1", "b1", "w2", "b2")
PADDING = -2
REFUSED = "the training loop raises where the last batch is not a whole one; that case is left out"


def output(p: Parameters, mean: Float) -> Float:
    """The network's probabilities ``[B]`` for mean embeddings ``[B, E]``, without dropout."""
    return sigmoid(np.maximum(mean @ p["w1"] + p["b1"], 0) @ p["w2"] + p["b2"])[:, 0]


def loss_and_gradients(p: Parameters, mean: Float, y: Float) -> tuple[float, dict[str, Float]]:
    """The cross entropy of a batch, and its derivatives by the parameters.

    Args:
        p: the parameters.
        mean: the sentences' mean embeddings ``[B, E]``.
        y: their labels ``[B]``.
    """
    before = mean @ p["w1"] + p["b1"]
    hidden = np.maximum(before, 0)
    out = sigmoid(hidden @ p["w2"] + p["b2"])[:, 0]
    d_out = -(y / (out + LOG_EPS) - (1 - y) / (1 - out + LOG_EPS)) / len(y)
    d_logit = (d_out * out * (1 - out))[:, None]
    d_before = (d_logit @ p["w2"].T) * (before > 0)
    gradients = {
        "w1": mean.T @ d_before,
        "b1": d_before.sum(0),
        "w2": hidden.T @ d_logit,
        "b2": d_logit.sum(0),
    }
    return float(_entropy(out, y).mean()), gradients


def _parameters(handed: Handed, pick: Callable[[str], Float]) -> Parameters:
    """Parameters of any hidden size that fit one another."""
    p = {name: pick(name) for name in NAMES}
    dim = handed.inputs["x_train"].shape[2]
    hidden = p["b1"].size
    shapes = {"w1": (dim, hidden), "b1": (hidden,), "w2": (hidden, 1), "b2": (1,)}
    if any(p[name].shape != shape for name, shape in shapes.items()):
        raise UnusableError("the parameters are not those of the network")
    return p


def _batches(handed: Handed) -> list[NDArray[np.int64]]:
    """The numbers of the sentences of each step.

    Raises:
        UnusableError: there is no step, or a step rests on something else than training sentences.
    """
    batch = got(handed, "batch").astype(np.int64)
    if batch.ndim != 2 or len(batch) == 0:
        raise UnusableError("the optimiser never takes a step")
    rows = [row[row != PADDING] for row in batch]
    count = len(handed.inputs["y_train"])
    for number, row in enumerate(rows, start=1):
        if not len(row):
            raise UnusableError(f"step {number} is taken without a backward pass since the step before")
        if (row < 0).any():
            raise UnusableError(f"step {number} rests on something that is no sentence of the training data")
        if (row >= count).any():
            raise UnusableError(f"step {number} rests on sentences of the validation data")
    return rows


def _steps(handed: Handed) -> Iterator[tuple[Parameters, Float, Float]]:
    """Of each step the parameters that were handed over, and the mean embeddings and labels of its batch."""
    x, y = _given(handed, "x_train", "y_train")
    mean = x.mean(1)
    for step, row in enumerate(_batches(handed)):
        p = _parameters(handed, lambda name, step=step: got(handed, name)[step])  # type: ignore[misc]
        yield p, mean[row], y[row]


def loss_extremes_in_loop(handed: Handed) -> Derivation:
    """``loss`` [steps, 2]: the least and the greatest right loss of each step, its outputs being 0 and 1."""
    bounds = [loss_bounds(output(p, mean), y) for p, mean, y in _steps(handed)]
    return Derivation({"loss": np.array(bounds)})


def training_loop(handed: Handed) -> Derivation:
    """Loss and derivatives of each step at the parameters that were handed over; each sentence once an epoch."""
    if handed.params.get("rest_may_raise") and "refused" in handed.got:
        return Derivation({}, advice=(REFUSED,))
    rows, y = _batches(handed), handed.inputs["y_train"]
    losses, gradients = [], []
    for step in _steps(handed):
        value, derivatives = loss_and_gradients(*step)
        losses.append(value)
        gradients.append(derivatives)
    expected: dict[str, Array] = {"d" + n: np.array([g[n] for g in gradients]) for n in NAMES}
    expected["loss"] = np.array(losses)
    counts, says = _seen(rows, len(y), int(handed.params["epochs"]), int(handed.params["batch_size"]))
    return Derivation({**expected, "seen": np.ones_like(counts)}, {"seen": counts}, says)


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
    x, y = _given(handed, "x_val", "y_val")
    expected: dict[str, Array] = {}
    facts: dict[str, Array] = {}
    for k in range(epochs):
        p = _parameters(handed, lambda name, k=k: got(handed, f"{name}.{k}"))  # type: ignore[misc]
        out = output(p, x.mean(1))
        found = got(handed, f"predictions.{k}")
        accuracies = got(handed, f"accuracies.{k}")
        if len(accuracies) != k + 1:
            raise UnusableError(f"validation_accuracy has {len(accuracies)} entries after epoch {k + 1}")
        if found.shape != (len(y), 3):
            raise UnusableError(_count_of(len(found), len(y), len(handed.inputs["y_train"])))
        expected |= {f"output.{k}": out, f"label.{k}": y, f"accuracy.{k}": np.array([_accuracy(out, y)])}
        facts |= {f"output.{k}": found[:, 2], f"label.{k}": found[:, 0], f"accuracy.{k}": accuracies[-1:]}
        expected[f"predicted.{k}"] = (out > 0.5).astype(np.float64)
        facts[f"predicted.{k}"] = found[:, 1]
    return Derivation(expected, facts, _best_so_far(expected, facts, epochs))


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


def _accuracy(out: Float, y: Float) -> float:
    return float(((out > 0.5) == (y > 0.5)).mean())


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
        UnusableError: none was handed back, or the weights are not those of the network.
    """
    x, y, x_train, y_train = (
        handed.expected[f"{kind}_{split}"].astype(np.float64) for split in ("validation", "train") for kind in "xy"
    )
    found: list[Epoch] = []
    for run in range(int(handed.params["runs"])):
        if f"w1.{run}" not in handed.got:
            break
        weights = {name: got(handed, f"{name}.{run}") for name in NAMES}
        printed = handed.got.get(f"printed.{run}", np.zeros(0)).astype(np.float64).reshape(-1)
        for number in range(len(weights["w1"])):
            p = _fitting({name: value[number : number + 1] for name, value in weights.items()}, x.shape[1])
            told = float(printed[number]) if number < len(printed) else float("nan")
            loss = float(_entropy(output(p, x_train), y_train).mean())
            found.append(Epoch(run, number + 1, p, _accuracy(output(p, x), y), loss, told))
    if not found:
        raise UnusableError("the main block ends without training a network of two linear layers")
    return found


def _fitting(weights: Mapping[str, Float], dim: int) -> Parameters:
    """One epoch's weights, given as arrays of length 1."""
    hidden = weights["b1"].size
    shapes = {"w1": (1, dim, hidden), "b1": (1, hidden), "w2": (1, hidden, 1), "b2": (1, 1)}
    if any(weights[name].shape != shape for name, shape in shapes.items()):
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
        others[split] = _accuracy(output(best.weights, x), y)
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
    "network_dropout": dropout,
    "loss": loss,
    "loss_extremes": loss,
    "loss_extremes_in_loop": loss_extremes_in_loop,
    "training_loop": training_loop,
    "validation_loop": validation_loop,
    "accuracy": accuracy,
}
