"""What one epoch takes on each backend: the reference's network, timed in the sandbox."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grader.cuda.asked import CUDA
from grader.cuda.settings import Settings
from grader.engine import Built, CaseInput
from grader.progress import News

if TYPE_CHECKING:
    from grader.run import Run

SPEED = "speed"


def key(backend: str) -> str:
    """The name of a backend's time in a result's ``timing``."""
    return f"one epoch on {backend}"


def measure(run: Run, built: Built, settings: Settings, on_cuda: bool) -> dict[str, float]:
    """Seconds of an epoch by backend, one after the other; a backend that does not come to an end is left out."""
    run.grading.progress(News("begun", SPEED))
    backends = [name for name in settings.speed.batches if on_cuda or name != CUDA]
    found = {name: _seconds(run, built, settings, name) for name in backends}
    return {name: seconds for name, seconds in found.items() if seconds is not None}


def _seconds(run: Run, built: Built, settings: Settings, backend: str) -> float | None:
    check = settings.check(SPEED, SPEED, settings.speed.support)
    case = CaseInput(SPEED, {"batches": settings.speed.batches[backend]}, run.engine.stage)
    support = {name: run.support(name) for name in check.support}
    probed = run.engine.probe(f"{SPEED}-{backend}", check, built, [case], support, backend=backend)
    seconds = probed.statuses.get(SPEED, {}).get("seconds")
    return float(seconds) if isinstance(seconds, float) and math.isfinite(seconds) and seconds > 0 else None
