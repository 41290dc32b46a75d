"""The reference's regions, the rows that they are about, and the mutants that they give."""

from __future__ import annotations

import pytest

from grader import assignment as assignments
from grader.errors import InfrastructureError, UsageError
from grader.mutation import notes
from grader.mutation.regions import all_mutants, reference_file, regions, row_of
from grader.mutation.study import sampled

ENOUGH = 300  # mutants of each assignment


@pytest.mark.parametrize("name", assignments.known_ids())
def test_every_region_has_a_row_and_every_row_that_is_probed_alone_a_region(name: str) -> None:
    assignment = assignments.load(name)
    rows = {row_of(assignment, region) for region in regions(assignment)}
    trained = {row.id for row in assignment.rows if any(assignment.checks[c].training for c in row.checks)}
    assert rows == {row.id for row in assignment.rows} - trained


def test_a_region_without_a_row_is_refused() -> None:
    assignment = assignments.load("HW2")
    rows = [row.model_copy(update={"solves": []}) for row in assignment.rows]
    region = next(region for region in regions(assignment) if region.name == "Linear.forward")
    with pytest.raises(InfrastructureError, match=r"no row of HW2 is about Linear\.forward"):
        row_of(assignment.model_copy(update={"rows": rows}), region)


def test_a_function_with_two_regions_numbers_them() -> None:
    names = [region.name for region in regions(assignments.load("HW2"))]
    assert names[-2:] == ["SentenceSentimentTrain.train#1", "SentenceSentimentTrain.train#2"]
    assert "backpropagate" in names


@pytest.mark.parametrize("name", assignments.known_ids())
def test_there_are_enough_mutants_and_each_changes_its_region_alone(name: str) -> None:
    assignment = assignments.load(name)
    mutants = all_mutants(assignment)
    assert len(mutants) >= ENOUGH
    assert len({mutant.id for mutant in mutants}) == len(mutants)
    for mutant in mutants:
        source, region = reference_file(assignment, mutant.region.file).read_bytes(), mutant.region
        assert mutant.source != source
        assert mutant.source[: region.start] == source[: region.start]
        assert mutant.source.endswith(source[region.end :])


def test_the_mutants_of_one_function() -> None:
    assignment = assignments.load("HW2")
    assert {m.region.name for m in all_mutants(assignment, "Linear.forward")} == {"Linear.forward"}
    assert len({m.region.name for m in all_mutants(assignment, "SentenceSentimentTrain.train")}) == 2
    with pytest.raises(UsageError, match="no solution in `gelu`; there are: topological_sort, "):
        all_mutants(assignment, "gelu")


def test_a_sample_takes_from_each_function_alike_and_is_the_seeds() -> None:
    assignment = assignments.load("A2")
    mutants = all_mutants(assignment)
    drawn = sampled(mutants, 24, seed=3)
    counts = {region.name: sum(m.region == region for m in drawn) for region in regions(assignment)}
    assert len(drawn) == 24
    assert set(counts.values()) == {2, 3}
    assert [m.id for m in drawn] == [m.id for m in sampled(mutants, 24, seed=3)]
    assert [m.id for m in drawn] != [m.id for m in sampled(mutants, 24, seed=4)]
    assert len(sampled(mutants, 10**6, seed=0)) == len(mutants)


@pytest.mark.parametrize("name", assignments.known_ids())
def test_what_was_looked_at_is_still_there(name: str) -> None:
    assignment = assignments.load(name)
    noted = [mutant for note in notes.load(assignment).notes for mutant in note.ids]
    assert len(set(noted)) == len(noted)
    assert set(noted) <= {mutant.id for mutant in all_mutants(assignment)}
