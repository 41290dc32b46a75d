"""Probe of the loss, over the reference's automatic differentiation."""

from __future__ import annotations

from typing import Any

import numpy as np

from assignments.common import arrays
from assignments.common.outcome import Unwritten, Wrong, is_empty, run
from assignments.common.probe_io import Job, Report
from assignments.HW2.probes import load
from assignments.HW2.probes.parameters import array_of, other_values


def probe_loss(job: Job, case: dict[str, Any]) -> dict[str, Any]:
    """``loss`` [1] of outputs and labels, and ``dout`` [batch], its derivative by the outputs."""

    def work(report: Report) -> None:
        module, framework = load.sentiment(job), load.minitorch(job)
        function = module.binary_cross_entropy_loss
        given = arrays.read(case["inputs"])
        out = framework.tensor(given["out"].tolist(), backend=module.BACKEND, requires_grad=True)
        y = framework.tensor(given["y"].tolist(), backend=module.BACKEND)
        function(framework.tensor(other_values(given["out"]), backend=module.BACKEND), y)
        value = function(out, y)
        if value is None and is_empty(function):
            raise Unwritten("binary_cross_entropy_loss is empty")
        if not hasattr(value, "to_numpy"):
            raise Wrong(f"binary_cross_entropy_loss returns {type(value).__name__}, should be a tensor")
        arrays.write(case["out"], _found(value, out))

    return run(job, case, work)


def _found(value: Any, out: Any) -> dict[str, Any]:
    loss = array_of(value)
    found: dict[str, Any] = {"loss": loss.reshape(1) if loss.size == 1 else loss}
    if loss.size == 1 and not value.is_constant():
        value.backward(value.zeros() + 1.0)
        if out.grad is not None:
            found["dout"] = np.array(out.grad.to_numpy())
    return found
