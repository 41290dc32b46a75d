"""Every known mistake costs its row and no other; the official check's own opinion stands beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import fixtures
from tests.a2.patches import HERE, SOLVED, Mistake, load, write
from tests.support import Graded, Record, grade

MISTAKES = load(HERE / "mistakes.yaml", Mistake)
WRONG = [mistake for mistake in MISTAKES if mistake.serial == "wrong"]
MARKED = [pytest.param(mistake, id=mistake.name, marks=[pytest.mark.slow] if mistake.slow else []) for mistake in WRONG]
SAYS = {fault.id: fault.says for fault in fixtures.load(fixtures.set_folder("A2", "public")).dictionary.faults}
THREADS_ONLY = [mistake for mistake in MISTAKES if mistake.serial == "right"]


def name(mistake: Mistake) -> str:
    return mistake.name


def graded(mistake: Mistake, folder: Path) -> Graded:
    return grade(write(folder / mistake.name, mistake.source(SOLVED)))


def wrong_tensors(check: Record) -> set[str]:
    return {evidence["tensor"] for evidence in check["evidence"] if not evidence["ok"]}


def probe_of(mistake: Mistake, result: Graded) -> Record:
    """The check that calls the mistaken function directly."""
    checks = result.rows[mistake.row]["checks"]
    found: Record = next(c for c in checks if c["function"] == mistake.function and c["role"] == "direct")
    return found


def is_explained(mistake: Mistake, said: list[str]) -> bool:
    """Whether it is named by the fault dictionary, or told in the words that it is to be told in."""
    words = mistake.told or SAYS.get(mistake.fault or mistake.name)
    return any(words in text for text in said) if words else mistake.verdict in ("crashed", "not_implemented")


@pytest.mark.parametrize("mistake", MARKED)
def test_a_mistake_costs_its_row_and_no_other(mistake: Mistake, tmp_path: Path) -> None:
    result = graded(mistake, tmp_path)
    row = result.rows[mistake.row]
    upstream = {"adamw"} if mistake.official == "fails" else set()
    assert result.lost == {mistake.row} | upstream, result.said()
    assert (row["points"], row["verdict"], row["inferred"]) == (0, mistake.verdict, False), result.said()
    assert result.exit == 0
    assert (result.checks["ten_steps"]["verdict"] == "pass") == (mistake.official == "passes"), result.said()
    if mistake.wrong:
        assert wrong_tensors(probe_of(mistake, result)) == set(mistake.wrong)
    said = [one["text"] for check in row["checks"] for one in check["explanations"]]
    assert is_explained(mistake, said), said


@pytest.mark.parametrize("mistake", THREADS_ONLY, ids=name)
def test_a_race_is_right_in_the_serial_build(mistake: Mistake, tmp_path: Path) -> None:
    result = graded(mistake, tmp_path)
    assert result.result["score"] == 100, result.said()


def test_the_official_check_passes_many() -> None:
    """Why this grader exists: llm.c's own check lets these through."""
    assert sum(mistake.official == "passes" for mistake in WRONG) >= 30


def test_every_function_has_its_mistakes() -> None:
    counts = {mistake.function: 0 for mistake in MISTAKES}
    for mistake in MISTAKES:
        counts[mistake.function] += 1
    assert len(counts) == 10
    assert min(counts.values()) >= 8, counts
