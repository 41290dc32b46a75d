"""What known mistakes give that depend on what was handed back: masks of dropout, steps of a loop, its accuracies.

For the judging side alone; the mistakes are put into words in ``reference/HW2/faults``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignments.HW2.formulas import Float, Parameters, gradients, loss_and_gradients, output, share_right, sigmoid
from grader.cases import Array

Numbers = NDArray[np.int64]
Step = tuple[Parameters, Numbers]
Made = dict[str, dict[str, Array]]

COURSE_BATCH = 10  # the course's constant
SAME = 1e-4  # two losses of one batch are the same, relative to the larger
NO_STEPS = -1.0  # equals no count of sentences
NAMES = ("w1", "b1", "w2", "b2")


# ---- dropout -----------------------------------------------------------------------------------------------


def dropout(given: Mapping[str, Float], training: Float, probability: float) -> Made:
    """By fault the share of units kept, or the outputs nearest to those that were handed back."""
    kept = 1 - probability
    shares = {"without-dropout": 1.0, "fixed": 0.5, "complement": probability, "twice": kept * kept}
    names = {name if name.startswith("without") else f"dropout-{name}": share for name, share in shares.items()}
    found: Made = {f"network-{name}": {"kept": np.array([share])} for name, share in names.items()}
    found["network-dropout-on-input"] = {"training": _nearest(_on_input(given), training)}
    found["network-dropout-scaled"] = {"training": _nearest(_scaled(given, kept), training)}
    return found


def masks(units: int) -> Float:
    """All masks of some units, ``[2^units, units]``."""
    return ((np.arange(2**units)[:, None] >> np.arange(units)) & 1).astype(np.float64)


def _on_input(p: Mapping[str, Float]) -> Float:
    """The outputs of all masks of the mean embedding ``[B, masks]``."""
    thinned = p["embeddings"].mean(1)[:, None] * masks(p["embeddings"].shape[2])
    hidden = np.maximum(thinned @ p["w1"] + p["b1"], 0)
    return sigmoid(hidden @ p["w2"][:, 0] + p["b2"])


def _scaled(p: Mapping[str, Float], kept: float) -> Float:
    """The outputs of all masks of the hidden units, which are made larger ``[B, masks]``."""
    hidden = np.maximum(p["embeddings"].mean(1) @ p["w1"] + p["b1"], 0) / kept
    return sigmoid(np.einsum("bh,mh,h->bm", hidden, masks(len(p["b1"])), p["w2"][:, 0]) + p["b2"])


def _nearest(known: Float, training: Float) -> Float:
    """Of the outputs known for each sentence ``[B, n]`` those nearest to the ones handed back ``[draws, B]``."""
    nearest = np.abs(known - training[:, :, None]).argmin(2)
    return np.asarray(known[np.arange(len(known))[None], nearest])


# ---- the training loop -------------------------------------------------------------------------------------


def _slices(count: int, size: int, start: int, end: int) -> list[list[int]]:
    """The batches of an epoch whose slices are moved at their two ends."""
    return [list(range(s + start, min(s + size + end, count))) for s in range(0, count, size)]


BATCHES: Mapping[str, Callable[[int, int], list[list[int]]]] = {  # sentences, batch size → an epoch's batches
    "all-data": lambda count, size: [list(range(count)) for _ in range(0, count, size)],
    "first-batch": lambda count, size: [list(range(size)) for _ in range(0, count, size)],
    "last-sentences": lambda count, size: [list(range(count - size, count)) for _ in range(0, count, size)],
    "overlapping": lambda count, size: _slices(count, size, 0, 1),
    "short-batches": lambda count, size: [row for row in _slices(count, size, 0, -1) if row],
    "late-batches": lambda count, size: [row for row in _slices(count, size, 1, 1) if row],
    "slice-to-the-size": lambda count, size: [list(range(s, max(size, s + 1))) for s in range(0, count, size)],
    "slice-from-the-start": lambda count, size: [list(range(min(s + size, count))) for s in range(0, count, size)],
    "one-sentence": lambda count, size: [[s] for s in range(0, count, size)],
    "constant-size": lambda count, size: [list(range(s, min(s + COURSE_BATCH, count))) for s in range(0, count, size)],
    "first-sentence-on-top": lambda count, size: [[*row, 0] for row in _slices(count, size, 0, 0)],
    "last-batch-dropped": lambda count, size: [row for row in _slices(count, size, 0, 0) if len(row) == size],
}


@dataclass(frozen=True)
class Found:
    """What was handed back of the steps.

    Attributes:
        loss: of each.
        seen: how often each epoch uses each sentence.
        foreign: of each, how many outputs came from another network than the one under training.
    """

    loss: Float
    seen: Float
    foreign: Float


@dataclass(frozen=True)
class Steps:
    """A loop's steps and what is right of them.

    Attributes:
        taken: the parameters and the sentences of each.
        mean: the mean embeddings of all training sentences.
        y: their labels.
        epochs: how many there are to be.
        size: of a batch, as it was asked for.
        right: what is right at these parameters, of these sentences.
        found: what was handed back.
    """

    taken: Sequence[Step]
    mean: Float
    y: Float
    epochs: int
    size: int
    right: Mapping[str, Array]
    found: Found

    def faults(self) -> Made:
        """By fault what it gives."""
        found = {name: dict(self._of(made)) for name, made in self._values().items()}
        found |= {name: {"seen": value} for name, value in self._batches()}
        for name, summed in (("step-once-an-epoch", False), ("step-once-an-epoch-summed", True)):
            made = dict(self._of(self._once_an_epoch(summed)))
            found[name] = {**made, "seen": self._matching("all-data", 1)}
        return {f"train-{name}": tensors for name, tensors in found.items()}

    def _batches(self) -> Iterator[tuple[str, Float]]:
        count = len(self.y)
        usual = _slices(count, self.size, 0, 0)
        for name, made in BATCHES.items():
            epoch = made(count, self.size)
            if epoch != usual:
                yield name, self._matching(name, len(epoch))

    def _matching(self, name: str, steps: int) -> Float:
        """The counts that were handed back, where they rest on the batches that a fault makes."""
        epoch = BATCHES[name](len(self.y), self.size)[:steps]
        same = [row.tolist() for _, row in self.taken] == epoch * self.epochs
        seen = self.found.seen
        return seen if same else np.full_like(seen, NO_STEPS)

    def _of(self, made: Sequence[tuple[float, Mapping[str, Float]]]) -> Iterator[tuple[str, Array]]:
        yield "loss", np.array([loss for loss, _ in made])
        for name in NAMES:
            yield "d" + name, np.array([derivatives[name] for _, derivatives in made])

    def _values(self) -> dict[str, list[tuple[float, Mapping[str, Float]]]]:
        """The losses and derivatives of faults that leave the batches as they are."""
        count = len(self.y)
        return {
            "backward-twice": self._scaled(2, 2),
            "loss-scaled": self._scaled(self.size, self.size),
            "loss-divided": self._scaled(1 / self.size, 1 / self.size),
            "loss-negated": self._scaled(-1, -1),
            "zeroed-too-late": self._scaled(1, 0) if self._loss_is_right() else self._nothing(),
            "other-network": self._without_derivatives() if self._is_foreign() else self._nothing(),
            "not-zeroed": self._piled_up(),
            "backward-of-output": [self._of_output(p, row) for p, row in self.taken],
            "labels-inverted": [loss_and_gradients(p, self.mean[row], 1 - self.y[row]) for p, row in self.taken],
            "labels-of-the-first": [
                loss_and_gradients(p, self.mean[row], self.y[np.arange(len(row)) % self.size]) for p, row in self.taken
            ],
            "labels-shifted": [
                loss_and_gradients(p, self.mean[row], self.y[(row + 1) % count]) for p, row in self.taken
            ],
        }

    def _one(self, number: int) -> tuple[float, dict[str, Float]]:
        """What is right of a step."""
        return float(self.right["loss"][number]), {n: np.asarray(self.right["d" + n][number], float) for n in NAMES}

    def _scaled(self, loss: float, derivatives: float) -> list[tuple[float, Mapping[str, Float]]]:
        ones = [self._one(k) for k in range(len(self.taken))]
        return [(loss * value, {n: derivatives * d for n, d in own.items()}) for value, own in ones]

    def _loss_is_right(self) -> bool:
        right = np.asarray(self.right["loss"], float)
        return self.found.loss.shape == right.shape and np.allclose(self.found.loss, right, rtol=SAME, atol=0)

    def _is_foreign(self) -> bool:
        return bool(self.found.foreign.size and self.found.foreign.all())

    def _without_derivatives(self) -> list[tuple[float, Mapping[str, Float]]]:
        """The losses that were handed back, and no derivatives."""
        return [(float(loss), zeros) for loss, (_, zeros) in zip(self.found.loss, self._scaled(1, 0), strict=False)]

    def _nothing(self) -> list[tuple[float, Mapping[str, Float]]]:
        """What equals nothing that is handed back."""
        return []

    def _piled_up(self) -> list[tuple[float, Mapping[str, Float]]]:
        found: list[tuple[float, Mapping[str, Float]]] = []
        for value, own in (self._one(k) for k in range(len(self.taken))):
            before = found[-1][1] if found else {}
            found.append((value, {name: d + before.get(name, 0.0) for name, d in own.items()}))
        return found

    def _of_output(self, p: Parameters, row: Numbers) -> tuple[float, Mapping[str, Float]]:
        out = output(p, self.mean[row])
        return float(out.sum()), gradients(p, self.mean[row], np.ones(len(row)))

    def _once_an_epoch(self, summed: bool) -> list[tuple[float, Mapping[str, Float]]]:
        """The loss over the batches of which each step is made; their derivatives, summed or of the last alone."""
        found: list[tuple[float, Mapping[str, Float]]] = []
        for p, row in self.taken:
            parts = [row[s : s + self.size] for s in range(0, len(row), self.size)]
            made = [loss_and_gradients(p, self.mean[part], self.y[part]) for part in parts]
            total = {name: np.asarray(sum(own[name] for _, own in (made if summed else made[-1:]))) for name in NAMES}
            found.append((float(sum(value for value, _ in made)), total))
        return found


def why_no_batch(rows: Sequence[Numbers]) -> str:
    """The fault that leaves a step without a batch."""
    empty = [len(row) == 0 for row in rows]
    if all(empty):
        return "train-no-backward"
    if empty[0] and not any(empty[1:]):
        return "train-step-before-backward"
    return "train-step-twice" if all(empty[1::2]) and not any(empty[::2]) else ""


# ---- the validation loop -----------------------------------------------------------------------------------


def validation(right: Mapping[str, Array], found: Mapping[str, Array], y_train: Float, epochs: int) -> Made:
    """By fault what it gives.

    Args:
        right: ``output``, ``label``, ``predicted`` and ``accuracy`` of each epoch as they should be.
        found: the same as they were handed back.
        y_train: the labels of the training data.
        epochs: how many there are.
    """
    own = np.array([right[f"accuracy.{k}"].item() for k in range(epochs)])
    told = np.array([found[f"accuracy.{k}"].item() for k in range(epochs)])
    accuracies = {
        "best-so-far": np.maximum.accumulate(own),
        "running-mean": own.cumsum() / np.arange(1, epochs + 1),
        "percent": 100 * own,
        "errors": 1 - own,
        "constant": _made_up(own, told[0]),
    }
    made: Made = {
        f"validate-{n}": {f"accuracy.{k}": v[k : k + 1] for k in range(epochs)} for n, v in accuracies.items()
    }
    y = right["label.0"].astype(np.float64)
    for name, labels in (("labels-inverted", 1 - y), ("labels-of-training", y_train[: len(y)])):
        made[f"validate-{name}"] = {f"label.{k}": labels for k in range(epochs)}
        for k in range(epochs):
            share = share_right(right[f"output.{k}"].astype(np.float64), labels)
            made[f"validate-{name}"][f"accuracy.{k}"] = np.array([share])
    return made


def _made_up(own: Float, told: float) -> Float:
    """One number for all epochs, which is the accuracy of none; what equals nothing where it is that of some."""
    near = np.isclose(own, told, rtol=0, atol=1e-5)
    return own if near.all() else np.full(len(own), np.nan if near.any() else told)


def why_so_many_accuracies(found: int, right: int) -> str:
    """The fault that leaves so many accuracies after an epoch."""
    return {0: "validate-not-appended", 2 * right: "validate-appended-twice"}.get(found, "")


def why_so_many_predictions(found: int, sizes: Mapping[str, int], epoch: int) -> str:
    """The fault that leaves so many predictions in an epoch, counted from 0.

    Args:
        found: how many there are.
        sizes: of the validation data (``val``), the training data (``train``) and a batch (``batch``).
        epoch: which epoch it is.
    """
    known = {
        0: "no-predictions",
        sizes["val"] // 2: "half",
        sizes["val"] // 2 + 1: "half",
        sizes["batch"]: "last-batch",
        (epoch + 1) * sizes["val"]: "never-cleared",
        sizes["train"]: "on-training-data",
    }
    return f"validate-{known[found]}" if found in known else ""
