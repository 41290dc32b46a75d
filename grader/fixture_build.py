"""Building and verifying fixture sets: cases → oracle and faults → files. The one place that needs torch."""

from __future__ import annotations

import hashlib
import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grader import assignment as assignments
from grader import fault_build, faults, fixtures, tensorfile, tolerances
from grader.cases import Array, Case
from grader.errors import InfrastructureError, UsageError
from grader.fault_tensors import Stored, pack

PUBLIC_SEED = 2026
RECOMPUTED_WITHIN = 1e-9  # float64 sums in another order, by another torch
ROUNDED_WITHIN = 1e-6  # the same, kept as float32


def reference(assignment_id: str, module: str) -> Any:  # noqa: ANN401 - a module, known by its contract alone
    """A module of ``reference/<ID>``.

    Raises:
        InfrastructureError: a package that it needs, torch most likely, is not installed.
    """
    try:
        found = importlib.import_module(f"reference.{assignment_id}.{module}")
    except ModuleNotFoundError as error:
        raise InfrastructureError(
            f"building fixtures needs {error.name}, which is not installed;"
            " ./grade installs it for `fixtures` and `selftest`"
        ) from error
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)  # so that sums are in one order, whatever the machine; see reference/__init__.py
    return found


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
    if (name == fixtures.PUBLIC) != (seed_file is None):
        raise UsageError("a private set needs --set NAME and --seed-file FILE; the public one takes neither")
    seed = PUBLIC_SEED if seed_file is None else secret_seed(seed_file)
    if not fixtures.NAME.fullmatch(name):
        raise UsageError(f"--set: `{name}` is no name of a set: letters, digits, hyphens")
    folder = (out or fixtures.set_folder(assignment_id, name)).absolute()
    _replaceable(folder, name)
    if seed_file is not None:
        _kept_out_of_git(folder)
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    made = Computed.of(assignment_id, name, seed, progress)
    entries = [_write_case(fresh, made, *one) for one in made.cases]
    manifest = {
        "schema": fixtures.SCHEMA,
        "assignment": assignment_id,
        "set": name,
        "seed": seed if seed_file is None else None,
        **_write_dictionary(fresh, made),
        "cases": entries,
    }
    (fresh / fixtures.MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    return folder


def _replaceable(folder: Path, name: str) -> None:
    """Refuses a folder that holds something else than this fixture set: building replaces all of it."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not (folder / fixtures.MANIFEST).is_file():
        raise UsageError(f"{folder} is there and is no fixture set; name a new folder")
    if (held := fixtures.load(folder).manifest.set) != name:
        raise UsageError(f"{folder} holds the set `{held}`; name another folder")


def _kept_out_of_git(folder: Path) -> None:
    """Refuses a folder that git would take in: whoever has the repository would have the private set."""
    above = next((parent for parent in folder.parents if parent.is_dir()), folder)
    try:
        asked = ["git", "-C", str(above), "check-ignore", "--quiet", str(folder / fixtures.MANIFEST)]
        seen = subprocess.run(asked, capture_output=True, check=False).returncode == 1
    except OSError:  # no git
        return
    if seen:
        raise UsageError(f"{folder} lies in a git repository that does not ignore it; name a folder outside of it")


@dataclass(frozen=True)
class Computed:
    """All that a set holds.

    Attributes:
        cases: each with what the oracle says of it, and the right calls where its check has some.
        faults: what the known mistakes give, by case.
        dictionary: the same in words; none: the assignment has no faults.
    """

    cases: list[tuple[Case, dict[str, Array], list[fixtures.Call] | None]]
    faults: dict[str, Stored]
    dictionary: fixtures.Dictionary | None

    @classmethod
    def of(cls, assignment_id: str, variant: str, seed: int, progress: Callable[[str], None]) -> Computed:
        """Computes a set.

        Raises:
            InfrastructureError: a fault cannot be told from right code.
        """
        checks = assignments.load(assignment_id).checks
        cases, oracle = reference(assignment_id, "cases"), reference(assignment_id, "oracle")
        made = []
        for case in cases.build(seed, variant):
            progress(case.id)
            calls = oracle.expected_calls(case.params) if checks[case.check].calls else None
            made.append((case, oracle.expected(case), calls))
        known = faults.load(assignment_id)
        progress(f"{len(known)} known mistakes")
        stored, additive = fault_build.of_all(assignment_id, known, [one[:2] for one in made], tolerances.load())
        return cls(made, stored, fault_build.dictionary(known, additive) if known else None)

    def fault_tensors(self, case: Case) -> dict[str, Array]:
        """The known mistakes' tensors of a case, as they are kept."""
        return pack(self.faults.get(case.id, Stored()))


def _write_case(
    folder: Path, made: Computed, case: Case, expected: dict[str, Array], calls: list[fixtures.Call] | None
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
    if wrong := made.fault_tensors(case):
        tensorfile.write(files.faults_path, wrong)
        found["faults"] = fixtures.sha256(files.faults_path.read_bytes())
    return found


def _write_dictionary(folder: Path, made: Computed) -> dict[str, str]:
    if made.dictionary is None:
        return {}
    path = folder / "expected" / fixtures.DICTIONARY
    path.write_text(_text(made.dictionary), encoding="utf-8")
    return {"faults": fixtures.sha256(path.read_bytes())}


def _text(dictionary: fixtures.Dictionary) -> str:
    """The dictionary as it is kept: a line for each fault, a line for each check's pairs."""
    lines = [json.dumps(fault.model_dump(exclude_defaults=True)) for fault in dictionary.faults]
    pairs = [f"{json.dumps(check)}: {json.dumps(found)}" for check, found in dictionary.additive.items()]
    return '{"faults": [\n' + ",\n".join(lines) + '\n],\n"additive": {\n' + ",\n".join(pairs) + "\n}}\n"


def verify(assignment_id: str, folder: Path, seed_file: Path | None) -> list[str]:
    """Checks the hashes, recomputes every case and compares; returns what is wrong, nothing if all is right."""
    loaded = fixtures.load(folder)
    seed = loaded.manifest.seed if seed_file is None else secret_seed(seed_file)
    if seed is None:
        raise UsageError(f"{folder} is a private set: verifying it needs --seed-file")
    stored = {entry.id: fixtures.FixtureCase(folder, entry) for entry in loaded.manifest.cases}
    problems = []
    made = Computed.of(assignment_id, loaded.manifest.set, seed, lambda text: None)
    for case, expected, calls in made.cases:
        if case.id not in stored:
            problems.append(f"{case.id}: missing from the set")
            continue
        problems += _differences(stored.pop(case.id), case, expected, calls, made.fault_tensors(case))
    problems += [f"{left}: in the set, but no case makes it" for left in stored]
    return problems + _other_dictionary(loaded, made.dictionary)


def _other_dictionary(loaded: fixtures.FixtureSet, fresh: fixtures.Dictionary | None) -> list[str]:
    try:
        same = loaded.dictionary == (fresh or fixtures.Dictionary())
    except InfrastructureError as error:
        return [str(error)]
    return [] if same else ["the set's fault dictionary is not the reference's"]


def _differences(
    stored: fixtures.FixtureCase,
    case: Case,
    expected: dict[str, Array],
    calls: list[fixtures.Call] | None,
    wrong: dict[str, Array],
) -> list[str]:
    try:
        stored.check_inputs()
        inputs, known, mistakes = tensorfile.read(stored.inputs_path), stored.expected, pack(stored.faults)
    except (InfrastructureError, tensorfile.TensorFileError) as error:
        return [f"{case.id}: {error}"]
    problems = [] if dict(case.params) == stored.entry.params else [f"{case.id}: other scalars"]
    if calls is not None and calls != stored.calls:
        problems.append(f"{case.id}: other calls")
    problems += _unequal(f"{case.id} inputs", inputs, dict(case.inputs), 0.0)
    problems += _unequal(f"{case.id} expected", known, expected, RECOMPUTED_WITHIN)
    return problems + _unequal(f"{case.id} faults", mistakes, wrong, ROUNDED_WITHIN)


def _unequal(what: str, stored: dict[str, Array], fresh: dict[str, Array], within: float) -> list[str]:
    if stored.keys() != fresh.keys():
        return [f"{what}: tensors {sorted(stored)} stored, {sorted(fresh)} computed"]
    wrong = [
        name
        for name, array in fresh.items()
        if stored[name].shape != array.shape
        or stored[name].dtype != array.dtype
        or not np.allclose(stored[name], array, rtol=within, atol=within * _largest(array), equal_nan=True)
    ]
    return [f"{what}: {', '.join(wrong)} differ" for _ in wrong[:1]]


def _largest(array: Array) -> float:
    """The largest finite magnitude."""
    values = np.abs(array.astype(np.float64))
    return float(values[np.isfinite(values)].max(initial=0.0))
