"""Rows without evidence of their own, and what one row's fault does to another."""

from __future__ import annotations

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
TABLE = assignment(
    checks={"probe": {**PROBE, "fallback": {"check": "wiring", "tensors": ["dwte", "dwpe"]}}, "wiring": WHOLE},
    rows=[{"id": "first", "title": "First", "points": 10, "checks": ["probe", "wiring"]}],
)
MISSING = "f: there is no function of this name in the file"


def comparison(tensor: str, right: bool = True) -> Comparison:
    made = compared(RIGHT if right else WRONG, RIGHT)
    return Comparison(**{**vars(made), "tensor": tensor})


def inferred(wiring: Judged | None, unavailable: dict[str, str], later: Judged | None = None) -> dict[str, Judged]:
    """What inference makes of a probe that could not be made; ``later`` is what probing the wiring now gives."""
    judged = {"probe": Judged("blocked", detail=MISSING)}
    if wiring is not None:
        judged["wiring"] = wiring
    wanted = {name: check for name, check in TABLE.checks.items() if name in judged}
    grading = SimpleNamespace(checks=wanted, judged=judged, check=TABLE.checks.__getitem__)
    run = SimpleNamespace(grading=grading, probe=lambda *_: later)
    infer(cast("Run", run), Built(Path(), BuildReport(ok=True, unavailable=unavailable), 0.0))
    return judged


def test_right_tensors_speak_for_the_function() -> None:
    wiring = Judged("pass", [comparison("dwte"), comparison("dwpe"), comparison("dlnfw", right=False)])
    found = inferred(wiring, {"f": MISSING})["probe"]
    assert (found.verdict, found.inferred, found.detail) == ("pass", True, MISSING)


def test_wrong_tensors_speak_against_it() -> None:
    wiring = Judged("fail", [comparison("dwte", right=False), comparison("dwpe")])
    found = inferred(wiring, {"f": MISSING})["probe"]
    assert (found.verdict, found.inferred) == ("fail", True)
    assert found.detail == f"{MISSING}; dwte, which it feeds, are wrong"


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
    found = inferred(Judged("fail", [comparison("dwte", right=False)]), {"f": MISSING})
    assert (found["wiring"].verdict, found["wiring"].inferred) == ("pass", True)
    assert found["probe"].verdict == "fail"


def test_a_right_function_of_the_students_excuses_no_wiring() -> None:
    wiring = Judged("fail", [comparison("dwte"), comparison("dwpe"), comparison("dlnfw", right=False)])
    found = inferred(wiring, {"f": MISSING})
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
    assert inferred(wiring, {"f": MISSING})["wiring"].verdict == before


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
