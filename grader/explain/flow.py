"""Where in a model a gradient goes wrong first: the tensors in the order in which the gradient reaches them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from grader.explain.observed import Observed
from grader.explain.wrong import WrongTensor
from grader.fixtures import Call


@dataclass(frozen=True)
class Stop:
    """A tensor, or a layer's part of it, on the gradient's way."""

    tensor: str
    layer: int | None = None

    def __str__(self) -> str:
        return self.tensor if self.layer is None else f"{self.tensor} of layer {self.layer}"


@dataclass(frozen=True)
class FirstWrong:
    """The first stop that is wrong.

    Attributes:
        stop: itself.
        before: the one before it, which is right.
        all_behind: whether all behind it are wrong too.
        writer: the function that fills it.
    """

    stop: Stop
    before: Stop | None
    all_behind: bool
    writer: str


def first_wrong(observed: Observed, wrong: Sequence[WrongTensor], calls: Sequence[Call]) -> FirstWrong | None:
    """Where the gradient goes wrong, in the case with most layers; None where tensors have no layers."""
    cases = {one.case.id: one for tensor in wrong for one in tensor.cases}
    layered = [name for name in observed.tensors() if _layered(observed, name)]
    if not layered or not cases:
        return None
    case = max(cases, key=lambda name: (observed.cases[name].expected[layered[0]].shape[0], name))
    bad = {tensor.name: one for tensor in wrong for one in tensor.cases if one.case.id == case}
    stops = list(_stops(observed, case, layered))
    is_wrong = [
        bool(stop.tensor in bad and np.any(bad[stop.tensor].wrong[... if stop.layer is None else stop.layer]))
        for stop in stops
    ]
    if not any(is_wrong):
        return None
    at = is_wrong.index(True)
    return FirstWrong(stops[at], stops[at - 1] if at else None, all(is_wrong[at:]), _writer(stops[at], calls))


def _layered(observed: Observed, tensor: str) -> bool:
    axes = observed.assignment.axes.get(tensor, [])
    details = observed.assignment.axis_details
    return bool(axes) and axes[0] in details and details[axes[0]].passed_last_first


def _stops(observed: Observed, case: str, layered: Sequence[str]) -> Iterator[Stop]:
    """The stops in order: what comes before the layers, each layer from the last, what comes behind them."""
    names = observed.tensors()
    first, last = names.index(layered[0]), names.index(layered[-1])
    yield from (Stop(name) for name in names[:first])
    depth = observed.cases[case].expected[layered[0]].shape[0]
    for layer in reversed(range(depth)):
        yield from (Stop(name, layer) for name in names[first : last + 1])
    yield from (Stop(name) for name in names[last + 1 :])


def _writer(stop: Stop, calls: Sequence[Call]) -> str:
    """The function whose right call fills a gradient: ``dfcw`` is ``fcw`` among the arguments that begin with ``d``."""
    name = stop.tensor.removeprefix("d") + (f"[l={stop.layer}]" if stop.layer is not None else "")
    for call in calls:
        for argument, value in call["args"].items():
            if argument.startswith("d") and str(value).rsplit(".", 1)[-1] == name:
                return str(call["function"])
    return ""
