"""Tensors as if a submission had handed them back, through the real judge and explainer."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from grader import assignment as assignments
from grader import faults, fixtures, tensorfile, tolerances
from grader.assignment import Assignment, Check
from grader.cases import Array, Case
from grader.compare import compare
from grader.explain.levels import Level
from grader.explain.observed import CaseSeen, Observed, observe
from grader.explain.why import explain
from grader.fault_tensors import Stored
from grader.faults import Fault
from grader.fixtures import FixtureCase, FixtureSet
from grader.judge import Explained, Judge, Judged
from tests.grader.builders import RELATIVE, assignment, probed

Tensors = Mapping[str, Array]


@cache
def loaded(assignment_id: str) -> Assignment:
    return assignments.load(assignment_id)


@cache
def public_set(assignment_id: str) -> FixtureSet:
    return fixtures.load(fixtures.set_folder(assignment_id, "public"))


@cache
def known(assignment_id: str) -> dict[str, Fault]:
    return {fault.id: fault for fault in faults.load(assignment_id)}


@cache
def inputs_of(assignment_id: str) -> dict[str, Case]:
    """The cases of the public set, as the formulas read them."""
    found = {}
    for entry in public_set(assignment_id).manifest.cases:
        case = FixtureCase(public_set(assignment_id).folder, entry)
        check, name = entry.id.split("/")
        found[entry.id] = Case(check, name, entry.params, tensorfile.read(case.inputs_path))
    return found


def as_handed_back(tensors: Tensors) -> dict[str, Array]:
    """float32, or int32, as code hands it back."""
    with np.errstate(over="ignore"):
        return {n: v.astype(np.int32 if v.dtype.kind in "iu" else np.float32) for n, v in tensors.items()}


def explained(
    assignment_id: str,
    check_id: str,
    got: Mapping[str, Tensors],
    level: Level = "hint",
    *,
    dictionary: bool = True,
    public: bool = True,
    statuses: Mapping[str, Mapping[str, Any]] | None = None,
) -> Explained:
    """What is told of a check whose cases handed these tensors back, right ones where none is given."""
    whole = loaded(assignment_id)
    return explain_in(whole, whole.checks[check_id], check_id, got, level, dictionary, public, statuses)[1]


def explain_in(
    whole: Assignment,
    check: Check,
    check_id: str,
    got: Mapping[str, Tensors],
    level: Level,
    dictionary: bool,
    public: bool,
    statuses: Mapping[str, Mapping[str, Any]] | None,
) -> tuple[Judged, Explained]:
    given = public_set(whole.id)
    cases = given.cases(check.cases_of or check_id)
    with tempfile.TemporaryDirectory() as folder:
        outputs = {}
        for number, case in enumerate(cases):
            outputs[case.id] = Path(folder) / f"{number}.safetensors"
            tensorfile.write(outputs[case.id], as_handed_back({**case.expected, **got.get(case.id, {})}))
        endings = {case.id: {"status": "ok", **(statuses or {}).get(case.id, {})} for case in cases}
        judged = Judge(whole, tolerances.load()).check(check_id, check, cases, probed(endings, outputs))
    known_mistakes = given.dictionary if dictionary else fixtures.Dictionary()
    observed = observe(whole, tolerances.load(), known_mistakes, check_id, check, cases, judged)
    return judged, explain(observed, level, public)


def tensors_of(assignment_id: str, *fault_ids: str) -> dict[str, Tensors]:
    """What a fault, or several at once, give in every case of their check."""
    found = [known(assignment_id)[name] for name in fault_ids]
    formula, switches = found[0].formula, frozenset().union(*(fault.switches for fault in found))
    assert formula is not None
    cases = [case for case in inputs_of(assignment_id).values() if case.check == found[0].check]
    with np.errstate(all="ignore"):
        return {case.id: formula(case, switches) for case in cases}


# ---- made-up tensors ---------------------------------------------------------------------------------------

AXES: dict[str, Any] = {
    "axes": {
        "dx": ["b", "t", "c"],
        "dqkv": ["t", "qkv"],
        "dz": ["b", "t", "v"],
        "ds": ["t", "t2"],
        "dw": ["l", "o"],
        "dv": ["v", "c"],
    },
    "axis_details": {
        "b": {"says": "sequence"},
        "t": {"says": "position"},
        "t2": {"masked_by": "t"},
        "l": {"says": "layer", "passed_last_first": True},
        "qkv": {"split": ["third", "h", "i"]},
        "third": {"names": ["Q", "K", "V"]},
        "h": {"says": "head", "size": "NH"},
        "v": {"padded_from": "V", "chosen_by": ["targets"]},
    },
    "factors": {"HS": "C / NH", "B*T": "B * T"},
}


@dataclass(frozen=True)
class Made:
    """A case that is made up: what came back, what is right, what was given."""

    got: Tensors
    expected: Tensors
    inputs: Tensors = field(default_factory=dict)
    params: Mapping[str, int | float] = field(default_factory=dict)


def described(*made: Made, public: bool = True, level: Level = "hint") -> list[str]:
    """What is said of made-up cases of one check."""
    return [one.text for one in explain(observed_of(*made), level, public).explanations]


def observed_of(*made: Made, dictionary: fixtures.Dictionary | None = None) -> Observed:
    whole = assignment(**AXES)
    seen: dict[str, CaseSeen] = {}
    limits = {name: RELATIVE for one in made for name in one.expected}
    wrong: dict[str, dict[str, str]] = {}
    for number, one in enumerate(made):
        case = f"probe/{number}"
        inputs = {name: np.asarray(value) for name, value in one.inputs.items()}
        seen[case] = CaseSeen(case, one.params, one.got, one.expected, Stored(), lambda given=inputs: given)  # type: ignore[misc]
        for name, expected in one.expected.items():
            found = compare(case, name, one.got.get(name), expected, RELATIVE)
            if not found.ok and name in one.got:
                wrong.setdefault(name, {})[case] = found.reason
    judged = Judged("fail")
    known_mistakes = dictionary or fixtures.Dictionary()
    return Observed("probe", whole.checks["probe"], whole, known_mistakes, judged, [], seen, wrong, limits)
