"""From statuses and tensors to a verdict: whatever the sandbox says, a pass rests on the tensors alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.assignment import Check
from grader.cases import Array
from grader.judge import Judge, Judged
from grader.tensorfile import write
from grader.tolerances import Tolerances
from tests.grader.builders import RELATIVE, assignment, fixture_case, floats, probed

CASES = ("probe/small", "probe/tails")
RIGHT = {"dinp": floats(1.0, 2.0, 3.0)}
OK = {"status": "ok", "code": 0}
TABLE = assignment(axes={"dinp": ["l", "c"]})
CHECK = TABLE.checks["probe"]
JUDGE = Judge(TABLE, Tolerances(measured={"X1": {"probe": {"dinp": RELATIVE, "loss": RELATIVE}}}, official={}))


class Bench:
    """A check of two cases, handed back right unless a test changes it."""

    def __init__(self, folder: Path, expected: Mapping[str, Array] = RIGHT) -> None:
        self.cases = [fixture_case(folder, name, expected) for name in CASES]
        self.outputs = {name: folder / f"{i}.tensors" for i, name in enumerate(CASES)}
        self.statuses: dict[str, Mapping[str, Any]] = dict.fromkeys(CASES, OK)
        for path in self.outputs.values():
            write(path, expected)

    def hand_back(self, tensors: Mapping[str, Array], case: str = CASES[0]) -> None:
        write(self.outputs[case], tensors)

    def judged(self, check: Check = CHECK, timed_out: bool = False, output: str = "") -> Judged:
        return JUDGE.check("probe", check, self.cases, probed(self.statuses, self.outputs, timed_out, output))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_right_tensors_pass(bench: Bench) -> None:
    judged = bench.judged(output="hello")
    assert (judged.verdict, judged.detail, judged.output) == ("pass", "", "")
    assert len(judged.compared(["dinp"])) == 2


def test_one_wrong_case_fails_the_check(bench: Bench) -> None:
    bench.hand_back({"dinp": floats(1.0, 2.0, 4.0)}, CASES[1])
    judged = bench.judged(output="hello")
    assert (judged.verdict, judged.output) == ("fail", "hello")
    (found,) = JUDGE.result("probe", CHECK, judged).evidence
    assert (found.case, found.index, found.failed_cases) == (CASES[1], [2], [CASES[1]])


@pytest.mark.parametrize("tensors", [{}, {"other": floats(1.0)}, {"dinp": floats(1.0, 2.0)}])
def test_missing_and_misshapen_tensors_fail(bench: Bench, tensors: dict[str, Array]) -> None:
    bench.hand_back(tensors)
    assert bench.judged().verdict == "fail"


def test_tensors_beyond_the_expected_ones_count_for_nothing(bench: Bench) -> None:
    bench.hand_back({**RIGHT, "overall_okay": floats(np.nan)})
    assert bench.judged().verdict == "pass"


def test_no_file_fails(bench: Bench) -> None:
    bench.outputs[CASES[0]].unlink()
    judged = bench.judged()
    assert (judged.verdict, judged.detail) == ("fail", "no tensor was handed back (case probe/small)")


def test_a_link_to_the_expected_tensors_fails(bench: Bench) -> None:
    path = bench.outputs[CASES[0]]
    path.unlink()
    path.symlink_to(bench.cases[0].expected_path)
    assert bench.judged().verdict == "fail"


def test_a_folder_and_a_pipe_fail(bench: Bench) -> None:
    folder, pipe = bench.outputs.values()
    folder.unlink()
    folder.mkdir()
    pipe.unlink()
    os.mkfifo(pipe)
    assert bench.judged().verdict == "fail"


@pytest.mark.parametrize("case", CASES)
def test_a_case_without_a_status_is_no_pass(bench: Bench, case: str) -> None:
    del bench.statuses[case]
    assert (bench.judged().verdict, bench.judged(timed_out=True).verdict) == ("crashed", "timed_out")


@pytest.mark.parametrize(
    ("status", "verdict", "said"),
    [
        ({"status": "timed_out"}, "timed_out", "it did not end in time"),
        ({"status": "crashed", "code": 11}, "crashed", "ended by SIGSEGV"),
        ({"status": "crashed", "code": 999}, "crashed", "ended by a signal"),
        ({"status": "crashed", "detail": "writes past the end"}, "crashed", "writes past the end"),
        ({"status": "exited", "code": 0}, "crashed", "it stopped the program with exit code 0"),
        ({"status": "exited", "code": 70, "error": "OSError: no"}, "crashed", "OSError: no"),
    ],
)
def test_endings(bench: Bench, status: dict[str, Any], verdict: str, said: str) -> None:
    bench.statuses[CASES[0]] = status
    judged = bench.judged()
    assert (judged.verdict, judged.detail) == (verdict, f"{said} (case probe/small)")


MALFORMED: list[dict[str, Any]] = [
    {},
    {"status": None},
    {"status": True},
    {"status": ["ok"]},
    {"status": {"ok": "ok"}},
    {"status": "OK"},
    {"status": "pass"},
    {"status": "ok "},
    {"status": "crashed", "code": []},
    {"status": "crashed", "code": "9" * 4000},
    {"status": "crashed", "code": float("nan")},
    {"status": "exited", "error": {"deep": [1, 2]}},
    {"verdict": "pass", "points": 100},
]


@pytest.mark.parametrize("status", MALFORMED)
def test_malformed_statuses_are_no_pass(bench: Bench, status: dict[str, Any]) -> None:
    bench.statuses[CASES[0]] = status
    assert bench.judged().verdict == "crashed"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(["status", "code", "detail", "error", "untouched", "calls", "advice", "done", "verdict"])


@given(status=st.dictionaries(KEYS, JSON | st.sampled_from(["ok", "crashed", "exited", "timed_out"])))
def test_no_status_makes_wrong_tensors_pass(bench: Bench, status: dict[str, Any]) -> None:
    for case in CASES:
        bench.hand_back({"dinp": floats(0.0, 0.0, 0.0)}, case)
        bench.statuses[case] = status
    judged = bench.judged(CHECK.model_copy(update={"calls": True}))
    assert judged.verdict != "pass"
    assert JUDGE.result("probe", CHECK, judged).verdict == judged.verdict


def test_a_status_too_deep_to_print_does_no_harm(bench: Bench) -> None:
    deep: list[Any] = []
    for _ in range(sys.getrecursionlimit()):
        deep = [deep]
    calls = [{"function": "f", "args": {"dinp": deep}}]
    bench.statuses[CASES[0]] = {"status": "crashed", "detail": deep, "advice": [deep], "calls": calls}
    assert bench.judged(CHECK.model_copy(update={"calls": True})).verdict == "crashed"


def test_text_of_the_sandbox_becomes_one_printable_line(bench: Bench) -> None:
    bench.statuses[CASES[0]] = {"status": "crashed", "detail": "\x1b[2J\n::notice::passed\ud800" + "x" * 9999}
    detail = bench.judged().detail
    assert detail.isprintable()
    assert len(detail) < 450


def test_untouched_everywhere_is_not_implemented(bench: Bench) -> None:
    for case in CASES:
        bench.statuses[case] = {**OK, "untouched": True}
        bench.hand_back({"dinp": floats(0.0, 0.0, 0.0)}, case)
    assert bench.judged().verdict == "not_implemented"


@pytest.mark.parametrize("lie", [1, "true", [True], {"a": 1}])
def test_untouched_is_believed_as_a_boolean_alone(bench: Bench, lie: object) -> None:
    for case in CASES:
        bench.statuses[case] = {**OK, "untouched": lie}
    assert bench.judged().verdict == "pass"


def test_context_is_shown_and_not_judged(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {**RIGHT, "loss": floats(5.0)})
    bench.hand_back({**RIGHT, "loss": floats(6.0)})
    assert bench.judged().verdict == "fail"
    shown = CHECK.model_copy(update={"context": ["loss"]})
    judged = bench.judged(shown)
    assert judged.verdict == "pass"
    assert [e.ok for e in JUDGE.result("probe", shown, judged).evidence if e.tensor == "loss"] == [False]


def test_nothing_passes_in_a_vacuum(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {})
    assert (bench.judged().verdict, bench.judged().detail) == ("fail", "nothing was compared")
    only_context = Bench(tmp_path / "context", RIGHT)
    assert only_context.judged(CHECK.model_copy(update={"context": ["dinp"]})).verdict == "fail"
    nowhere = JUDGE.check("probe", CHECK, [], probed({}, {}))
    assert nowhere.verdict != "pass"


def test_the_calls_explain(bench: Bench) -> None:
    check = CHECK.model_copy(update={"calls": True})
    bench.statuses[CASES[0]] = {**OK, "calls": [{"function": "f", "args": {"dinp": "a"}}, "not a call", {"args": 3}]}
    judged = bench.judged(check)
    assert judged.calls_differ == "1 calls are made, 0 are right; too many from f(a, …) on"
    assert judged.verdict == "pass"


def test_indices_bear_the_names_of_the_axes(bench: Bench) -> None:
    assert JUDGE.place("probe", "dinp", (1, 17)) == "[l=1, c=17]"
    assert JUDGE.place("probe", "dinp", (1, 2, 3)) == "[1, 2, 3]"
    assert JUDGE.place("probe", "other", (4,)) == "[4]"


def test_layers_are_those_of_tensors_that_have_some(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"dinp": np.ones((3, 2), np.float32)})
    bench.hand_back({"dinp": np.array([[1, 1], [1, 1], [9, 1]], np.float32)})
    (found,) = JUDGE.result("probe", CHECK, bench.judged()).evidence
    assert (found.layers, found.place) == ([2], "[l=2, c=0]")


def test_numbers_without_a_word_in_json_are_left_out(bench: Bench) -> None:
    bench.hand_back({"dinp": floats(1.0, np.nan, 3.0)})
    (found,) = JUDGE.result("probe", CHECK, bench.judged()).evidence
    assert (found.got, found.absolute, found.error, found.reason) == (None, None, None, "not finite")
