"""Rows without evidence of their own, and what one row's fault does to another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from grader.compare import Comparison
from grader.engine import BuildReport, Built
from grader.inference import infer, name_upstream
from grader.judge import Judged
from grader.result import RowResult, Verdict
from tests.grader.builders import assignment, assignment_data, check_result, compared, floats, row_result

if TYPE_CHECKING:
    from grader.run import Run

RIGHT, WRONG = floats(1.0, 2.0), floats(1.0, 3.0)
PROBE = {**assignment_data()["checks"]["probe"], "needs": ["f"]}
WHOLE = {**PROBE, "title": "the wiring", "function": "gpt2_backward", "needs": ["gpt2_backward"], "calls": True}
WHOLE |= {"seen_min": 0.75}
FALLBACK = {"check": "wiring", "tensors": ["dwte", "dwpe"], "also": {"check": "adds", "tensors": ["dwpe"]}}
TABLE = assignment(
    checks={
        "probe": {**PROBE, "fallback": FALLBACK},
        "wiring": WHOLE,
        "adds": {**PROBE, "needs": [], "cases_of": "wiring", "says": "it is to add"},
    },
    rows=[{"id": "first", "title": "First", "points": 10, "checks": ["probe", "wiring"]}],
)
MISSING = "f: there is no function of this name in the file"


def comparison(tensor: str, right: bool = True) -> Comparison:
    made = compared(RIGHT if right else WRONG, RIGHT)
    return Comparison(**{**vars(made), "tensor": tensor})


def call(function: str) -> dict[str, object]:
    return {"function": function, "args": {}}


def recorded(judged: Judged, seen: int = 3, unseen: Sequence[str] = ("f",), cases: int = 1) -> Judged:
    """With so many calls of another function that are right, and those of which there is no record."""
    calls = [call("g")] * seen
    judged.calls = {f"c{i}": (calls, calls) for i in range(cases)}
    judged.unseen = {case: list(unseen) for case in judged.calls}
    return judged


ADDS = Judged("fail", [comparison("dwpe")])  # the tensors that it does not give are missing


def inferred(
    wiring: Judged | None, unavailable: dict[str, str], later: Judged | None = None, adds: Judged = ADDS
) -> dict[str, Judged]:
    """What inference makes of a probe that could not be made; ``later`` is what probing the wiring now gives."""
    judged = {"probe": Judged("blocked", detail=MISSING)}
    if wiring is not None:
        judged["wiring"] = wiring
    wanted = {name: check for name, check in TABLE.checks.items() if name in judged}
    grading = SimpleNamespace(checks=wanted, judged=judged, check=TABLE.checks.__getitem__)
    run = SimpleNamespace(grading=grading, probe=lambda name, *_: adds if name == "adds" else later)
    infer(cast("Run", run), Built(Path(), BuildReport(ok=True, unavailable=unavailable), 0.0))
    return judged


def test_right_tensors_speak_for_the_function() -> None:
    wiring = Judged("pass", [comparison("dwte"), comparison("dwpe"), comparison("dlnfw", right=False)])
    found = inferred(wiring, {"f": MISSING})["probe"]
    assert (found.verdict, found.inferred, found.detail) == ("pass", True, MISSING)


def test_wrong_tensors_speak_against_it() -> None:
    found = inferred(wrong_wiring(), {"f": MISSING})["probe"]
    assert (found.verdict, found.inferred) == ("fail", True)
    assert found.detail == f"{MISSING}; dwte, which it feeds, are wrong"


@pytest.mark.parametrize("only", ["dwte", "dwpe"])
def test_some_of_the_tensors_say_too_little(only: str) -> None:
    found = inferred(Judged("fail", [comparison(only)]), {"f": MISSING})["probe"]
    assert (found.verdict, found.inferred) == ("blocked", True)
    assert "it gives too little" in found.detail


def test_right_tensors_are_not_enough_where_it_sets_and_is_to_add() -> None:
    wiring = Judged("pass", [comparison("dwte"), comparison("dwpe")])
    found = inferred(wiring, {"f": MISSING}, adds=Judged("fail", [comparison("dwpe", right=False)]))["probe"]
    assert (found.verdict, found.inferred) == ("fail", True)
    assert found.detail == f"{MISSING}; dwpe, which it feeds, are wrong: it is to add"


def test_what_was_not_seen_to_add_earns_nothing() -> None:
    wiring = Judged("pass", [comparison("dwte"), comparison("dwpe")])
    found = inferred(wiring, {"f": MISSING}, adds=Judged("crashed", detail="signal 11"))["probe"]
    assert (found.verdict, found.inferred) == ("blocked", True)
    assert found.detail == f"{MISSING}; and adds cannot say more of it: it gives nothing (signal 11)"


def test_no_tensors_say_nothing_and_earn_nothing() -> None:
    found = inferred(Judged("crashed"), {"f": MISSING})["probe"]
    assert (found.verdict, found.inferred) == ("blocked", True)
    assert "it gives nothing" in found.detail


def test_the_wiring_is_probed_if_no_row_asked_for_it() -> None:
    found = inferred(None, {"f": MISSING}, later=Judged("pass", [comparison("dwte"), comparison("dwpe")]))
    assert found["probe"].verdict == "pass"


def test_without_function_and_wiring_nothing_can_be_said() -> None:
    assert inferred(None, {"f": MISSING, "gpt2_backward": "missing"})["probe"].verdict == "blocked"


def test_what_was_probed_stays_as_it_is() -> None:
    wiring = Judged("fail", [comparison("dwte", right=False)])
    assert inferred(wiring, {})["probe"].verdict == "blocked"
    assert (wiring.verdict, wiring.inferred) == ("fail", False)


def test_the_calls_speak_for_the_wiring_under_a_function_of_the_students() -> None:
    found = inferred(recorded(wrong_wiring()), {"f": MISSING})
    assert (found["wiring"].verdict, found["wiring"].inferred) == ("pass", True)
    assert found["probe"].verdict == "fail"


def wrong_wiring() -> Judged:
    return Judged("fail", [comparison("dwte", right=False), comparison("dwpe")])


@pytest.mark.parametrize(
    "wiring",
    [
        wrong_wiring(),
        recorded(wrong_wiring(), cases=0),
        recorded(wrong_wiring(), seen=0),
        recorded(wrong_wiring(), seen=0, unseen=[]),
        recorded(wrong_wiring(), seen=5, unseen=["f", "f"]),
        recorded(wrong_wiring(), seen=30, unseen=["f", "h"]),
    ],
    ids=["none", "no case", "none seen", "none right", "too few seen", "another unseen"],
)
def test_calls_that_were_not_seen_do_not_speak_for_the_wiring(wiring: Judged) -> None:
    found = inferred(wiring, {"f": MISSING})
    assert (found["wiring"].verdict, found["wiring"].inferred) == ("fail", False)


def test_a_right_function_of_the_students_excuses_no_wiring() -> None:
    wiring = Judged("fail", [comparison("dwte"), comparison("dwpe"), comparison("dlnfw", right=False)])
    found = inferred(recorded(wiring), {"f": MISSING})
    assert (found["wiring"].verdict, found["probe"].verdict) == ("fail", "pass")


@pytest.mark.parametrize(
    "wiring",
    [
        Judged("fail", [comparison("dwte", right=False)], calls_differ="call 1 is f, should be g"),
        Judged("fail", detail="no tensor was handed back"),
        Judged("crashed", detail="ended by SIGSEGV"),
        Judged("timed_out"),
        Judged("not_implemented"),
    ],
)
def test_no_wiring_is_excused_for_more_than_wrong_tensors(wiring: Judged) -> None:
    before = wiring.verdict
    assert inferred(recorded(wiring), {"f": MISSING})["wiring"].verdict == before


def adamw(direct: Verdict, whole: Verdict) -> RowResult:
    checks = [
        check_result(direct, id="gpt2_update", function="gpt2_update"),
        check_result(whole, id="ten_steps", role="whole", detail="step 3 is off" if whole != "pass" else ""),
    ]
    verdict: Verdict = whole if direct == "pass" else direct
    return row_result(verdict, id="adamw", checks=checks, detail="as it was")


def test_what_breaks_the_whole_program_upstream_is_named() -> None:
    row = adamw("pass", "fail")
    named = name_upstream(row, [row, row_result("fail", id="gelu"), row_result(id="matmul")])
    assert named.detail == "gpt2_update alone is right; what breaks it lies upstream: gelu (step 3 is off)"
    assert (named.points, named.verdict, named.upstream) == (0, "fail", ["gelu"])
    assert [(check.file, check.line, check.output) for check in named.checks[1:]] == [("", None, "")]


def test_where_nothing_upstream_is_wrong_that_is_said() -> None:
    row = adamw("pass", "fail")
    assert name_upstream(row, [row]).detail.startswith("gpt2_update alone is right; only the whole program fails")


@pytest.mark.parametrize(("direct", "whole"), [("pass", "pass"), ("fail", "fail"), ("fail", "pass")])
def test_other_rows_are_left_as_they_are(direct: Verdict, whole: Verdict) -> None:
    row = adamw(direct, whole)
    assert name_upstream(row, [row, row_result("fail", id="gelu")]) == row
