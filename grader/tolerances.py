"""The tolerances: one file, a limit for every tensor of every check, each with its evidence."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from grader.data import Strict, load_yaml
from grader.errors import InfrastructureError
from grader.home import ROOT

PATH = ROOT / "tolerances.yaml"


class Evidence(Strict):
    """What the limit stands between, in the limit's own metric."""

    honest: float = Field(ge=0, description="largest error of any correct variant")
    honest_is: str = Field(default="", description="which variant that was")
    wrong: float | None = Field(gt=0, description="smallest error of any known wrong one; null: none known")
    wrong_is: str = Field(default="", description="which mistake that was")


class Limit(Strict):
    """A tensor's limit.

    ``scale: max`` bounds ``max|got - expected| / max|expected|`` by ``rtol``, with ``atol`` as a floor;
    ``scale: element`` bounds each ``|got - expected|`` by ``atol + rtol*|expected|``;
    ``scale: absolute`` bounds each by ``atol``.

    What equality cannot say:
    ``scale: order``: a list of node numbers is right if it holds each required node once, nothing else, and
    every edge's first node before its second; the expected tensor has a row ``(a, b)`` for each edge and
    ``(a, a)`` for each required node.
    ``scale: between``: the expected tensor has one axis more, of 2: the least and the greatest right value.
    ``scale: at_least``: no element is smaller than the expected one by more than ``atol``.
    ``scale: spread``: random values are right if their mean, their root mean square and their largest
    magnitude differ from those of the expected sample by at most ``rtol`` of its largest magnitude.
    """

    scale: Literal["max", "element", "absolute", "order", "between", "at_least", "spread"]
    rtol: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    atol: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    evidence: Evidence | None = None
    source: str = Field(default="", description="where a limit that was not measured comes from")

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if self.evidence is None and not self.source:
            raise ValueError("a limit needs its evidence, or its source")
        return self


class Tolerances(Strict):
    """``tolerances.yaml``: assignment → check → tensor → limit; ``official`` holds the handouts'.

    The order of a check's tensors is the one in which evidence is told.
    """

    measured: dict[str, dict[str, dict[str, Limit]]]
    official: dict[str, dict[str, dict[str, Limit]]]

    def limit(self, assignment: str, check: str, tensor: str, official: bool) -> Limit:
        """The limit of a tensor: its own, or the check's limit ``*``.

        Raises:
            InfrastructureError: there is none, so nothing could be said of the tensor.
        """
        table = self.official if official else self.measured
        try:
            limits = table[assignment][check]
            return limits[tensor] if tensor in limits else limits["*"]
        except KeyError:
            raise InfrastructureError(
                f"{PATH.name} has no limit for {assignment}, check {check}, tensor {tensor}"
            ) from None

    def in_order(self, assignment: str, check: str, tensors: Iterable[str], official: bool) -> list[str]:
        """The tensors in the order in which the check's limits stand in the file, others behind."""
        table = self.official if official else self.measured
        listed = list(table.get(assignment, {}).get(check, {}))
        return sorted(tensors, key=lambda name: listed.index(name) if name in listed else len(listed))


@cache
def load(path: Path = PATH) -> Tolerances:
    """The tolerances of this repository."""
    return load_yaml(path, Tolerances)
