"""Watching a training loop from under it: batches by their sentences, losses, gradients, parameters at each step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assignments.common.arrays import Array
from assignments.common.outcome import Wrong
from assignments.HW2.probes.parameters import array_of, registered, shape_of
from assignments.HW2.probes.recorded import MOST_STEPS

NAMES = ("w1", "b1", "w2", "b2")
STRANGE = -1  # the number of what is none of the sentences


def network_shapes(model: Any, dim: int) -> dict[str, tuple[int, ...]]:
    """The shapes of the two layers' parameters; the hidden size is the student's.

    Raises:
        Wrong: the model has other parameters.
    """
    shapes = [shape_of(p) for p in registered(model)]
    hidden = [s[1] for s in shapes if len(s) == 2 and s[0] == dim and (s[1],) in shapes]
    if not hidden or (hidden[0], 1) not in shapes or len(shapes) != 4:
        raise Wrong(f"the parameters of its network have the shapes {[list(s) for s in shapes]}")
    return {"w1": (dim, hidden[0]), "b1": (hidden[0],), "w2": (hidden[0], 1), "b2": (1,)}


def parameters_of(model: Any, shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    """The parameters by name."""
    left = registered(model)
    found = {}
    for name, shape in shapes.items():
        found[name] = next(p for p in left if shape_of(p) == shape)
        left = [p for p in left if p is not found[name]]
    return found


def reached_from(root: Any) -> set[int]:
    """The unique ids of all tensors that a tensor was computed from."""
    found: set[int] = set()
    waiting = [root]
    while waiting:
        tensor = waiting.pop()
        if tensor.unique_id not in found:
            found.add(tensor.unique_id)
            if tensor.history is not None:
                waiting += [t for t in tensor.history.inputs or () if hasattr(t, "unique_id")]
    return found


def patch_method(owner: Any, name: str, before: Callable[..., None]) -> None:
    """Calls ``before`` with the method's own arguments, each time before it runs."""
    original = getattr(owner, name)

    def patched(self: Any, *args: Any, **kwargs: Any) -> Any:
        before(self, *args, **kwargs)
        return original(self, *args, **kwargs)

    setattr(owner, name, patched)


@dataclass
class Step:
    """What an optimiser was handed: numbers of the sentences, loss, parameters and their derivatives.

    ``foreign``: how many outputs came from another network than the one under training.
    """

    batch: list[int]
    loss: float
    foreign: int
    parameters: dict[str, Array]
    gradients: dict[str, Array]


@dataclass
class Watch:
    """Records the steps of a loop.

    Attributes:
        sentences: number of each sentence by its bytes.
        parameters: those of the network under training, by name.
        steps: the record.
    """

    sentences: dict[bytes, int]
    parameters: dict[str, Any]
    steps: list[Step] = field(default_factory=list)
    _outputs: list[tuple[int, list[int]]] = field(default_factory=list)
    _batch: list[int] = field(default_factory=list)
    _loss: float = 0.0
    _foreign: int = 0
    _depth: int = 0

    def install(self, framework: Any, module: Any, model: Any) -> None:
        """Watches the model's forward, every backward, and every optimiser's step."""
        self._watch_forward(type(model), model)
        patch_method(framework.Tensor, "backward", self._backward)
        classes = [*vars(framework.optim).values(), *vars(module).values()]
        for cls in dict.fromkeys(c for c in classes if isinstance(c, type) and callable(vars(c).get("step"))):
            self._watch_step(cls)

    def _watch_forward(self, cls: Any, trained: Any) -> None:
        original = cls.forward

        def forward(model: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
            out = original(model, x, *args, **kwargs)
            if hasattr(out, "unique_id") and hasattr(x, "to_numpy"):
                self._outputs.append((out.unique_id, self._numbers(x)))
                self._foreign += model is not trained
            return out

        cls.forward = forward

    def _numbers(self, x: Any) -> list[int]:
        rows = np.ascontiguousarray(array_of(x), dtype=np.float32)
        return [self.sentences.get(row.tobytes(), STRANGE) for row in rows]

    def _backward(self, root: Any, *args: Any, **kwargs: Any) -> None:
        reached = reached_from(root)
        for out, numbers in self._outputs:
            if out in reached:
                self._batch += numbers
        self._outputs.clear()
        self._loss += float(array_of(root).sum())

    def _watch_step(self, cls: Any) -> None:
        original = cls.step

        def step(optimiser: Any, *args: Any, **kwargs: Any) -> Any:
            if self._depth == 0 and len(self.steps) < MOST_STEPS:
                self._record()
            self._depth += 1
            try:
                return original(optimiser, *args, **kwargs)
            finally:
                self._depth -= 1

        cls.step = step

    def _record(self) -> None:
        values = {name: array_of(p.value) for name, p in self.parameters.items()}
        gradients = {}
        for name, p in self.parameters.items():
            grad = p.value.grad
            gradients[name] = np.zeros_like(values[name]) if grad is None else np.array(grad.to_numpy())
        self.steps.append(Step(self._batch, self._loss, self._foreign, values, gradients))
        self._batch, self._loss, self._foreign = [], 0.0, 0

    def tensors(self) -> dict[str, Any]:
        """``batch`` [steps, longest] (padded with -2); ``loss``, ``foreign`` [steps]; ``w1`` … ``dw1`` … [steps, …]."""
        longest = max((len(s.batch) for s in self.steps), default=0)
        rows = [s.batch + [-2] * (longest - len(s.batch)) for s in self.steps]
        found: dict[str, Any] = {"batch": np.array(rows, np.int64).reshape(len(self.steps), longest)}
        found["loss"] = np.array([s.loss for s in self.steps], np.float64)
        found["foreign"] = np.array([s.foreign for s in self.steps], np.int64)
        for name in NAMES if self.steps else ():
            found[name] = np.array([s.parameters[name] for s in self.steps])
            found["d" + name] = np.array([s.gradients[name] for s in self.steps])
        return found
