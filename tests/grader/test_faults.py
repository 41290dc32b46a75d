"""Known mistakes: the model, what a fixture set keeps of them, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader import fault_build, fault_tensors, faults, fixture_build, fixtures
from grader.cases import Array, Case
from grader.errors import InfrastructureError
from grader.fault_tensors import SAMPLE, Stored, pack, sample, unpack
from grader.faults import Fault, Switches, alone, family, together
from grader.tolerances import Limit, Tolerances
from tests.grader.builders import RELATIVE, assignment

CASES = [Case("probe", name, {"N": n}, {"x": np.linspace(1, 2, n)}) for name, n in (("small", 12), ("large", 300))]


def formula(case: Case, on: Switches) -> Mapping[str, Array]:
    """y = a·x + b·x², z = x."""
    x = case.inputs["x"].astype(np.float64)
    y = (2.0 if "a-doubled" in on else 1.0) * x + (0.0 if "b-missing" in on else 1.0) * x * x
    y = y * (-1.0 if "negated" in on else 1.0)
    return {"y": y, "z": x + 0.5 * ("z-shifted" in on) + 0.0 * ("nothing" in on)}


def of_family(*names: str) -> list[Fault]:
    return family("first", "probe", "f", formula, {name: (f"{name} is so", "look") for name in names})


def tolerances(limit: Limit = RELATIVE) -> Tolerances:
    return Tolerances(measured={"X1": {"probe": {"*": limit}}}, official={})


def built(*own: Fault, limit: Limit = RELATIVE) -> fault_build.CheckFaults:
    made = [(case, dict(formula(case, frozenset()))) for case in CASES]
    return fault_build.CheckFaults("X1", "probe", own, made, tolerances(limit))


def test_a_family() -> None:
    one, both = of_family("a-doubled", "all=a-doubled+b-missing")
    assert (one.id, set(one.switches)) == ("f-a-doubled", {"a-doubled"})
    assert (both.id, set(both.switches)) == ("f-all", {"a-doubled", "b-missing"})
    assert (one.row, one.check, one.says, one.hint, one.paired) == ("first", "probe", "a-doubled is so", "look", True)
    assert np.array_equal(one.tensors(CASES[0])["y"], formula(CASES[0], one.switches)["y"])


def test_two_made_together() -> None:
    a, b, both = of_family("a-doubled", "b-missing", "all=a-doubled+b-missing")
    found = together(a, b)
    assert found is not None
    assert found.switches == both.switches
    assert together(a, both) is None, "it is made already"
    other = Fault("g", "first", "probe", "", "", alone(lambda case: {"y": case.inputs["x"]}))
    assert together(a, other) is None, "they have no formula in common"
    (rare,) = family("first", "probe", "f", formula, {"b-missing": ("", "")}, ["b-missing"])
    assert together(a, rare) is None


def test_what_is_computed_from_what_was_handed_back_has_no_tensors_of_its_own() -> None:
    with pytest.raises(InfrastructureError, match="computed from what was handed back"):
        Fault("g", "first", "probe", "", "").tensors(CASES[0])


def test_only_what_is_wrong_is_kept() -> None:
    found = built(*of_family("a-doubled", "z-shifted"))
    kept = found.stored["probe/small"].single
    assert {name: list(own) for name, own in kept.items()} == {"f-a-doubled": ["y"], "f-z-shifted": ["z"]}


def test_pairs_that_add_up_are_listed_and_others_kept() -> None:
    found = built(*of_family("a-doubled", "b-missing", "negated", "z-shifted"))
    assert found.additive == [(0, 1), (0, 3), (1, 3), (2, 3)]
    pairs = found.stored["probe/small"].pairs
    assert {name: list(own) for name, own in pairs.items()} == {"y": [(0, 2), (1, 2)]}
    both = formula(CASES[0], frozenset({"a-doubled", "negated"}))["y"]
    assert np.allclose(pairs["y"][0, 2], both)


def test_a_pair_that_is_one_of_the_two_is_not_kept() -> None:
    """One that sets all to zero leaves nothing for the other to be seen by."""

    def zeroed(case: Case, on: Switches) -> Mapping[str, Array]:
        return {name: value * ("gone" not in on) for name, value in formula(case, on - {"gone"}).items()}

    known = dict.fromkeys(("gone", "negated"), ("", ""))
    found = built(*family("first", "probe", "f", zeroed, known))
    assert (found.additive, found.stored["probe/small"].pairs) == ([], {})


def test_no_pairs_where_limits_know_no_sums() -> None:
    found = built(*of_family("a-doubled", "negated"), limit=Limit(scale="spread", rtol=0.01, source="made up"))
    assert (found.additive, found.stored["probe/small"].pairs) == ([], {})


def test_a_fault_that_no_case_shows_is_refused() -> None:
    with pytest.raises(InfrastructureError, match="no case of probe tells these faults from right code: f-nothing"):
        built(*of_family("a-doubled", "nothing"))


def test_a_fault_that_computes_something_else_is_refused() -> None:
    other = Fault("g", "first", "probe", "", "", alone(lambda case: {"w": case.inputs["x"]}))
    with pytest.raises(InfrastructureError, match="fault g computes w, which probe/small does not expect"):
        built(other)


def test_a_sample_holds_the_last_element() -> None:
    for size in (1, 7, SAMPLE, SAMPLE + 1, 1000, 4097):
        found = sample(size)
        assert len(found) == len(set(found)) <= max(SAMPLE, 1)
        assert found[-1] == size - 1
        assert found.min() >= 0
    assert len(sample(1000)) > 0.9 * SAMPLE


def test_tensors_are_kept_and_read_alike() -> None:
    single: dict[str, dict[str, Array]] = {"a": {"y": np.array([1.5, 1e300])}, "b": {"order": np.array([3, 1])}}
    stored = Stored(single, {"y": {(0, 2): np.array([1.0, np.nan]), (1, 2): np.array([3.0, 4.0])}})
    packed = pack(stored)
    assert packed["a/y"].dtype == np.float32
    assert packed["b/order"].dtype == np.int32
    found = unpack(packed)
    assert found.single["a"]["y"].tolist() == [1.5, np.inf]
    assert found.pairs["y"].keys() == stored.pairs["y"].keys()
    assert np.array_equal(found.pairs["y"][0, 2], [1.0, np.nan], equal_nan=True)
    assert unpack(pack(Stored())) == Stored()


PROBLEMS: list[tuple[dict[str, Any], str]] = [
    ({"row": "third"}, "fault g: there is no row third"),
    ({"check": "other"}, "fault g: there is no check other"),
    ({"id": "f-a-doubled"}, "two faults bear the id f-a-doubled"),
]


@pytest.mark.parametrize(("changes", "told"), PROBLEMS)
def test_a_dictionary_that_does_not_fit_is_refused(changes: dict[str, Any], told: str) -> None:
    other = Fault(**{"id": "g", "row": "first", "check": "probe", "says": "", "hint": "", **changes})
    assert faults.problems(assignment(), [*of_family("a-doubled"), other]) == [told]


def test_both_assignments_have_a_dictionary() -> None:
    for name in ("A2", "HW2"):
        assert faults.load(name)
        given = fixtures.load(fixtures.set_folder(name, "public"))
        assert {text.id for text in given.dictionary.faults} == {fault.id for fault in faults.load(name)}


# ---- in a fixture set --------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of A2's public set."""
    return shutil.copytree(fixtures.set_folder("A2", "public"), tmp_path / "set")


def test_a_damaged_dictionary_is_seen(folder: Path) -> None:
    path = folder / "expected" / fixtures.DICTIONARY
    path.write_text(path.read_text().replace("dinp is set", "dinp was set"))
    with pytest.raises(InfrastructureError, match=r"faults\.json is damaged"):
        assert fixtures.load(folder).dictionary
    case = next(case for case in fixtures.load(folder).cases("gelu_backward") if case.id.endswith("/core"))
    case.faults_path.write_bytes(b"x")
    with pytest.raises(InfrastructureError, match=r"core\.faults\.safetensors is damaged"):
        assert case.faults


def test_a_set_without_a_dictionary_grades_all_the_same(folder: Path) -> None:
    path = folder / fixtures.MANIFEST
    content = json.loads(path.read_text())
    content.pop("faults")
    content["cases"] = [{key: value for key, value in case.items() if key != "faults"} for case in content["cases"]]
    path.write_text(json.dumps(content))
    loaded = fixtures.load(folder)
    assert loaded.dictionary == fixtures.Dictionary()
    assert all(case.faults == fault_tensors.Stored() for case in loaded.cases("gelu_backward"))


def test_verify_sees_other_faults(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = faults.load("A2")
    small = [fault for fault in given if fault.check in ("residual_backward", "no_targets")]
    monkeypatch.setattr(faults, "load", lambda assignment_id: small)
    problems = fixture_build.verify("A2", folder, None)
    assert problems[-1] == "the set's fault dictionary is not the reference's"
    assert any(problem.startswith("gelu_backward/core faults: tensors") for problem in problems)
    assert not any("residual_backward" in problem for problem in problems)
