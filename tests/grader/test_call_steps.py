"""Two records of calls, aligned step by step."""

from __future__ import annotations

from typing import Any

import pytest

from grader.call_steps import Step, layer_of, steps
from grader.calls import Call


def call(function: str, **arguments: object) -> Call:
    return {"function": function, "args": arguments}


A = call("f", x="acts.a[l=1]", n=3)
B = call("g", x="acts.b[l=1]", y="grads.w[l=1]", n=4)
C = call("f", x="acts.c[l=0]", n=3)
D = call("h", x="acts.d")


def kinds(found: list[Step]) -> list[str]:
    return [step.kind for step in found]


def test_the_same_records() -> None:
    found = steps([A, B, C], [A, B, C])
    assert kinds(found) == ["same"] * 3
    assert [(step.made_at, step.right_at) for step in found] == [(0, 0), (1, 1), (2, 2)]
    assert steps([], []) == []


def test_missing_and_extra() -> None:
    assert kinds(steps([A, C], [A, B, C])) == ["same", "missing", "same"]
    assert kinds(steps([A, D, B], [A, B])) == ["same", "extra", "same"]
    assert kinds(steps([], [A, B])) == ["missing", "missing"]
    assert kinds(steps([A, A], [A])) == ["same", "extra"]


def test_other_arguments() -> None:
    wrong = call("g", x="acts.b[l=0]", y="grads.w[l=1]", n=5)
    found = steps([A, wrong, C], [A, B, C])
    assert kinds(found) == ["same", "changed", "same"]
    assert found[1].wrong == ["x", "n"]
    assert (found[1].made, found[1].right) == (wrong, B)


def test_at_another_place() -> None:
    found = steps([B, A, C, D], [A, C, D, B])
    assert kinds(found) == ["moved", "same", "same", "same"]
    assert (found[0].made_at, found[0].right_at) == (0, 3)


def test_another_function_is_not_a_changed_call() -> None:
    assert sorted(kinds(steps([A, D], [A, B]))) == ["extra", "missing", "same"]


def test_the_nearest_call_is_the_changed_one() -> None:
    """Two calls of one function, one of them not made: the other is not told as changed."""
    near = call("g", x="acts.b[l=1]", y="grads.w[l=1]", n=9)
    far = call("g", x="acts.z[l=0]", y="grads.z[l=0]", n=1)
    found = steps([near], [far, B])
    assert kinds(found) == ["missing", "changed"]
    assert found[1].wrong == ["n"]


def test_every_call_stands_in_it_once() -> None:
    made, right = [D, B, C, A, A, B], [A, B, C, D]
    found = steps(made, right)
    assert sorted(s.made_at for s in found if s.made_at is not None) == list(range(len(made)))
    assert sorted(s.right_at for s in found if s.right_at is not None) == list(range(len(right)))


@pytest.mark.parametrize(
    "made",
    [
        {},
        {"function": None, "args": None},
        {"function": ["f"], "args": {"x": [1]}},
        {"function": "f", "args": {"x": {"deep": []}, "n": 1.5}},
        {"function": "f" * 1000, "args": {"x" * 1000: "y" * 1000}},
    ],
)
def test_what_is_no_call_is_extra(made: Any) -> None:
    found = steps([made, A], [A])
    assert kinds(found)[-1] == "same"
    assert "extra" in kinds(found)


def test_the_layer_is_that_of_most_pointers() -> None:
    assert layer_of(call("f", x="acts.a[l=2]", y="acts.b[l=2]", z="acts.c[l=1]", n=3)) == 2
    assert layer_of(call("f", x="acts.a[l=2]", y="acts.lnf", z="params.lnfw")) is None
    assert layer_of(call("f", n=3)) is None
