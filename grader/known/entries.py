"""Reading the files that hold known submissions."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from grader.errors import InfrastructureError
from grader.home import ROOT

NAME = r"^[a-z0-9]+(-[a-z0-9]+)*$"
MISTAKES, VARIANTS = "mistakes.yaml", "variants.yaml"


class Entry(BaseModel):
    """Base of an entry: frozen, unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str


Kind = TypeVar("Kind", bound=Entry)


def folder(assignment_id: str) -> Path:
    """Where an assignment's files lie."""
    return ROOT / "reference" / assignment_id


def load(path: Path, kind: type[Kind]) -> list[Kind]:
    """The entries of a file.

    Raises:
        InfrastructureError: the file cannot be read, an entry does not fit, or two bear one name.
    """
    try:
        entries = [kind.model_validate(entry) for entry in yaml.safe_load(path.read_bytes())]
    except (OSError, yaml.YAMLError, ValidationError, TypeError) as error:
        raise InfrastructureError(f"{path} cannot be used: {error}") from error
    names = [entry.name for entry in entries]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InfrastructureError(f"{path}: two entries bear the name {', '.join(twice)}")
    return entries
