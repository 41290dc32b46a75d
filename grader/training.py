"""The checks that train for real: their progress, how long they go on, and the data that the user has imported."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.assignment import Assignment
from grader.engine import Follow
from grader.errors import UsageError
from grader.fixtures import load
from grader.home import cache_folder
from grader.options import Options
from grader.progress import News, Progress

FIXTURE = "fixture"
LONG = 1e12  # a loss may well go beyond all bounds, and is then not told


def data_folder(assignment_id: str) -> Path:
    """Where imported data lies."""
    return cache_folder().parent / "data" / assignment_id


def data_module(assignment_id: str) -> Any:  # noqa: ANN401 (a module)
    """``assignments/<ID>/data.py``.

    Raises:
        UsageError: the assignment trains on no data.
    """
    try:
        return importlib.import_module(f"assignments.{assignment_id}.data")
    except ModuleNotFoundError as error:
        raise UsageError(f"{assignment_id} has no data to import") from error


def with_training(assignment: Assignment, options: Options, wanted: bool, full: bool, progress: Progress) -> Options:
    """The options with the assignment's training checks set up, or left out."""
    options = replace(options, full=full)
    names = [name for name, check in assignment.checks.items() if check.training]
    if not wanted or not names:
        return replace(options, training=wanted)
    changed = dict(options.changed_checks)
    for name in names:
        settings = {**assignment.checks[name].options, "full": "yes" if full else "no"}
        changed[name] = assignment.checks[name].model_copy(update={"options": settings})
    follow = {**options.follow, **{name: follower(name, progress) for name in names}}
    return _with_imported(assignment, replace(options, changed_checks=changed, follow=follow), names)


def _with_imported(assignment: Assignment, options: Options, names: list[str]) -> Options:
    """The options with imported data in place of the assignment's own, where there is some."""
    folder = data_folder(assignment.id)
    if not (folder / FIXTURE).is_dir():
        return options
    imported = load(folder / FIXTURE)
    cases = {name: imported.cases(name)[0] for name in names}
    files = {
        name: {o: str(folder / Path(p).name) for o, p in options.changed_checks[name].files.items()} for name in names
    }
    changed = {
        name: check.model_copy(update={"options": {**check.options, "data": imported.manifest.set}})
        for name, check in options.changed_checks.items()
        if name in names
    }
    return replace(
        options,
        replaced={**options.replaced, **cases},
        probe_options={**options.probe_options, **files},
        changed_checks={**options.changed_checks, **changed},
    )


def follower(name: str, progress: Progress) -> Follow:
    """Tells of each epoch that a training run reports."""

    def follow(entry: Mapping[str, object]) -> None:
        told = {key: value for key, value in entry.items() if isinstance(value, int | float) and _is_short(value)}
        if {"run", "epoch", "loss", "accuracy"} <= told.keys():
            progress(News("said", name, _line(told)))

    return follow


def _is_short(value: float) -> bool:
    """Whether a number can be told in a line; the submission can write what it likes, e.g. one of 400 digits."""
    return not LONG <= abs(value) < math.inf


def _line(told: Mapping[str, int | float]) -> str:
    of = f"/{told['epochs']:.0f}" if "epochs" in told else ""
    left = f", {told['left']:.0f} s left at most" if "left" in told else ""
    where = f"run {told['run']:.0f}, epoch {told['epoch']:.0f}{of}"
    return f"{where}: loss {told['loss']:.3f}, validation accuracy {told['accuracy']:.0%}{left}"
