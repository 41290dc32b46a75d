"""Where the calls that were made part from the right ones."""

from __future__ import annotations

import pytest

from grader.calls import Call, first_difference, without


def call(function: str, **arguments: object) -> Call:
    return {"function": function, "args": arguments}


RIGHT = [
    call("matmul_backward", dinp="grads_acts.lnf", dout="grads_acts.logits", B=2),
    call("gelu_backward", dinp="grads_acts.fch", inp="acts.fch", dout="grads_acts.fch_gelu"),
]


def test_the_right_calls_differ_nowhere() -> None:
    assert first_difference(RIGHT, RIGHT) is None
    assert first_difference([], []) is None


def test_another_function() -> None:
    said = first_difference(RIGHT[::-1], RIGHT)
    assert said == "call 1 is gelu_backward, should be matmul_backward(grads_acts.lnf, …)"


def test_one_argument() -> None:
    wrong = [call("matmul_backward", dinp="grads_acts.lnf", dout="acts.logits", B=2), RIGHT[1]]
    said = first_difference(wrong, RIGHT)
    assert said == "call 1, matmul_backward: `dout` is acts.logits, should be grads_acts.logits"


def test_two_arguments_swapped() -> None:
    wrong = [RIGHT[0], call("gelu_backward", dinp="grads_acts.fch_gelu", inp="acts.fch", dout="grads_acts.fch")]
    assert first_difference(wrong, RIGHT) == "call 2, gelu_backward: `dinp` and `dout` are swapped"


def test_a_size() -> None:
    wrong = [call("matmul_backward", dinp="grads_acts.lnf", dout="grads_acts.logits", B=3)]
    assert first_difference(wrong, RIGHT[:1]) == "call 1, matmul_backward: `B` is 3, should be 2"


def test_too_few_and_too_many() -> None:
    assert first_difference(RIGHT[:1], RIGHT) == (
        "only 1 of 2 calls are made; next should be gelu_backward(grads_acts.fch, …)"
    )
    assert first_difference([*RIGHT, RIGHT[0]], RIGHT) == (
        "3 calls are made, 2 are right; too many from matmul_backward(grads_acts.lnf, …) on"
    )


@pytest.mark.parametrize("made", [{}, {"function": None, "args": {}}, {"function": ["gelu_backward"], "args": {}}])
def test_what_is_no_call_differs(made: Call) -> None:
    assert first_difference([made], RIGHT) is not None


def test_the_students_own_functions_are_left_out() -> None:
    assert without(RIGHT, ["gelu_backward"]) == RIGHT[:1]
