"""The training run: the student's main block, with its own settings, on local data; weights after each epoch."""

from __future__ import annotations

import contextlib
import importlib
import os
import random
import re
import runpy
import sys
import time
from functools import partial
from types import FrameType
from typing import Any

import numpy as np

from assignments.common import arrays
from assignments.common.importing import to_scratch
from assignments.common.outcome import Wrong, run
from assignments.common.probe_io import Job, Report, append_line
from assignments.HW2.probes import load, sentences
from assignments.HW2.probes.parameters import array_of
from assignments.HW2.probes.watch import NAMES, network_shapes, parameters_of, patch_method

SAVE_EVERY = 25  # epochs: what a run that is stopped in the middle leaves behind
EPOCH = re.compile(r"\b(?:epoch|accuracy|loss)\b", re.IGNORECASE)  # what programs print when one has ended
PRINTED = re.compile(r"[Vv]alid\w* accuracy\D{0,3}(\d+(?:\.\d+)?) ?%")


class Validation:
    """The validation sentences, to know when a run can stop; the judge computes for itself."""

    def __init__(self, files: dict[str, str]) -> None:
        train, validation = (sentences.read_split(files[name]) for name in ("train", "validation"))
        vectors = sentences.read_vectors(files["words"], files["vectors"])
        self.x = sentences.means(validation.sentences[:100], vectors, sentences.longest(train, validation))
        self.y = np.array(validation.labels[:100])

    @property
    def dim(self) -> int:
        """The size of an embedding."""
        return int(self.x.shape[1])

    def accuracy(self, weights: dict[str, arrays.Array]) -> float:
        """The share of sentences on the right side, dropout off."""
        hidden = np.maximum(self.x @ weights["w1"] + weights["b1"], 0)
        return float((((hidden @ weights["w2"] + weights["b2"])[:, 0] > 0) == (self.y > 0)).mean())


class Recorder:
    """Takes the network's weights whenever an epoch has ended: evaluation, or the next epoch, begins."""

    def __init__(self, job: Job, case: dict[str, Any], number: int, report: Report) -> None:
        self.job, self.case, self.number, self.report = job, case, number, report
        self.validation = Validation(job.options)
        self.bar = float(job.options["bar"])
        self.most = int(job.options["most_epochs"])
        self.full = job.options.get("full") == "yes"
        self.weights: list[dict[str, arrays.Array]] = []
        self.printed: list[float] = []
        self.losses: list[float] = []
        self.started = time.monotonic()
        self.problem = ""
        self.model: Any = None
        self.asking = False

    def install(self, framework: Any) -> None:
        """Watches the framework; the student's code is not loaded yet."""
        for method in ("eval", "train"):
            patch_method(framework.Module, method, self._epoch_ended)
        patch_method(framework.Module, "parameters", self._remember)
        patch_method(framework.Tensor, "backward", self._backward)

    def _backward(self, root: Any, *_: Any, **__: Any) -> None:
        if root.size == 1:
            self.losses.append(float(root.item()))

    def _remember(self, model: Any, *_: Any, **__: Any) -> None:
        """The network that an optimiser is made for: some programs never call ``train`` or ``eval``."""
        if model is self.model or self.asking:  # finding the shapes asks for the parameters, too
            return
        self.asking = True
        with contextlib.suppress(Wrong):
            network_shapes(model, self.validation.dim)
            self.model = model
        self.asking = False

    def look(self) -> None:
        """Takes what has come since the last epoch, where a sign of the program's says that one has ended."""
        if self.model is not None:
            self._epoch_ended(self.model)

    def _epoch_ended(self, model: Any, *_: Any, **__: Any) -> None:
        try:
            shapes = network_shapes(model, self.validation.dim)
        except Wrong as error:
            self.problem = self.problem or str(error)
            return
        weights = {name: array_of(p.value) for name, p in parameters_of(model, shapes).items()}
        before = self.weights[-1] if self.weights else None
        if not self.losses or (before is not None and all(np.array_equal(before[n], weights[n]) for n in NAMES)):
            return
        if before is not None and any(before[n].shape != weights[n].shape for n in NAMES):
            self.weights.clear()  # another network of the same program: its record begins anew
            self.printed.clear()
        if len(self.weights) < self.most:
            self._take(weights)

    def _take(self, weights: dict[str, arrays.Array]) -> None:
        self.weights.append(weights)
        self.printed.append(float("nan"))
        accuracy = self.validation.accuracy(weights)
        self._tell(accuracy)
        self.losses.clear()
        if accuracy >= self.bar:
            self.report.send(reached=True)
        if accuracy >= self.bar and not self.full:
            self.save()
            self.report.end()
            os._exit(0)  # the rest of the training changes nothing
        if len(self.weights) % SAVE_EVERY == 0:
            self.save()

    def _tell(self, accuracy: float) -> None:
        epoch, seconds = len(self.weights), time.monotonic() - self.started
        line: dict[str, Any] = {"run": self.number + 1, "epoch": epoch, "accuracy": accuracy, "seconds": seconds}
        line["loss"] = sum(self.losses) / len(self.losses)
        if epochs := _epochs(sys._getframe()):
            line.update(epochs=epochs, left=seconds / epoch * (epochs - epoch))
        append_line(os.path.join(self.job.out, "progress.jsonl"), line)

    def heard(self, text: str) -> None:
        """What the program prints: an accuracy belongs to the epoch that has ended last."""
        if EPOCH.search(text):
            self.look()
        if self.printed and (found := PRINTED.search(text)) and np.isnan(self.printed[-1]):
            self.printed[-1] = float(found[1]) / 100

    def save(self) -> None:
        """Writes the weights of all epochs, ``w1`` [epochs, …] and so on, and the accuracies that were printed."""
        if self.weights:
            stacked = {name: np.array([w[name] for w in self.weights], np.float32) for name in NAMES}
            arrays.write(self.case["out"], {**stacked, "printed": np.array(self.printed)})


def _epochs(frame: FrameType | None) -> int | None:
    """The student's own number of epochs, where a function under way calls it so."""
    while frame is not None:
        value = frame.f_locals.get("max_epochs")
        if isinstance(value, int) and value > 0:
            return value
        frame = frame.f_back
    return None


class Heard:
    """Standard output that is listened to, and otherwise dropped: programs print megabytes."""

    encoding = "utf-8"

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def write(self, text: str) -> int:
        """Listens."""
        self.recorder.heard(text)
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""

    def isatty(self) -> bool:
        """No."""
        return False


def _train(job: Job, case: dict[str, Any], number: int, report: Report) -> None:
    """One run of the main block."""
    importlib.import_module("localdata").FILES.update(job.options)  # of the stand-ins
    seed = int(case["params"]["seed"]) + number
    random.seed(seed)
    np.random.seed(seed)
    recorder = Recorder(job, case, number, report)
    recorder.install(load.minitorch(job))
    to_scratch(job)
    path = os.path.join(job.stage, load.FILES["sentiment"])
    sys.argv = [path]
    try:
        with contextlib.redirect_stdout(Heard(recorder)):
            runpy.run_path(path, run_name="__main__")
    except SystemExit as error:
        if error.code:
            raise
    finally:
        recorder.look()
        recorder.save()
    if not recorder.weights:
        raise Wrong(f"the main block ends without training a network; {recorder.problem}".rstrip("; "))


def probe_run(job: Job, case: dict[str, Any]) -> dict[str, Any]:
    """``w1.<run>`` [epochs, dim, hidden] and so on: the weights of up to three runs with seeds of their own.

    The first run that reaches the bar, by its own account, is the last.
    """
    found: dict[str, arrays.Array] = {}
    for number in range(int(case["params"]["runs"])):
        out = f"{case['out']}.{number}"
        one = {**case, "out": out}
        status = run(job, one, partial(_train, job, one, number))
        if not os.path.exists(out):
            return status if not found else _handed_back(case, found, status)
        found |= {f"{name}.{number}": value for name, value in arrays.read(out).items()}
        if status["status"] != "ok" or status.get("reached"):
            return _handed_back(case, found, status)
    return _handed_back(case, found, {})


def _handed_back(case: dict[str, Any], found: dict[str, arrays.Array], last: dict[str, Any]) -> dict[str, Any]:
    """What was recorded counts, however the last run ended; how it ended is told."""
    arrays.write(case["out"], found)
    advice = [f"the main block did not end well: {last['detail']}"] if last.get("detail") else []
    return {"status": "ok", "advice": advice}
