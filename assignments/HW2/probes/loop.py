"""Probes of the training and the validation loop: the student's `train` on a few sentences, watched."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from assignments.common import arrays
from assignments.common.outcome import Unwritten, Wrong, is_empty, run
from assignments.common.probe_io import Job, Report
from assignments.HW2.probes import load
from assignments.HW2.probes.parameters import array_of, set_by_shape
from assignments.HW2.probes.watch import Watch, network_shapes, parameters_of

Status = dict[str, Any]
Case = dict[str, Any]

MOST_PREDICTIONS = 1000


def _without_dropout(framework: Any) -> None:
    """Dropout passes everything on: its masks would be random."""
    for owner in (framework, framework.nn):
        owner.dropout = lambda input, rate=0.0, ignore=False: input


def _call(function: Callable[..., Any], known: dict[str, Any], positional: tuple[str, ...] = ()) -> Any:
    """Calls with those of the known arguments that the function takes, by name."""
    try:
        accepted = dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        accepted = {}
    if any(p.kind is p.VAR_KEYWORD for p in accepted.values()):
        return function(**known)
    given = {name: known[name] for name in accepted if name in known}
    if any(name not in accepted for name in positional):
        return function(*(known[name] for name in positional))
    return function(**given)


class Loop:
    """One run of `SentenceSentimentTrain.train` on the case's sentences.

    With ``validate``, validation data is given; with ``whole``, no more training sentences than whole batches have.
    """

    def __init__(self, job: Job, case: Case, validate: bool = True, whole: bool = False) -> None:
        self.framework = load.minitorch(job)
        _without_dropout(self.framework)
        self.module = load.sentiment(job)
        self.params = case["params"]
        self.given = arrays.read(case["inputs"])
        if whole:
            count = len(self.given["y_train"])
            for name in ("x_train", "y_train"):
                self.given[name] = self.given[name][: count - count % self.params["batch_size"]]
        self.known = self._arguments(validate)
        trainer = self.module.SentenceSentimentTrain
        self.trainer = _call(trainer, self.known) if "__init__" in vars(trainer) else trainer()
        self.model = self._model()
        self.epochs: list[dict[str, Any]] = []
        self.watch = self._watch()

    def _arguments(self, validate: bool) -> dict[str, Any]:
        data = {n: (self._sentences(n), self.given[f"y_{n}"].astype(int).tolist()) for n in ("train", "val")}
        rate, epochs = float(self.params["learning_rate"]), self.params["epochs"]
        return {
            "data_train": data["train"],
            "learning_rate": rate,
            "lr": rate,
            "batch_size": self.params["batch_size"],
            "max_epochs": epochs,
            "epochs": epochs,
            "data_val": data["val"] if validate else None,
            "log_fn": self._log,
        }

    def _sentences(self, name: str) -> list[list[list[float]]]:
        sentences: list[list[list[float]]] = self.given[f"x_{name}"].tolist()
        return sentences

    def _model(self) -> Any:
        candidates = [getattr(self.trainer, "model", None), *vars(self.trainer).values()]
        model = next((c for c in candidates if isinstance(c, self.framework.Module)), None)
        if model is None:
            raise Wrong("SentenceSentimentTrain has no attribute `model` with the network")
        if model.dropout_prob is not None:
            model.dropout_prob = 0.0
        return model

    def _watch(self) -> Watch:
        """The watch over the network, whose parameters are set to larger values than the initial ones."""
        shapes = network_shapes(self.model, self.given["x_train"].shape[2])
        rng = np.random.default_rng(self.params["seed"])
        values = {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
        values["w2"] *= self.params.get("scale", 1)
        set_by_shape(self.model, values, self.framework, self.module.BACKEND)
        rows = [row for name in ("train", "val") for row in self.given[f"x_{name}"]]
        sentences = {np.ascontiguousarray(row, np.float32).tobytes(): i for i, row in enumerate(rows)}
        watch = Watch(sentences, parameters_of(self.model, shapes))
        watch.install(self.framework, self.module, self.model)
        return watch

    def train(self) -> None:
        """Runs the student's loop."""
        function = self.trainer.train
        if is_empty(getattr(function, "__func__", function)):
            raise Unwritten("SentenceSentimentTrain.train is empty")
        self.module.default_log_fn = self._log  # for a `train` that takes no log_fn
        _call(function, self.known, ("data_train",))

    def _log(self, *args: Any, **kwargs: Any) -> None:
        """What `train` reports of an epoch, with the parameters as they are."""
        names = ("epoch", "train_loss", "train_accuracy", "validation_predictions", "validation_accuracy")
        told = {**dict(zip(names, args, strict=False)), **kwargs}
        accuracies = list(told.get("validation_accuracy") or [])
        epoch = {name: array_of(p.value) for name, p in self.watch.parameters.items()}
        epoch["predictions"] = np.array(list(_triples(told.get("validation_predictions"))), np.float64).reshape(-1, 3)
        epoch["accuracies"] = np.array([_number(a) for a in accuracies], np.float64)
        self.epochs.append(epoch)
        if self.params.get("turns"):
            self._turn()

    def _turn(self) -> None:
        """Turns the network's answers round: what was positive is negative."""
        for name in ("w2", "b2"):
            parameter = self.watch.parameters[name]
            value = (-array_of(parameter.value)).tolist()
            parameter.update(self.framework.tensor(value, backend=self.module.BACKEND, requires_grad=True))


def _triples(predictions: Any) -> Iterator[tuple[float, float, float]]:
    """(label, predicted label, output) of each prediction, from lists nested in any way."""
    waiting = [predictions]
    for _ in range(MOST_PREDICTIONS):
        if not waiting:
            return
        entry = waiting.pop(0)
        if not isinstance(entry, list | tuple):
            continue
        if len(entry) == 3 and not any(isinstance(part, list | tuple) for part in entry):
            yield _number(entry[0]), _number(entry[1]), _number(entry[2])
        else:
            waiting = [*entry, *waiting]


def _number(value: Any) -> float:
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    return float(np.asarray(value, np.float64).reshape(-1)[0])


def probe_training(job: Job, case: Case) -> Status:
    """What every step of the loop hands to the optimiser.

    ``refused`` alone is handed back where the case allows that, and the loop raises on a last batch that is not whole.
    """
    status = _trained(job, case, whole=False)
    if status["status"] != "raised" or not case["params"].get("rest_may_raise"):
        return status
    if _trained(job, case, whole=True)["status"] != "ok":
        return status
    arrays.write(case["out"], {"refused": np.ones(1)})
    return {"status": "ok"}


def _trained(job: Job, case: Case, whole: bool) -> Status:
    """The loop's status; it is run without validation, where that is what raises."""

    def work(report: Report, validate: bool = True) -> None:
        loop = Loop(job, case, validate, whole)
        try:
            loop.train()
        finally:
            report.send(steps=len(loop.watch.steps))
            arrays.write(case["out"], loop.watch.tensors())

    status = run(job, case, work)
    if status["status"] in ("raised", "not_implemented"):
        alone = run(job, case, lambda report: work(report, validate=False))
        return alone if alone["status"] == "ok" else status
    return status


def probe_validation(job: Job, case: Case) -> Status:
    """What the loop reports of each epoch: ``predictions.<k>`` [sentences, 3], ``accuracies.<k>``, parameters."""

    def work(report: Report) -> None:
        loop = Loop(job, case)
        loop.train()
        found = {f"{name}.{k}": value for k, epoch in enumerate(loop.epochs) for name, value in epoch.items()}
        arrays.write(case["out"], {**found, "epochs": np.array([len(loop.epochs)])})

    return run(job, case, work)
