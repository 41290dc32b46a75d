"""What is seen of a limit, and when it may not stand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from grader import assignment as assignments
from grader import fixtures, sandbox
from grader.calibration import arithmetic, strips
from grader.calibration.limits import Place
from grader.calibration.measure import Calibration, Measured, Seen
from grader.calibration.samples import Sample, reference, samples
from grader.tolerances import Limit
from tests.grader.builders import check_result, evidence, result, row_result

PLACE = Place(0, 1, "gelu_backward", "dinp")
LIMIT = Limit(scale="max", rtol=1e-4, source="s")


def measured(honest: Mapping[str, float], wrong: Mapping[str, float], judged: bool = True) -> Measured:
    return Measured(PLACE, LIMIT, judged, dict(honest), dict(wrong))


def calibration(name: str = "A2", *rows: str) -> Calibration:
    public = fixtures.load(fixtures.set_folder(name, "public"))
    return Calibration(assignments.load(name), public, sandbox.choose("limits"), rows)


@pytest.mark.parametrize(
    ("honest", "wrong", "problems"),
    [
        ({"gcc": 0.19}, {"erf": 5.1}, []),
        ({"gcc": 0.25, "clang": 0.1}, {"erf": 50.0}, ["right code comes within a factor 4.0"]),
        ({"gcc": 0.01}, {"erf": 4.0, "no": 9.0}, ["wrong code comes within a factor 4.0"]),
        ({"gcc": 0.01}, {"erf": 0.5}, ["wrong code comes within a factor 0.5"]),
        ({"gcc": 0.01}, {}, ["no wrong code is known"]),
        ({}, {"erf": 50.0}, ["no right code was measured"]),
        ({"gcc": 2.0}, {"erf": 50.0}, ["right code comes within a factor 0.5"]),
        ({"gcc": 0.0}, {"erf": 50.0}, []),
    ],
)
def test_a_limit_keeps_its_distance(
    honest: Mapping[str, float], wrong: Mapping[str, float], problems: list[str]
) -> None:
    assert measured(honest, wrong).problems == problems


def test_what_is_shown_alone_needs_no_mistake() -> None:
    assert measured({"gcc": 0.01}, {}, judged=False).problems == []


def test_the_evidence_names_the_outermost() -> None:
    found = measured({"gcc": 0.001, "clang": 0.02}, {"erf": 102.0, "half": 5000.0}).evidence()
    assert (found.honest_is, found.wrong_is) == ("clang", "erf")
    assert [found.honest, found.wrong] == pytest.approx([2e-6, 1.02e-2])


def test_what_a_mistake_moves_by_next_to_nothing_says_nothing() -> None:
    tensors = [evidence(tensor="dinp", error=1e-7), evidence(False, tensor="dinp2", error=3e-2)]
    row = row_result("fail", id="gelu_residual_backward", checks=[check_result("fail", id="gelu_backward")])
    made = calibration()
    untouched = row.model_copy(update={"checks": [check_result("fail", id="gelu_backward", evidence=tensors[:1])]})
    assert list(made._seen(Sample("erf", {}, "gelu_residual_backward"), result(untouched))) == []
    assert [s.share for s in made._seen(Sample("gcc", {}), result(untouched))] == [pytest.approx(1e-3)]


def test_of_a_mistake_its_own_row_counts_alone() -> None:
    other = row_result("fail", id="encoder_backward", checks=[check_result("fail", id="encoder_backward")])
    made = calibration()
    assert list(made._seen(Sample("erf", {}, "gelu_residual_backward"), result(other))) == []


def test_what_is_seen_is_put_together_by_limit() -> None:
    made = calibration("A2", "gelu_residual_backward")
    place = made.written.place("gelu_backward", "dinp")
    assert place is not None
    seen = [Seen(place, "dinp", "gcc", False, share) for share in (0.1, 0.3)]
    seen += [Seen(place, "dinp", "erf", True, share) for share in (9.0, 2.0)]
    found = made.collected(seen)
    assert [m.place.name for m in found] == ["gelu_backward.dinp", "residual_backward.dinp1", "residual_backward.dinp2"]
    assert (found[0].honest, found[0].wrong) == ({"gcc": 0.3}, {"erf": 9.0})
    assert found[1].problems == ["no right code was measured", "no wrong code is known"]


def test_of_tensors_under_one_limit_the_nearest_counts() -> None:
    made = calibration("HW2", "network_forward")
    place = made.written.place("network_forward", "dw1")
    assert place is not None
    assert place == made.written.place("network_forward", "db1")
    shares = {"dw1": 900.0, "db1": 40.0}
    seen = [
        Seen(place, tensor, kind, kind == "wrong", share) for tensor, share in shares.items() for kind in ("r", "wrong")
    ]
    found = next(m for m in made.collected(seen) if m.place == place)
    assert (found.honest, found.wrong) == ({"r": 900.0}, {"wrong": 40.0})


def test_the_dictionarys_faults_are_measured_on_the_fixtures_cases() -> None:
    made = calibration("A2", "layernorm_backward")
    found = {seen.source for seen in made.of_faults()}
    assert found
    assert all(seen.wrong and seen.share > 0.2 for seen in made.of_faults())


@pytest.mark.parametrize("name", assignments.known_ids())
def test_the_samples_begin_with_the_right_ones(name: str) -> None:
    assignment = assignments.load(name)
    found = samples(assignment)
    assert len({(sample.name, bool(sample.row)) for sample in found}) == len(found)
    assert found[0].files == reference(assignment)
    assert sum(not sample.row for sample in found) >= 30
    assert sum(bool(sample.row) for sample in found) >= 80


def test_other_arithmetics_of_a_framework_differ_from_it() -> None:
    assignment = assignments.load("HW2")
    files = [framework.files(assignment) for framework in arithmetic.load("HW2").frameworks]
    assert len({text for made in files for text in made.values()}) == len(files)
    broken = arithmetic.Framework(
        name="broken", what="", patches=[arithmetic.Change(file="minitorch/numpy_ops.py", replace="no such", by="")]
    )
    with pytest.raises(ValueError, match="stands 0 times"):
        broken.files(assignment)


def test_graded_right_code_gives_honest_errors_and_wrong_code_wrong_ones() -> None:
    made = calibration("A2", "gelu_residual_backward")
    files = reference(assignments.load("A2"))
    right = Sample("right", files, flags=("-O0",))
    text = files["train_gpt2.c"].replace("slope * dout[i];", "1.01f * slope * dout[i];")
    wrong = Sample("wrong", {"train_gpt2.c": text}, "gelu_residual_backward", flags=("-O0",))
    told: list[str] = []
    found = made.run([right, wrong], 2, told.append)
    assert sorted(told) == ["right", "wrong"]
    assert 0 < found[0].honest["right"] < 0.2
    assert found[0].wrong["wrong"] == pytest.approx(100, rel=0.2)
    assert "wrong" not in found[1].wrong, "residual_backward is right in it"
    assert strips.table(found)
