"""How long one epoch takes on a backend: the reference's network and loss, sentences of random numbers, Adam."""

from __future__ import annotations

import random
import time
from typing import Any

from assignments.common.probe_io import Job, Report, in_own_process
from assignments.HW2.probes import load

Case = dict[str, Any]
SENTENCES, BATCH, WORDS, DIM, HIDDEN, RATE = 450, 10, 52, 50, 32, 0.025
"""The embedded corpus, in the batches of the starter's settings."""


def probe_speed(job: Job, case: Case) -> dict[str, Any]:
    """``seconds`` of all batches of an epoch, from as many ``batches`` as the case asks for."""

    def work(report: Report) -> None:
        step, count = _stepper(job), int(case["params"]["batches"])
        if count > 1:  # the first one takes longer, which is nothing to a slow backend
            step()
        began = time.perf_counter()
        for _ in range(count):
            step()
        report.send(seconds=(time.perf_counter() - began) / count * SENTENCES / BATCH)

    ending = in_own_process(work, job.limits["case_s"])
    told = ending.merged()
    return {"status": ending.status, "code": ending.code, "seconds": told.get("seconds"), "error": told.get("error")}


def _stepper(job: Job) -> Any:
    """What trains on one batch."""
    framework: Any = load.minitorch(job)
    parts = load.reference(job, "network")
    random.seed(0)
    network = parts.Network(embedding_dim=DIM, hidden_dim=HIDDEN, dropout_prob=0.5)
    optimiser = framework.Adam(network.parameters(), lr=RATE)
    backend = framework.TensorBackend(framework.CudaKernelOps)
    x = [[[random.gauss(0, 1) for _ in range(DIM)] for _ in range(WORDS)] for _ in range(BATCH)]
    y = [float(random.randint(0, 1)) for _ in range(BATCH)]

    def step() -> None:
        optimiser.zero_grad()
        batch = framework.tensor(x, backend=backend, requires_grad=True)
        loss = parts.binary_cross_entropy_loss(network.forward(batch), framework.tensor(y, backend=backend))
        loss.view(1).backward()
        optimiser.step()

    return step
