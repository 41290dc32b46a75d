"""Levels, private sets, endings, and where in a model a gradient goes wrong."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from grader.explain.dictionary import Match
from grader.explain.endings import what_tells_apart
from grader.explain.factors import name_of
from grader.explain.levels import LEVELS, Level
from grader.explain.why import CALLS, _of_match
from grader.fixtures import FaultText
from tests.grader.explain.support import Made, explained, inputs_of, known, observed_of, public_set, tensors_of

DIGITS = re.compile(r"\d+\.\d+|\d+e-?\d+|\[\d|= \d")
SAMPLES = [
    *("layernorm-second-reduction-missing", "attention-scale-twice", "gelu-x-missing", "crossentropy-up-to-vp"),
    *("update-no-eps", "zero-grad-bytes", "backward-dlosses-one", "residual-tail-left-out", "encoder-dwpe-averaged"),
]


def texts(fault: str, level: Level, **options: Any) -> list[str]:
    found = explained("A2", known("A2")[fault].check, tensors_of("A2", fault), level, **options)
    return [one.text for one in found.explanations]


def test_none_says_nothing() -> None:
    found = explained("A2", "gelu_backward", tensors_of("A2", "gelu-halved"), "none")
    assert (list(found.explanations), list(found.call_steps)) == ([], [])


def test_where_names_the_place_alone() -> None:
    found = explained("A2", "attention_backward", tensors_of("A2", "attention-scale-on-dq-only"), "where")
    (only,) = found.explanations
    assert (only.kind, only.text, only.hint, only.fault) == ("place", "dinp is wrong only in the K third", "", None)


def test_hint_names_the_mistake() -> None:
    found = explained("A2", "attention_backward", tensors_of("A2", "attention-scale-on-dq-only"), "hint")
    (only,) = found.explanations
    assert only.text == "dinp equals what comes out when dK lacks the factor 1/sqrt(HS), which dQ has"
    assert only.hint
    assert only.cases == ["attention_backward/small", "attention_backward/one-head", "attention_backward/tails",
                          "attention_backward/accumulate"]  # fmt: skip


def test_full_adds_what_was_measured() -> None:
    assert texts("attention-scale-on-dq-only", "full")[0].endswith("(within the limit, in 5 cases)")
    assert texts("gelu-halved", "full", dictionary=False) == ["dinp is half of what it should be (factor 0.5)"]


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("fault", SAMPLES)
def test_a_private_set_shows_no_number(fault: str, level: Level, dictionary: bool) -> None:
    for text in texts(fault, level, dictionary=dictionary, public=False):
        assert not DIGITS.search(text.replace("(within the limit", "")), text


def test_sizes_of_a_private_set_are_names() -> None:
    case = public_set("A2").cases("gpt2_backward")[0]
    made = [{**call, "args": dict(call["args"])} for call in case.calls]
    made[1]["args"]["OC"] = case.entry.params["V"]
    statuses = {case.id: {"calls": made}}
    wrong = {case.id: {"dlnfw": 2.0 * case.expected["dlnfw"].astype(np.float64)}}
    found = explained("A2", "gpt2_backward", wrong, dictionary=False, public=False, statuses=statuses)
    assert found.explanations[0].text == "matmul_backward for grads_acts.lnf got OC = V, should be Vp"
    assert not [value for step in found.call_steps for value in step.made.values() if isinstance(value, int)]


# ---- a model's gradients -------------------------------------------------------------------------------------


def of_the_model(*fault: str) -> list[str]:
    found = explained("A2", "gpt2_backward", tensors_of("A2", *fault), dictionary=False)
    return [one.text for one in found.explanations]


def test_from_a_layer_down() -> None:
    text = of_the_model("backward-second-residual-dropped")[0]
    assert text == (
        "the gradient is wrong from dattprojw of layer 2 on; what comes before it, dln2b of layer 2 last, is right"
    )
    assert of_the_model("backward-crossentropy-inputs")[0].endswith("from dlnfw on, from the very beginning")


def test_the_first_that_is_wrong_where_others_are_right() -> None:
    text = of_the_model("backward-ln1-gradients-into-ln2")[0]
    assert text.startswith(
        "dln2w of layer 2 is the first gradient that is wrong; what comes before it, dfcb of layer 2"
    )


def test_one_factor_for_all() -> None:
    (text,) = of_the_model("backward-dlosses-one")
    assert text == "each of dlnfw, dlnfb, dfcprojw, dfcprojb, dfcw and 11 more is B*T times what it should be"


def test_nan_from_an_operation_on() -> None:
    cases = {case.id: case.expected for case in public_set("A2").cases("gpt2_backward")}
    order = ["dattprojw", "dattprojb", "dqkvw", "dqkvb", "dln1w", "dln1b", "dwpe", "dwte"]
    got: dict[str, dict[str, Any]] = {}
    for case, expected in cases.items():
        got[case] = {name: np.full_like(expected[name], np.nan) for name in order}
    found = explained("A2", "gpt2_backward", got)
    assert found.explanations[0].text.startswith("dattprojw of layer 2 is the first gradient that is not a number")
    assert "matmul_backward" in found.explanations[0].hint


def test_a_model_says_no_more_than_can_be_read() -> None:
    for fault in known("A2").values():
        if fault.check == "gpt2_backward":
            assert len(of_the_model(fault.id)) <= 5


# ---- endings, factors ------------------------------------------------------------------------------------------


def test_what_cases_that_crash_have() -> None:
    cases = public_set("A2").cases("matmul_backward")
    names = [case.id for case in cases]
    assert what_tells_apart(cases, {"matmul_backward/no-bias"}) == "dbias is NULL"
    wide = {name for name in names if name not in ("matmul_backward/ones", "matmul_backward/one-channel")}
    assert what_tells_apart(cases, wide) == "C > 1"
    assert what_tells_apart(cases, {"matmul_backward/tails"}) == ""
    assert what_tells_apart(cases, names) == what_tells_apart(cases, []) == ""
    cases = public_set("A2").cases("crossentropy_softmax_backward")
    padded = {case.id for case in cases if not case.id.endswith("/unpadded")}
    assert what_tells_apart(cases, padded) == "Vp > V"


def test_a_crash_where_a_pointer_is_null() -> None:
    statuses = {"matmul_backward/no-bias": {"status": "crashed", "detail": "reads through a NULL pointer"}}
    found = explained("A2", "matmul_backward", {}, statuses=statuses)
    assert [(one.kind, one.text) for one in found.explanations] == [
        ("crash", "only the cases in which dbias is NULL do not end well; the others do")
    ]


def test_what_a_python_function_is_not_given_is_not_null() -> None:
    cases = public_set("HW2").cases("accumulation")
    assert what_tells_apart(cases, {"accumulation/one-graph"}) == "second is NULL"
    assert what_tells_apart(cases, {"accumulation/one-graph"}, pointers=False) == ""
    right = {case.id: case.expected for case in cases}
    wrong = {
        name: {"x1": 1.7 * own["x1"].astype(np.float64)} for name, own in right.items() if name.endswith("one-graph")
    }
    assert not any("NULL" in one.text for one in explained("HW2", "accumulation", wrong).explanations)


def test_the_hint_is_about_what_is_wrong_with_the_calls() -> None:
    def hint(argument: str, value: Any) -> str:
        case = public_set("A2").cases("gpt2_backward")[0]
        made = [{**call, "args": dict(call["args"])} for call in case.calls]
        made[4]["args"][argument] = value(made[4]["args"][argument])
        wrong = {case.id: {"dlnfw": 1.7 * case.expected["dlnfw"].astype(np.float64)}}
        found = explained("A2", "gpt2_backward", wrong, dictionary=False, statuses={case.id: {"calls": made}})
        return found.explanations[0].hint

    assert hint("OC", lambda size: size + 1) == CALLS["sizes"]
    assert hint("weight", lambda name: name.split("[")[0] + "[l=0]") == CALLS["layers"]
    assert hint("weight", lambda name: "memory of its own") == CALLS["calls"]


def test_what_a_known_mistake_says_of_the_calls_is_said_once() -> None:
    cases = public_set("A2").cases("gpt2_backward")
    statuses = {}
    for case in cases:
        made = [{**call, "args": dict(call["args"])} for call in case.calls]
        for call in made:
            if call["function"] == "attention_backward":
                call["args"]["B"], call["args"]["T"] = call["args"]["T"], call["args"]["B"]
        statuses[case.id] = {"calls": made}
    (only,) = explained(
        "A2", "gpt2_backward", tensors_of("A2", "backward-b-and-t-swapped"), statuses=statuses
    ).explanations
    assert only.text.endswith("equal what comes out when attention_backward gets B and T swapped")


def test_mistakes_that_give_the_same_have_each_its_hint() -> None:
    first, second = (FaultText(id=n, row="first", check="probe", says=f"{n} is so", hint=f"why {n}?") for n in "ab")
    observed = observed_of(Made({"dx": np.array([2.0, 3.0])}, {"dx": np.array([1.0, 2.0])}))
    told = _of_match(observed, Match((first,), ("dx",), True, ((second,),)), "hint")
    assert told.text == "dx equals what comes out when a is so, or when b is so"
    assert told.hint == "why a? Or: why b?"


def test_a_loss_that_is_next_to_nothing_is_a_mistakes() -> None:
    """A log-softmax of one output is 0 with a derivative of 0, of which rounding leaves something."""
    cases = tensors_of("HW2", "loss-log-softmax")
    handed = {case: {**own, "dout": own["dout"].astype(np.float64) + 1e-6} for case, own in cases.items()}
    (only,) = explained("HW2", "loss", handed).explanations
    says = "a log-softmax over the batch takes the place of the logarithm"
    assert only.text == f"the derivative with respect to the outputs and loss equal what comes out when {says}"
    assert only.hint == "what is the logarithm taken of? the output is a probability already"


def test_inputs_that_are_written_to() -> None:
    statuses = {case: {"changed_inputs": ["dout"]} for case in inputs_of("A2") if case.startswith("gelu_backward/")}
    found = explained("A2", "gelu_backward", tensors_of("A2", "gelu-dinp-missing"), statuses=statuses)
    assert [one.text for one in found.explanations] == [
        "dinp equals what comes out when nothing is added to dinp",
        "gelu_backward writes to dout, which it should only read",
    ]


@pytest.mark.parametrize(
    ("values", "params", "name"),
    [
        ([2.0, 2.0], [{"B": 2}, {"B": 3}], "2"),
        ([2.0, 3.0], [{"B": 2}, {"B": 3}], "B"),
        ([0.5, 1 / 3], [{"B": 2, "T": 7}, {"B": 3, "T": 7}], "1/B"),
        ([7.0, 7.0], [{"B": 2, "T": 7}, {"B": 3, "T": 7}], "T"),
        ([10.0], [{"B": 2, "T": 5}], "B*T"),
        ([1 / 0.9, 1 / 0.8], [{"beta": 0.1}, {"beta": 0.2}], "1/(1 - beta)"),
        ([1.234, 1.234], [{"B": 2}, {"B": 3}], ""),
        ([2.0, 5.0], [{"B": 2}, {"B": 3}], ""),
    ],
)
def test_names_of_factors(values: list[float], params: list[dict[str, int | float]], name: str) -> None:
    assert name_of(values, params, {"B*T": "B * T", "HS": "C / NH"}) == name
