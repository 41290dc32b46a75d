"""The limits as they stand in ``tolerances.yaml``: where each is written, and writing evidence beside it.

One limit may be that of several checks (YAML's ``&`` and ``*``), and of all tensors of a check that have none of their
own (``*``): what is seen of any of them is evidence for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import yaml

from grader.tolerances import Evidence, Limit

ANY = "*"  # the limit of the tensors of a check that have none of their own
MEASURED = "measured"


@dataclass(frozen=True, order=True)
class Place:
    """A limit in the file.

    Attributes:
        start: the first character of its mapping.
        end: the one behind its last.
        check: the check under which it is written.
        tensor: its tensor, or ``*``.
    """

    start: int
    end: int
    check: str
    tensor: str

    @property
    def name(self) -> str:
        """As tables show it."""
        return f"{self.check}.{self.tensor}"


class Written:
    """The measured limits of an assignment, as written.

    Attributes:
        text: the whole file.
    """

    def __init__(self, text: str, assignment: str) -> None:
        self.text = text
        checks = _mapping(_mapping(yaml.compose(text, Loader=yaml.SafeLoader))[MEASURED]).get(assignment)
        nodes = [(c, t, node) for c, limits in _mapping(checks).items() for t, node in _mapping(limits).items()]
        known: dict[int, Place] = {}
        self._places: dict[tuple[str, str], Place] = {}
        for check, tensor, node in nodes:
            start, end = node.start_mark.index, node.end_mark.index
            self._places[check, tensor] = known.setdefault(start, Place(start, end, check, tensor))

    @property
    def places(self) -> list[Place]:
        """Every limit once, in the order of the file."""
        return sorted(set(self._places.values()))

    def place(self, check: str, tensor: str) -> Place | None:
        """The limit of a tensor; None where it has none."""
        return self._places.get((check, tensor)) or self._places.get((check, ANY))

    def with_evidence(self, found: Mapping[Place, Evidence]) -> str:
        """The file with this evidence; all else, comments too, stays as it is."""
        text = self.text
        for place in sorted(found, reverse=True):
            written = text[place.start : place.end]
            text = text[: place.start] + _with_evidence(written, found[place]) + text[place.end :]
        return text


def _mapping(node: yaml.Node | None) -> dict[str, yaml.Node]:
    return {key.value: value for key, value in node.value} if isinstance(node, yaml.MappingNode) else {}


def _with_evidence(limit: str, evidence: Evidence) -> str:
    """A limit's text, the evidence in place of what stood there."""
    node = yaml.compose(limit, Loader=yaml.SafeLoader)
    assert isinstance(node, yaml.MappingNode)
    spans = {key.value: (key.start_mark.index, value.end_mark.index) for key, value in node.value}
    text = f"evidence: {_evidence(evidence)}"
    for name in ("evidence", "source"):
        if name in spans:
            start, end = spans[name]
            return limit[:start] + text + limit[end:]
    last = max(end for _, end in spans.values())
    return limit[:last] + f", {text}" + limit[last:]


def _evidence(evidence: Evidence) -> str:
    parts = [f"honest: {evidence.honest:.1e}"]
    parts += [f"honest_is: {_scalar(evidence.honest_is)}"] if evidence.honest_is else []
    parts.append(f"wrong: {'null' if evidence.wrong is None else format(evidence.wrong, '.1e')}")
    parts += [f"wrong_is: {_scalar(evidence.wrong_is)}"] if evidence.wrong_is else []
    return "{" + ", ".join(parts) + "}"


def _scalar(text: str) -> str:
    """A text as it may stand in a flow mapping."""
    plain = all(c.isalnum() or c in " -_" for c in text) and text[0].isalnum()
    return text if plain else "'" + text.replace("'", "''") + "'"


def nominal(limit: Limit) -> float:
    """The limit as a number in its own metric; of one that allows a share at each element, 1."""
    if limit.scale == "element":
        return 1.0
    return limit.rtol if limit.scale in ("max", "spread") else limit.atol


def is_exact(limit: Limit) -> bool:
    """Whether it leaves no room at all, or is what a definition says: there is nothing to measure."""
    return limit.scale == "order" or (limit.rtol == limit.atol == 0) or limit.source.startswith("exact")


def limits_of(measured: Mapping[str, Mapping[str, Limit]], places: Iterable[Place]) -> dict[Place, Limit]:
    """The limits that stand at some places."""
    return {place: measured[place.check][place.tensor] for place in places}
