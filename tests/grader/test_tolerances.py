"""Every tensor that is judged has a limit, and every limit says where it comes from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from grader import assignment as assignments
from grader import fixtures, tolerances
from grader.errors import InfrastructureError
from grader.fixtures import FixtureCase
from grader.tolerances import Evidence, Limit

TABLE = tolerances.load()


def every_limit() -> Iterator[tuple[str, Limit]]:
    for table in (TABLE.measured, TABLE.official):
        for name, checks in table.items():
            for check, tensors in checks.items():
                for tensor, limit in tensors.items():
                    yield f"{name}/{check}/{tensor}", limit


def every_case() -> Iterator[tuple[str, FixtureCase]]:
    for name in assignments.known_ids():
        folder = fixtures.set_folder(name, "public")
        if (folder / fixtures.MANIFEST).is_file():
            stored = fixtures.load(folder)
            yield from ((name, FixtureCase(folder, entry)) for entry in stored.manifest.cases)


@pytest.mark.parametrize(("name", "case"), [pytest.param(*c, id=f"{c[0]}-{c[1].id}") for c in every_case()])
def test_every_expected_tensor_has_a_limit(name: str, case: FixtureCase) -> None:
    assignment = assignments.load(name)
    judging = [c for c, check in assignment.checks.items() if case.entry.check in (c, check.cases_of)]
    assert judging, f"no check of {name} looks at {case.id}"
    for check_id in judging:
        check = assignment.checks[check_id]
        for tensor in () if check.derive else case.expected:
            assert TABLE.limit(name, check_id, tensor, check.official).scale


@pytest.mark.parametrize(("name", "limit"), [pytest.param(*found, id=found[0]) for found in every_limit()])
def test_a_limit_has_its_evidence_or_its_source(name: str, limit: Limit) -> None:
    assert limit.evidence is not None or limit.source
    assert max(limit.rtol, limit.atol) < 1
    if limit.evidence is not None:
        bound = 1.0 if limit.scale == "element" else limit.rtol or limit.atol
        assert limit.evidence.honest <= bound
        assert limit.evidence.wrong is None or limit.evidence.wrong > bound


def test_a_limit_without_either_is_refused() -> None:
    with pytest.raises(ValidationError, match="needs its evidence, or its source"):
        Limit.model_validate({"scale": "max", "rtol": 1e-4})


@pytest.mark.parametrize("name", ["rtol", "atol"])
def test_a_negative_limit_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        Limit.model_validate({"scale": "max", name: -1e-4, "source": "x"})


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_limit_that_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValidationError):
        Limit.model_validate({"scale": "max", "rtol": value, "source": "x"})


def test_evidence_of_a_harmless_mistake_is_refused() -> None:
    with pytest.raises(ValidationError):
        Evidence.model_validate({"honest": 0.0, "wrong": 0.0})


@pytest.mark.parametrize("path", [("A3", "c", "t"), ("A2", "c", "t"), ("A2", "gelu_backward", "t")])
def test_what_has_no_limit_is_not_judged(path: tuple[str, str, str]) -> None:
    with pytest.raises(InfrastructureError, match=r"tolerances\.yaml has no limit for"):
        TABLE.limit(*path, official=False)


def test_a_measured_limit_does_not_stand_in_for_an_official_one() -> None:
    assert TABLE.limit("A2", "gelu_backward", "dinp", official=False).rtol > 0
    with pytest.raises(InfrastructureError):
        TABLE.limit("A2", "gelu_backward", "dinp", official=True)


def test_evidence_comes_in_the_order_of_the_file() -> None:
    flow = ["dlnfw", "dfcprojw", "dqkvb", "dln1w", "dwpe", "dwte", "logits"]
    assert TABLE.in_order("A2", "gpt2_backward", [*sorted(flow), "other"], official=False) == [*flow, "other"]
    assert TABLE.in_order("A2", "no_such_check", ["b", "a"], official=False) == ["b", "a"]
    whole = TABLE.in_order("A2", "ten_steps", sorted([*flow, "losses"]), official=True)
    assert whole == ["losses", "logits", *flow[:-1]]
