"""Looking wrong tensors up: one mistake, two at once, one in each of several outputs, and nothing that is not so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from grader.cases import Array
from grader.explain.dictionary import Lookup, Match
from grader.explain.observed import Float
from grader.fault_tensors import Stored
from grader.fixtures import Dictionary, FaultText
from tests.grader.explain.support import Made, Tensors, explained, known, observed_of, tensors_of

RNG = np.random.default_rng(11)
RIGHT: dict[str, Float] = {"dx": RNG.uniform(1, 2, 20), "dw": RNG.uniform(1, 2, 12)}


def fault(name: str, check: str = "probe") -> FaultText:
    return FaultText(id=name, row="first", check=check, says=f"{name} is made", hint="")


FIRST: dict[str, Float] = {"dx": RIGHT["dx"] * RNG.uniform(2, 3, 20)}
SECOND: dict[str, Float] = {"dw": RIGHT["dw"] * RNG.uniform(2, 3, 12)}
BOTH_TENSORS: dict[str, Float] = {name: value * RNG.uniform(2, 3, value.size) for name, value in RIGHT.items()}
FAULTS: dict[str, dict[str, Array]] = {
    name: dict(own) for name, own in (("first", FIRST), ("second", SECOND), ("both", BOTH_TENSORS))
}


def matches(*got: Tensors, additive: Sequence[tuple[int, int]] = (), pairs: Tensors | None = None) -> list[Match]:
    """What is found where each case handed this back; every case has the same right tensors and faults."""
    texts = Dictionary(faults=[fault(name) for name in FAULTS], additive={"probe": [list(p) for p in additive]})
    observed = observed_of(*(Made({**RIGHT, **one}, RIGHT) for one in got), dictionary=texts)
    for case in observed.cases.values():
        stored = {name: {(0, 1): value.astype(np.float64)} for name, value in (pairs or {}).items()}
        object.__setattr__(case, "stored", Stored(FAULTS, stored))
    return Lookup(observed).matches()


def ids(found: Sequence[Match]) -> list[tuple[str, ...]]:
    return [tuple(fault.id for fault in match.faults) for match in found]


def test_one_mistake() -> None:
    assert ids(matches(FIRST, FIRST)) == [("first",)]
    assert ids(matches(BOTH_TENSORS)) == [("both",)]
    assert matches(BOTH_TENSORS)[0].tensors == ("dx", "dw")
    assert matches(BOTH_TENSORS)[0].whole


def test_within_the_limit() -> None:
    assert ids(matches({"dx": FIRST["dx"] * (1 + 2e-5)})) == [("first",)]
    assert ids(matches({"dx": FIRST["dx"] * (1 + 5e-4)})) == []


def test_in_every_case() -> None:
    assert ids(matches(FIRST, {})) == [], "right in a case where the mistake would show"
    assert ids(matches(FIRST, {"dx": RIGHT["dx"] * 1.5})) == []


def test_in_one_of_several_outputs() -> None:
    found = matches({"dx": BOTH_TENSORS["dx"]})
    assert (ids(found), found[0].tensors, found[0].whole) == ([("both",)], ("dx",), False)
    found = matches({"dx": BOTH_TENSORS["dx"], "dw": RIGHT["dw"] * 1.7})
    assert (ids(found), found[0].tensors) == ([("both",)], ("dx",))


def test_a_mistake_in_each_output() -> None:
    assert ids(matches({**FIRST, **SECOND})) == [("first",), ("second",)]
    assert ids(matches({**FIRST, **SECOND}, additive=[(0, 1)])) == [("first", "second")]


def test_two_at_once_by_their_sum() -> None:
    total = {"dx": FIRST["dx"] + BOTH_TENSORS["dx"] - RIGHT["dx"], "dw": BOTH_TENSORS["dw"]}
    assert ids(matches(total, additive=[(0, 2)])) == [("first", "both")]
    assert ids(matches(total)) == [("both",)], "in dw alone, where the sum is not known to be what comes out"


def test_two_at_once_by_what_is_kept_of_them() -> None:
    together = {"dx": RIGHT["dx"] * RNG.uniform(4, 5, 20), "dw": RIGHT["dw"] * RNG.uniform(4, 5, 12)}
    assert ids(matches(together, pairs=together)) == [("first", "second")]
    assert ids(matches({"dx": together["dx"] * 1.01, "dw": together["dw"] * 1.01}, pairs=together)) == []


def test_another_checks_mistakes_are_not_looked_at() -> None:
    texts = Dictionary(faults=[fault("first", check="other")])
    observed = observed_of(Made({**RIGHT, **FIRST}, RIGHT), dictionary=texts)
    for case in observed.cases.values():
        object.__setattr__(case, "stored", Stored({"first": FAULTS["first"]}))
    assert Lookup(observed).matches() == []


def test_nan_equals_nan() -> None:
    broken = RIGHT["dx"].copy()
    broken[3] = np.nan
    texts = Dictionary(faults=[fault("nan")])
    for got, named in ((broken, True), (np.where(np.isnan(broken), 1.0, broken), False)):
        observed = observed_of(Made({**RIGHT, "dx": got}, RIGHT), dictionary=texts)
        for case in observed.cases.values():
            object.__setattr__(case, "stored", Stored({"nan": {"dx": broken}}))
        assert bool(Lookup(observed).matches()) == named


# ---- on A2's own ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("layernorm-first-reduction-missing", "layernorm-dinp-assigned"),
        ("layernorm-dweight-assigned", "layernorm-dbias-assigned"),
        ("attention-no-scale", "attention-softmax-without-sum"),
        ("attention-strict-values", "attention-dk-missing"),
        ("gelu-without-the-three", "gelu-assigned"),
        ("crossentropy-sign", "crossentropy-up-to-vp"),
        ("matmul-dinp-overwritten", "matmul-dbias-missing"),
        ("update-no-correction-of-m", "update-no-decay"),
        ("update-t-plus-1", "update-eps-in-the-root"),
        ("encoder-dwte-assigned", "encoder-dwpe-by-token"),
    ],
)
def test_two_mistakes_of_one_function(first: str, second: str) -> None:
    check = known("A2")[first].check
    told = explained("A2", check, tensors_of("A2", first, second)).explanations
    named = {name for one in told for name in (one.fault or "").split("+")}
    assert named == {first, second}, told
    assert all(known("A2")[name].says in " ".join(one.text for one in told) for name in (first, second))


def test_three_assigned_outputs() -> None:
    names = [f"layernorm-{output}-assigned" for output in ("dinp", "dweight", "dbias")]
    told = explained("A2", "layernorm_backward", tensors_of("A2", *names)).explanations
    assert {one.fault for one in told} == set(names)


def test_a_known_mistake_beside_an_unknown_one() -> None:
    tensors = {case: dict(own) for case, own in tensors_of("A2", "layernorm-first-reduction-missing").items()}
    for own in tensors.values():
        own["dbias"] = own["dbias"].astype(np.float64) * np.linspace(2.0, 3.0, own["dbias"].size)
    told = explained("A2", "layernorm_backward", tensors).explanations
    assert [(one.kind, one.fault, one.tensors) for one in told] == [
        ("fault", "layernorm-first-reduction-missing", ["dinp"]),
        ("place", None, ["dbias"]),
    ]


def _scaled(value: Array, rng: np.random.Generator) -> Float:
    return value.astype(np.float64) * rng.uniform(1.1, 1.9, value.shape)


def test_what_is_not_known_is_not_named() -> None:
    right = tensors_of("A2", "gelu-halved")
    for seed in range(20):
        rng = np.random.default_rng(seed)
        got = {case: {"dinp": _scaled(own["dinp"], rng)} for case, own in right.items()}
        told = explained("A2", "gelu_backward", got).explanations
        assert [one.kind for one in told] == ["place"], told
