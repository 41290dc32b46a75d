"""A fixture set on disk: inputs and expected apart, a manifest with hashes; checked when it is read."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from grader import tensorfile
from grader.cases import Array
from grader.data import Strict
from grader.errors import InfrastructureError, UsageError
from grader.fault_tensors import Stored, unpack
from grader.home import ROOT

SCHEMA = "tensorgrade/fixtures/1"
MANIFEST = "manifest.json"
DICTIONARY = "faults.json"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")  # of a set: the name of its folder, and no way to another
PUBLIC = "public"

Call = dict[str, Any]


class CaseEntry(Strict):
    """A case in the manifest: scalars, and the hashes of its files (sha256, hex)."""

    id: str
    params: dict[str, int | float]
    inputs: str
    expected: str
    calls: str | None = None
    faults: str | None = None

    @property
    def check(self) -> str:
        """The check that the case belongs to."""
        return self.id.split("/")[0]


class FaultText(Strict):
    """A known mistake in words: see `grader.faults.Fault`."""

    id: str
    row: str
    check: str
    says: str
    hint: str
    at: str = ""


class Dictionary(Strict):
    """``expected/faults.json``: the set's fault dictionary; the tensors lie beside those of each case.

    ``additive``: by check, pairs of its faults, by number, that together do what each does alone.
    """

    faults: list[FaultText] = Field(default_factory=list)
    additive: dict[str, list[list[int]]] = Field(default_factory=dict)

    def of_check(self, check: str) -> list[FaultText]:
        """The faults of a check, in the order that their numbers mean."""
        return [fault for fault in self.faults if fault.check == check]


class Manifest(Strict):
    """``manifest.json`` of a set; ``seed`` is absent from private sets, ``faults`` where it has no dictionary."""

    schema_: Literal["tensorgrade/fixtures/1"]
    assignment: str
    set: str
    seed: int | None
    cases: list[CaseEntry]
    faults: str | None = None

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if len({case.id for case in self.cases}) != len(self.cases):
            raise ValueError("two cases bear the same id")
        return self


@dataclass(frozen=True)
class FixtureCase:
    """One case of a set, its files read and checked on demand."""

    folder: Path
    entry: CaseEntry

    @property
    def id(self) -> str:
        """``<check>/<name>``."""
        return self.entry.id

    @property
    def inputs_path(self) -> Path:
        """The tensor file that the sandbox may read."""
        return self.folder / "inputs" / f"{self.id}.safetensors"

    @property
    def expected_path(self) -> Path:
        """The tensor file that it may not."""
        return self.folder / "expected" / f"{self.id}.safetensors"

    @property
    def calls_path(self) -> Path:
        """The right order of calls, for the checks that have one."""
        return self.folder / "expected" / f"{self.id}.calls.json"

    @property
    def faults_path(self) -> Path:
        """The tensors of the known mistakes."""
        return self.folder / "expected" / f"{self.id}.faults.safetensors"

    def check_inputs(self) -> None:
        """Compares the input file with its hash."""
        _checked(self.inputs_path, self.entry.inputs)

    @cached_property
    def expected(self) -> dict[str, Array]:
        """The expected tensors, float64."""
        return _tensors(self.expected_path, self.entry.expected)

    @cached_property
    def faults(self) -> Stored:
        """What the known mistakes give, as far as it is wrong."""
        return unpack(_tensors(self.faults_path, self.entry.faults)) if self.entry.faults else Stored()

    @cached_property
    def calls(self) -> list[Call]:
        """The right calls, or none."""
        if self.entry.calls is None:
            return []
        calls: list[Call] = json.loads(_checked(self.calls_path, self.entry.calls))
        return calls


def sha256(blob: bytes) -> str:
    """The hash as hex."""
    return hashlib.sha256(blob).hexdigest()


def _damaged(path: Path, what: str) -> InfrastructureError:
    return InfrastructureError(f"fixture {path} is damaged ({what}); restore it, e.g. git checkout {path}")


def _checked(path: Path, expected: str) -> bytes:
    try:
        blob = path.read_bytes()
    except OSError as error:
        raise _damaged(path, error.strerror or "cannot be read") from error
    if sha256(blob) != expected:
        raise _damaged(path, "its hash is not the manifest's")
    return blob


def _tensors(path: Path, expected: str) -> dict[str, Array]:
    _checked(path, expected)
    try:
        return tensorfile.read(path)
    except tensorfile.TensorFileError as error:
        raise _damaged(path, str(error)) from error


@dataclass(frozen=True)
class FixtureSet:
    """A fixture set, ready for grading."""

    folder: Path
    manifest: Manifest
    digest: str

    def cases(self, check: str) -> list[FixtureCase]:
        """The cases of a check, in the manifest's order."""
        return [FixtureCase(self.folder, entry) for entry in self.manifest.cases if entry.check == check]

    @property
    def public(self) -> bool:
        """Whether its values may be shown."""
        return self.manifest.set == PUBLIC

    @property
    def dictionary_path(self) -> Path:
        """The known mistakes in words."""
        return self.folder / "expected" / DICTIONARY

    @cached_property
    def dictionary(self) -> Dictionary:
        """The known mistakes; none where the set has no dictionary."""
        if self.manifest.faults is None:
            return Dictionary()
        blob = _checked(self.dictionary_path, self.manifest.faults)
        try:
            return Dictionary.model_validate_json(blob)
        except ValidationError as error:
            raise _damaged(self.dictionary_path, str(error)) from error

    def require(self, minimum: dict[str, int]) -> None:
        """Refuses a set that holds fewer cases of a check than it needs: nothing passes in a vacuum."""
        for check, least in minimum.items():
            if (found := len(self.cases(check))) < least:
                raise InfrastructureError(
                    f"fixture set {self.folder} holds {found} cases of check `{check}`, needs {least};"
                    f" rebuild it: ./grade fixtures build {self.manifest.assignment}"
                )


def set_folder(assignment: str, name: str) -> Path:
    """Where a named set lies."""
    return ROOT / "fixtures" / assignment / name


def asked_for(assignment: str, folder: Path | None) -> FixtureSet:
    """The set in a folder, or the public one.

    Raises:
        UsageError: there is none, or it is another assignment's.
        InfrastructureError: it is damaged.
    """
    if folder is not None and folder.is_dir() and not (folder / MANIFEST).exists():
        raise UsageError(f"there is no fixture set at {folder}: no {MANIFEST}")
    found = load(folder or set_folder(assignment, PUBLIC))
    if found.manifest.assignment != assignment:
        raise UsageError(f"{found.folder} holds fixtures of {found.manifest.assignment}")
    return found


def load(folder: Path) -> FixtureSet:
    """Reads a set's manifest.

    Raises:
        UsageError: there is no such folder.
        InfrastructureError: it is damaged.
    """
    path = folder / MANIFEST
    if not folder.is_dir():
        raise UsageError(f"there is no fixture set at {folder}; build it: ./grade fixtures build")
    try:
        blob = path.read_bytes()
        content = json.loads(blob)
        content["schema_"] = content.pop("schema", None)
        return FixtureSet(folder.absolute(), Manifest.model_validate(content), sha256(blob))  # boxes start elsewhere
    except (OSError, ValueError, AttributeError, TypeError, ValidationError) as error:
        raise _damaged(path, str(error)) from error
