"""The calls of ``gpt2_backward`` in words: each way to go wrong, in the names of the struct's fields."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from grader.calls import Call
from grader.explain.levels import Level
from grader.judge import Explained
from tests.grader.explain.support import explained, public_set

DEEP = "gpt2_backward/deep"  # three layers
CASES = [case.id for case in public_set("A2").cases("gpt2_backward")]
Calls = list[Call]


def right() -> Calls:
    (case,) = (one for one in public_set("A2").cases("gpt2_backward") if one.id == DEEP)
    return deepcopy(case.calls)


def told(change: Callable[[Calls], object], level: Level = "hint") -> Explained:
    """What is said where the calls of the deep case are changed, and its tensors with them."""
    calls = right()
    found = change(calls)
    made = found if isinstance(found, list) else calls
    statuses = {name: {"calls": right_of(name)} for name in CASES}
    statuses[DEEP] = {"calls": made}
    wrong = {DEEP: {"dwte": 3.7 * public_set("A2").cases("gpt2_backward")[0].expected["dwte"].astype(np.float64)}}
    return explained("A2", "gpt2_backward", wrong, level, dictionary=False, statuses=statuses)


def right_of(name: str) -> Calls:
    return next(case.calls for case in public_set("A2").cases("gpt2_backward") if case.id == name)


def sentences(change: Callable[[Calls], object]) -> list[str]:
    return [one.text for one in told(change).explanations if one.kind == "calls"]


def at(calls: Calls, function: str, first: str) -> int:
    return next(
        i for i, c in enumerate(calls) if c["function"] == function and first in [str(v) for v in c["args"].values()]
    )


def change_argument(function: str, first: str, **arguments: str | int) -> Callable[[Calls], object]:
    def change(calls: Calls) -> None:
        calls[at(calls, function, first)]["args"].update(arguments)

    return change


def swap(function: str, first: str, one: str, other: str) -> Callable[[Calls], object]:
    def change(calls: Calls) -> None:
        args = calls[at(calls, function, first)]["args"]
        args[one], args[other] = args[other], args[one]

    return change


def test_two_pointers_swapped() -> None:
    change = swap("attention_backward", "grads_acts.qkv[l=1]", "dpreatt", "datt")
    assert sentences(change) == ["layer 1: attention_backward got dpreatt and datt swapped"]


def test_two_sizes_swapped() -> None:
    change = swap("matmul_backward", "grads_acts.ln2[l=2]", "C", "OC")
    assert sentences(change) == ["layer 2: matmul_backward for grads_acts.ln2 got C and OC swapped"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"dbias": "NULL"}, "got NULL as dbias, should be grads.qkvb"),
        ({"weight": "params.qkvw[l=0]"}, "got weight of the wrong layer: params.qkvw of layer 0"),
        ({"weight": "params.qkvw[l=2]"}, "got weight of the wrong layer: params.qkvw of the layer above"),
        ({"inp": "acts.ln2[l=1]"}, "got acts.ln2 as inp, should be acts.ln1"),
        ({"dinp": "acts.ln1[l=1]"}, "got acts.ln1 as dinp, should be grads_acts.ln1"),
        ({"OC": 3}, "got OC = 3, should be 36 (3*C)"),
        ({"OC": 29}, "got OC = 29 (V), should be 36 (3*C)"),
        ({"dweight": "memory of its own"}, "got memory of its own as dweight, should be grads.qkvw"),
        ({"dweight": "grads.qkvw+7"}, "got grads.qkvw+7 as dweight, should be grads.qkvw"),
    ],
)
def test_another_argument(arguments: dict[str, str | int], said: str) -> None:
    change = change_argument("matmul_backward", "grads_acts.ln1[l=1]", **arguments)
    assert sentences(change) == [f"layer 1: matmul_backward for grads_acts.ln1 {said}"]


def test_a_call_outside_the_layers() -> None:
    change = change_argument("matmul_backward", "grads_acts.lnf", OC=29)
    assert sentences(change) == ["matmul_backward for grads_acts.lnf got OC = 29 (V), should be 32 (Vp)"]


def test_missing_in_every_layer_is_said_once() -> None:
    def change(calls: Calls) -> Calls:
        return [c for c in calls if c["args"].get("dinp2", "").split("[")[0] != "grads_acts.fcproj"]

    assert sentences(change) == ["in every layer: residual_backward for grads_acts.fcproj is not called"]


def test_missing_and_extra() -> None:
    assert sentences(lambda calls: calls[:-1]) == ["encoder_backward is not called"]
    assert sentences(lambda calls: [*calls, calls[-1]]) == ["encoder_backward is called where it should not be"]


def test_no_call_for_a_layer() -> None:
    def change(calls: Calls) -> Calls:
        return [*calls[:-11], calls[-1]]

    assert sentences(change) == ["no call is made for layer 0"]


def layers(calls: Calls) -> list[Calls]:
    return [calls[i : i + 10] for i in range(3, 33, 10)]


def test_the_layers_in_another_order() -> None:
    def change(calls: Calls) -> Calls:
        return [*calls[:3], *(c for layer in reversed(layers(calls)) for c in layer), calls[-1]]

    (text,) = sentences(change)
    assert text == "the layers are gone through from the first to the last, should be from the last to the first"


def test_too_early_in_every_layer() -> None:
    def change(calls: Calls) -> Calls:
        early = [c for x in layers(calls) for c in (*x[:2], x[5], *x[2:5], *x[6:])]
        return [*calls[:3], *early, calls[-1]]

    (text,) = sentences(change)
    assert text == (
        "in every layer: residual_backward for grads_acts.attproj is called too early,"
        " should be right after layernorm_backward for grads.ln2w"
    )


def test_all_weights_of_one_layer() -> None:
    def change(calls: Calls) -> None:
        for call in calls:
            for name, value in call["args"].items():
                if str(value).startswith("params.") and "[" in str(value):
                    call["args"][name] = f"{str(value).split('[')[0]}[l=0]"

    assert sentences(change) == ["every layer uses the params of layer 0"]


def test_many_differences_are_counted() -> None:
    def change(calls: Calls) -> None:
        for i in (0, 4, 7, 15, 18):
            name = next(iter(calls[i]["args"]))
            calls[i]["args"][name] = "memory of its own"

    assert sentences(change)[-1].startswith("and ")
    assert len(sentences(change)) == 4


def test_the_steps_stand_in_the_result() -> None:
    change = swap("attention_backward", "grads_acts.qkv[l=1]", "dpreatt", "datt")
    found = told(change)
    assert found.calls_case == DEEP
    assert len(found.call_steps) == len(right())
    (wrong,) = [step for step in found.call_steps if step.kind != "same"]
    assert (wrong.kind, wrong.layer, wrong.made_at, wrong.right_at) == ("changed", 1, 21, 21)
    assert wrong.wrong == ["dpreatt", "datt"]
    assert wrong.made["dpreatt"] == wrong.right["datt"] == "grads_acts.att[l=1]"
    assert wrong.text == "layer 1: attention_backward got dpreatt and datt swapped"


def test_where_alone_names_the_place() -> None:
    change = swap("attention_backward", "grads_acts.qkv[l=1]", "dpreatt", "datt")
    found = told(change, "where")
    assert [one.text for one in found.explanations] == [
        "the calls part from the right ones at attention_backward of layer 1"
    ]
    assert not found.call_steps


def test_right_calls_are_told_nothing() -> None:
    found = told(lambda calls: None)
    assert [one.kind for one in found.explanations if one.kind == "calls"] == []
    assert not found.call_steps


def test_calls_of_a_case_that_crashes_end_where_it_ended() -> None:
    statuses: dict[str, dict[str, Any]] = {name: {"status": "crashed"} for name in CASES}
    statuses[DEEP] = {"status": "crashed", "calls": right()[:5]}
    found = explained("A2", "gpt2_backward", {}, dictionary=False, statuses=statuses)
    assert [one.text for one in found.explanations] == [
        "it ends at or after call 5 (of 34), matmul_backward of layer 2"
    ]
    statuses[DEEP] = {"status": "crashed", "calls": []}
    found = explained("A2", "gpt2_backward", {}, dictionary=False, statuses=statuses)
    assert [one.text for one in found.explanations] == ["it ends before it calls anything"]
