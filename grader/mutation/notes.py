"""What was found by looking: mutants that cost nothing, and why they are right. ``reference/<ID>/mutants.yaml``."""

from __future__ import annotations

from pydantic import Field

from grader.assignment import Assignment
from grader.data import Strict, load_yaml
from grader.home import ROOT


class Note(Strict):
    """Mutants of one function that are right for one reason."""

    why: str = Field(min_length=1, description="one sentence: what makes them the reference in other words")
    ids: list[str] = Field(min_length=1, description="the mutants, as `./grade mutate` names them")


class Notes(Strict):
    """The file."""

    notes: list[Note]

    def why(self, mutant: str) -> str:
        """Why a mutant is right; empty: nobody has looked."""
        return next((note.why for note in self.notes if mutant in note.ids), "")


def load(assignment: Assignment) -> Notes:
    """The notes of an assignment; none where it has no such file."""
    path = ROOT / "reference" / assignment.id / "mutants.yaml"
    return load_yaml(path, Notes) if path.is_file() else Notes(notes=[])
