"""Where limits are written, and writing evidence beside them: all else in the file stays as it is."""

from __future__ import annotations

import yaml

from grader import assignment as assignments
from grader import tolerances
from grader.calibration.limits import Place, Written, is_exact, nominal
from grader.tolerances import Evidence, Limit, Tolerances

TEXT = """\
# Limits.
measured:
  A2:
    gelu:
      dinp: {scale: max, rtol: 1.0e-4, source: unmeasured}  # why it is so
    matmul: &both
      # a note
      dinp: {scale: max, rtol: 1.0e-4, evidence: {honest: 1.0e-07, wrong: 1.0e-01, wrong_is: old}}
      "*": {scale: absolute,
            atol: 1.0e-5, source: guessed}
    other: *both
  HW2:
    loss:
      loss: {scale: max, rtol: 1.0e-4, source: unmeasured}
official: {}
"""


def found(text: str = TEXT) -> Written:
    return Written(text, "A2")


def test_every_limit_is_found_once() -> None:
    assert [place.name for place in found().places] == ["gelu.dinp", "matmul.dinp", "matmul.*"]


def test_a_tensor_has_its_own_limit_or_its_checks() -> None:
    written = found()
    assert written.place("gelu", "dinp") == written.places[0]
    assert written.place("gelu", "dweight") is None
    assert written.place("matmul", "dweight") == written.places[2]
    assert written.place("other", "dinp") == written.place("matmul", "dinp"), "one limit, two checks"
    assert written.place("loss", "loss") is None, "another assignment's"


def test_evidence_takes_the_place_of_what_stood_there() -> None:
    written = found()
    evidence = {
        written.places[0]: Evidence(honest=2.14e-6, honest_is="gcc -Ofast, 3 threads", wrong=0.01, wrong_is="erf"),
        written.places[1]: Evidence(honest=0.0, wrong=None),
        written.places[2]: Evidence(honest=1e-7, wrong=0.5, wrong_is="it's wrong"),
    }
    lines = written.with_evidence(evidence).splitlines()
    changed = {number: line for number, line in enumerate(lines) if line != TEXT.splitlines()[number]}
    assert changed == {
        4: "      dinp: {scale: max, rtol: 1.0e-4, evidence: {honest: 2.1e-06, honest_is: 'gcc -Ofast, 3 threads',"
        " wrong: 1.0e-02, wrong_is: erf}}  # why it is so",
        7: "      dinp: {scale: max, rtol: 1.0e-4, evidence: {honest: 0.0e+00, wrong: null}}",
        9: "            atol: 1.0e-5, evidence: {honest: 1.0e-07, wrong: 5.0e-01, wrong_is: 'it''s wrong'}}",
    }
    read = yaml.safe_load("\n".join(lines))["measured"]["A2"]["matmul"]["*"]["evidence"]
    assert read == {"honest": 1e-7, "wrong": 0.5, "wrong_is": "it's wrong"}


def test_a_limit_without_either_gets_its_evidence_at_its_end() -> None:
    written = Written(TEXT.replace(", source: unmeasured", "", 1), "A2")
    text = written.with_evidence({written.places[0]: Evidence(honest=1e-7, wrong=1.0, wrong_is="w")})
    assert "{scale: max, rtol: 1.0e-4, evidence: {honest: 1.0e-07, wrong: 1.0e+00, wrong_is: w}}" in text


def test_what_was_written_is_read_again() -> None:
    text = tolerances.PATH.read_text("utf-8")
    for name in assignments.known_ids():
        written = Written(text, name)
        new = written.with_evidence({p: Evidence(honest=1e-9, wrong=1.0, wrong_is="w") for p in written.places})
        measured = Tolerances.model_validate(yaml.safe_load(new)).measured[name]
        limits = [measured[place.check][place.tensor] for place in written.places]
        assert {(limit.evidence.honest, limit.evidence.wrong) for limit in limits if limit.evidence} == {(1e-9, 1.0)}
        assert len([line for line in new.splitlines() if "#" in line]) == text.count("#")


def test_a_limit_as_one_number() -> None:
    assert nominal(Limit(scale="max", rtol=1e-4, atol=1e-6, source="s")) == 1e-4
    assert nominal(Limit(scale="absolute", atol=1e-5, source="s")) == 1e-5
    assert nominal(Limit(scale="element", rtol=1e-3, atol=1e-9, source="s")) == 1.0


def test_what_leaves_no_room_has_nothing_to_measure() -> None:
    assert is_exact(Limit(scale="absolute", source="exact"))
    assert is_exact(Limit(scale="order", source="exact"))
    assert is_exact(Limit(scale="absolute", atol=0.05, source="exact: the range of RParam"))
    assert not is_exact(Limit(scale="absolute", atol=0.05, source="a guess"))
    assert not is_exact(Limit(scale="max", rtol=1e-4, source="s"))


def test_places_are_in_the_order_of_the_file() -> None:
    assert sorted([Place(5, 9, "b", "x"), Place(1, 4, "c", "y")])[0].start == 1
