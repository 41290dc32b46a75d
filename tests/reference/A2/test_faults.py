"""The fault dictionary: its formulas without a fault are the oracle; every fault is recognised from its tensors."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from grader import tolerances
from grader.cases import Case
from grader.fault_build import CheckFaults, Made
from grader.faults import Fault, Formula, together
from reference.A2 import cases, oracle
from reference.A2.faults import (
    attention,
    crossentropy,
    encoder,
    layernorm,
    matmul,
    pointwise,
    update,
    wiring,
    zero_grad,
)
from tests.grader.explain.support import explained, inputs_of, known, public_set, tensors_of

FORMULAS: dict[str, Formula] = {
    "zero_grad": zero_grad.zero_grad,
    "encoder_backward": encoder.encoder_backward,
    "layernorm_backward": layernorm.layernorm_backward,
    "matmul_backward": matmul.matmul_backward,
    "attention_backward": attention.attention_backward,
    "gelu_backward": pointwise.gelu_backward,
    "residual_backward": pointwise.residual_backward,
    "crossentropy_softmax_backward": crossentropy.crossentropy_softmax_backward,
    "gpt2_backward": lambda case, on: wiring.gpt2_backward(case),
    "gpt2_update": update.gpt2_update,
}
STATISTICS = 2e-6  # mean, rstd and att come to the formulas as float32, and the oracle works them out anew
BOTH_SETS = [*cases.build(2026), *cases.build(77, "another")]
FAULTS = list(known("A2").values())
# What no tensor tells from another mistake: dpreatt sums to zero over t2; 1/HS is 1/sqrt(HS) twice.
ALIKE = {
    "attention-scale-without-root": "attention-scale-twice",
    "attention-k-at-t": "attention-dq-missing",
    "attention-dk-at-t": "attention-dk-missing",
}


def test_there_are_faults_enough() -> None:
    assert len(FAULTS) >= 200
    assert {fault.check for fault in FAULTS} == {*FORMULAS, "no_targets"}
    assert all(fault.says and fault.hint for fault in FAULTS)
    assert not [fault.id for fault in FAULTS if fault.says.endswith(".") or fault.hint.endswith(".")]


@pytest.mark.parametrize("case", [c for c in BOTH_SETS if c.check in FORMULAS], ids=lambda case: case.id)
def test_a_formula_without_a_fault_is_the_oracle(case: Case) -> None:
    right, found = oracle.expected(case), FORMULAS[case.check](case, frozenset())
    for name, value in found.items():
        assert value.shape == right[name].shape
        largest = float(np.abs(right[name]).max())
        assert np.abs(value.astype(np.float64) - right[name]).max() <= STATISTICS * largest, name
    if case.check != "gpt2_backward" and found:
        assert found.keys() == right.keys()


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.formula], ids=lambda fault: fault.id)
def test_a_fault_is_recognised_from_its_own_tensors(fault: Fault) -> None:
    told = explained("A2", fault.check, tensors_of("A2", fault.id)).explanations
    assert [one.kind for one in told] == ["fault"], told
    assert told[0].fault == ALIKE.get(fault.id, fault.id)
    assert fault.says in told[0].text
    assert (told[0].hint != "") == (fault.hint != "")


PAIRS = [(a, b) for a, b in combinations(FAULTS, 2) if together(a, b)]
SAMPLED = PAIRS[::37]


def two_at_once(first: Fault, second: Fault) -> None:
    both = tensors_of("A2", first.id, second.id)
    told = explained("A2", first.check, both).explanations
    right = all(
        np.allclose(value, public_set_value(case, name), rtol=0, atol=1e-4 * scale(case, name), equal_nan=True)
        for case, tensors in both.items()
        for name, value in tensors.items()
    )
    assert right or told, "wrong, and nothing is said"
    assert all(one.fault for one in told), told


def public_set_value(case: str, name: str) -> NDArray[np.float64]:
    found = {entry.id: entry for entry in public_set("A2").cases(case.split("/")[0])}
    return np.asarray(found[case].expected[name], dtype=np.float64)


def scale(case: str, name: str) -> float:
    return float(np.abs(public_set_value(case, name)).max())


@pytest.mark.parametrize(("first", "second"), SAMPLED, ids=lambda fault: fault.id)
def test_two_faults_at_once_are_told_as_two(first: Fault, second: Fault) -> None:
    two_at_once(first, second)


@pytest.mark.slow
def test_every_two_faults_at_once_are_told() -> None:
    for first, second in PAIRS:
        two_at_once(first, second)


@pytest.mark.parametrize("seed", [77, 4321])
def test_another_set_tells_every_fault_from_right_code(seed: int) -> None:
    """Building it would be refused otherwise."""
    for check in FORMULAS:
        own = [fault for fault in FAULTS if fault.check == check]
        made: list[Made] = [(c, dict(oracle.expected(c))) for c in cases.build(seed, "another") if c.check == check]
        found = CheckFaults("A2", check, own, made, tolerances.load())
        assert all(any(tensors) for tensors in found.wrong)


def test_right_code_is_told_nothing() -> None:
    for check in FORMULAS:
        assert explained("A2", check, {}).explanations == []


def test_the_wiring_has_memory_for_every_call() -> None:
    """Wrong sizes may reach beyond a tensor, not beyond the memory."""
    case = inputs_of("A2")["gpt2_backward/deep"]
    for fault in wiring.FAULTS:
        assert all(np.isfinite(value).all() for value in fault.tensors(case).values()), fault.id
