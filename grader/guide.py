"""What a row asks for, in words: ``assignments/<ID>/rows.yaml``, beside the assignment and the limits."""

from __future__ import annotations

from pydantic import Field, RootModel, model_validator

from grader.assignment import Assignment, Row
from grader.data import Strict, load_yaml
from grader.errors import InfrastructureError
from grader.fixtures import FaultText
from grader.tolerances import Limit, Tolerances

FILE = "rows.yaml"
LONGEST = 76  # characters of a formula's line, for a terminal of 80


class Guide(Strict):
    """A row in words."""

    asks: str = Field(min_length=1, description="what is asked for, in some sentences")
    formula: str = Field(min_length=1, description="plain text, lines as they are to stand")
    mistakes: list[str] = Field(min_length=1, description="told where the fixture set has no dictionary")


class Guides(RootModel[dict[str, Guide]]):
    """All rows of an assignment."""

    @model_validator(mode="after")
    def _bounded(self) -> Guides:
        for row, guide in self.root.items():
            if long := next((line for line in guide.formula.splitlines() if len(line) > LONGEST), None):
                raise ValueError(f"row `{row}`: a line of the formula is longer than {LONGEST} characters: {long}")
        return self


def of_rows(assignment: Assignment) -> dict[str, Guide]:
    """The guides by row.

    Raises:
        InfrastructureError: a row has none, or there is one for no row.
    """
    path = assignment.folder / FILE
    found = load_yaml(path, Guides).root
    rows = {row.id for row in assignment.rows}
    if odd := sorted(rows ^ found.keys()):
        raise InfrastructureError(f"{path}: its rows are not those of the assignment: {', '.join(odd)}")
    return found


def limits(assignment: Assignment, check_id: str, tolerances: Tolerances) -> dict[str, list[str]]:
    """What is allowed in a check, in words, and the tensors of which it is; `every tensor` for the rest."""
    check = assignment.checks[check_id]
    table = tolerances.official if check.official else tolerances.measured
    found: dict[str, list[str]] = {}
    for tensor, limit in table[assignment.id][check_id].items():
        if tensor not in check.context:
            found.setdefault(in_words(limit), []).append("every other tensor" if tensor == "*" else tensor)
    return found


def in_words(limit: Limit) -> str:
    """A limit as a sentence's end."""
    if limit.scale == "max":
        return f"within {limit.rtol:g} of the tensor's largest element"
    if limit.scale == "element":
        return f"each element within {limit.rtol:g} of itself"
    if limit.scale == "absolute":
        return f"each element within {limit.atol:g}" if limit.atol else "exactly"
    return WORDS[limit.scale]


WORDS = {
    "order": "each node once, and before those that it was computed from",
    "between": "between the least and the greatest right value",
    "at_least": "at least as large as asked for",
    "spread": "spread like a right sample: mean, root mean square, largest magnitude",
}


def mistakes(row: Row, faults: list[FaultText]) -> list[tuple[str, list[str]]]:
    """The known mistakes of a row by their hint, in the dictionary's order."""
    found: dict[str, list[str]] = {}
    for fault in faults:
        if fault.row == row.id:
            found.setdefault(fault.hint, []).append(fault.says)
    return list(found.items())
