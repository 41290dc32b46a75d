"""Building and verifying fixture sets: cases → oracle → files. The one place that needs torch."""

from __future__ import annotations

import hashlib
import importlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from grader import assignment as assignments
from grader import fixtures, tensorfile
from grader.cases import Array, Case
from grader.errors import InfrastructureError, UsageError

PUBLIC = "public"
PUBLIC_SEED = 2026
RECOMPUTED_WITHIN = 1e-9  # float64 sums in another order, by another torch


def reference(assignment_id: str, module: str) -> Any:  # noqa: ANN401 - a module, known by its contract alone
    """A module of ``reference/<ID>``.

    Raises:
        InfrastructureError: a package that it needs, torch most likely, is not installed.
    """
    try:
        return importlib.import_module(f"reference.{assignment_id}.{module}")
    except ModuleNotFoundError as error:
        raise InfrastructureError(
            f"building fixtures needs {error.name}, which is not installed;"
            " ./grade installs it for `fixtures` and `selftest`"
        ) from error


def secret_seed(path: Path) -> int:
    """A seed from a secret's bytes, so that the set cannot be made without it.

    Raises:
        UsageError: the file cannot be read, or holds too little to be a secret.
    """
    try:
        secret = path.read_bytes().strip()
    except OSError as error:
        raise UsageError(f"cannot read the seed file {path}: {error.strerror}") from error
    if len(secret) < 16:
        raise UsageError(f"the seed file {path} holds {len(secret)} bytes; a secret needs at least 16")
    return int.from_bytes(hashlib.sha256(secret).digest(), "big")


def build(
    assignment_id: str, name: str, seed_file: Path | None, out: Path | None, progress: Callable[[str], None]
) -> Path:
    """Builds a set and returns its folder; an older one of that name is replaced when all is there."""
    if (name == PUBLIC) != (seed_file is None):
        raise UsageError("a private set needs --set NAME and --seed-file FILE; the public one takes neither")
    seed = PUBLIC_SEED if seed_file is None else secret_seed(seed_file)
    folder = (out or fixtures.set_folder(assignment_id, name)).absolute()
    _replaceable(folder)
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    entries = []
    for case, expected, calls in computed(assignment_id, name, seed):
        progress(case.id)
        entries.append(_write_case(fresh, case, expected, calls))
    manifest = {
        "schema": fixtures.SCHEMA,
        "assignment": assignment_id,
        "set": name,
        "seed": seed if seed_file is None else None,
        "cases": entries,
    }
    (fresh / fixtures.MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    return folder


def _replaceable(folder: Path) -> None:
    """Refuses a folder that holds something else than a fixture set: building replaces all of it."""
    free = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    if not free and not (folder / fixtures.MANIFEST).is_file():
        raise UsageError(f"{folder} is there and is no fixture set; name a new folder")


def computed(
    assignment_id: str, variant: str, seed: int
) -> Iterator[tuple[Case, dict[str, Array], list[fixtures.Call] | None]]:
    """Every case with what the oracle says of it, and the right calls where its check has some."""
    checks = assignments.load(assignment_id).checks
    cases, oracle = reference(assignment_id, "cases"), reference(assignment_id, "oracle")
    for case in cases.build(seed, variant):
        calls = oracle.expected_calls(case.params) if checks[case.check].calls else None
        yield case, oracle.expected(case), calls


def _write_case(
    folder: Path, case: Case, expected: dict[str, Array], calls: list[fixtures.Call] | None
) -> dict[str, Any]:
    entry = fixtures.CaseEntry(id=case.id, params=dict(case.params), inputs="", expected="")
    files = fixtures.FixtureCase(folder, entry)
    tensorfile.write(files.inputs_path, dict(case.inputs))
    tensorfile.write(files.expected_path, expected)
    found: dict[str, Any] = {"id": case.id, "params": dict(case.params)}
    found["inputs"] = fixtures.sha256(files.inputs_path.read_bytes())
    found["expected"] = fixtures.sha256(files.expected_path.read_bytes())
    if calls is not None:
        files.calls_path.write_text(json.dumps(calls, indent=0) + "\n", encoding="utf-8")
        found["calls"] = fixtures.sha256(files.calls_path.read_bytes())
    return found


def verify(assignment_id: str, folder: Path, seed_file: Path | None) -> list[str]:
    """Checks the hashes, recomputes every case and compares; returns what is wrong, nothing if all is right."""
    loaded = fixtures.load(folder)
    seed = loaded.manifest.seed if seed_file is None else secret_seed(seed_file)
    if seed is None:
        raise UsageError(f"{folder} is a private set: verifying it needs --seed-file")
    stored = {entry.id: fixtures.FixtureCase(folder, entry) for entry in loaded.manifest.cases}
    problems = []
    for case, expected, calls in computed(assignment_id, loaded.manifest.set, seed):
        if case.id not in stored:
            problems.append(f"{case.id}: missing from the set")
            continue
        problems += _differences(stored.pop(case.id), case, expected, calls)
    return problems + [f"{left}: in the set, but no case makes it" for left in stored]


def _differences(
    stored: fixtures.FixtureCase, case: Case, expected: dict[str, Array], calls: list[fixtures.Call] | None
) -> list[str]:
    try:
        stored.check_inputs()
        inputs, known = tensorfile.read(stored.inputs_path), stored.expected
    except (InfrastructureError, tensorfile.TensorFileError) as error:
        return [f"{case.id}: {error}"]
    problems = [] if dict(case.params) == stored.entry.params else [f"{case.id}: other scalars"]
    if calls is not None and calls != stored.calls:
        problems.append(f"{case.id}: other calls")
    problems += _unequal(f"{case.id} inputs", inputs, dict(case.inputs), 0.0)
    return problems + _unequal(f"{case.id} expected", known, expected, RECOMPUTED_WITHIN)


def _unequal(what: str, stored: dict[str, Array], fresh: dict[str, Array], within: float) -> list[str]:
    if stored.keys() != fresh.keys():
        return [f"{what}: tensors {sorted(stored)} stored, {sorted(fresh)} computed"]
    wrong = [
        name
        for name, array in fresh.items()
        if stored[name].shape != array.shape
        or stored[name].dtype != array.dtype
        or not np.allclose(stored[name], array, rtol=within, atol=within * float(np.abs(array).max(initial=0)))
    ]
    return [f"{what}: {', '.join(wrong)} differ" for _ in wrong[:1]]
