"""No limit stands without evidence, or with less than a factor 5 to right code or to wrong code."""

from __future__ import annotations

import pytest

from grader import assignment as assignments
from grader import tolerances
from grader.calibration.limits import Written, is_exact, nominal
from grader.calibration.measure import FACTOR, Measured
from grader.tolerances import Limit

TEXT = tolerances.PATH.read_text("utf-8")
LIMITS = [
    pytest.param(assignment, place.check, place.tensor, id=f"{assignment.id}.{place.name}")
    for assignment in map(assignments.load, assignments.known_ids())
    for place in Written(TEXT, assignment.id).places
]


def problems(assignment: assignments.Assignment, check: str, tensor: str, limit: Limit) -> list[str]:
    """What speaks against a limit, by the evidence in the file."""
    if limit.evidence is None:
        return [] if is_exact(limit) else ["it has no evidence"]
    unit = nominal(limit)
    wrong = {} if limit.evidence.wrong is None else {limit.evidence.wrong_is: limit.evidence.wrong / unit}
    place = next(p for p in Written(TEXT, assignment.id).places if (p.check, p.tensor) == (check, tensor))
    judged = tensor not in assignment.checks[check].context
    return Measured(place, limit, judged, {"right code": limit.evidence.honest / unit}, wrong).problems


@pytest.mark.parametrize(("assignment", "check", "tensor"), LIMITS)
def test_a_limit_has_evidence_and_room(assignment: assignments.Assignment, check: str, tensor: str) -> None:
    limit = tolerances.load().measured[assignment.id][check][tensor]
    assert problems(assignment, check, tensor, limit) == []


def test_a_limit_without_either_is_refused() -> None:
    a2 = assignments.load("A2")
    limit = tolerances.load().measured["A2"]["gelu_backward"]["dinp"]
    assert limit.evidence is not None
    bare = limit.model_copy(update={"evidence": None, "source": "a guess"})
    near = limit.model_copy(update={"rtol": limit.evidence.honest * (FACTOR - 0.1)})
    far = limit.model_copy(update={"rtol": (limit.evidence.wrong or 0.0) / (FACTOR - 0.1)})
    for changed, says in ((bare, "no evidence"), (near, "right code"), (far, "wrong code")):
        assert any(says in text for text in problems(a2, "gelu_backward", "dinp", changed))
