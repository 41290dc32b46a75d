"""The comparison: what is within passes, and nothing else does."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from grader.compare import allowed_error, compare
from grader.tolerances import Limit
from tests.grader.builders import ABSOLUTE, ELEMENT, RELATIVE, compared, floats

LIMITS = [RELATIVE, ELEMENT, ABSOLUTE]
NOT_FINITE = [math.nan, math.inf, -math.inf]
RIGHT = floats(1.0, -2.0, 3.0)

Floats = NDArray[np.float32]

SHAPES = hnp.array_shapes(max_dims=3, max_side=4)
ANY = st.floats(width=32)
ORDINARY = st.floats(-1e6, 1e6, width=32)


def arrays(elements: st.SearchStrategy[float]) -> st.SearchStrategy[Floats]:
    return SHAPES.flatmap(lambda shape: hnp.arrays(np.float32, shape, elements=elements))


def pairs(
    got: st.SearchStrategy[float], expected: st.SearchStrategy[float]
) -> st.SearchStrategy[tuple[Floats, Floats]]:
    """Two arrays of one shape."""
    return SHAPES.flatmap(
        lambda shape: st.tuples(
            hnp.arrays(np.float32, shape, elements=got), hnp.arrays(np.float32, shape, elements=expected)
        )
    )


@pytest.mark.parametrize("limit", LIMITS)
def test_equal_tensors_pass(limit: Limit) -> None:
    found = compared(RIGHT.copy(), RIGHT, limit)
    assert (found.ok, found.reason, found.error, found.wrong) == (True, "", 0.0, 0)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("value", NOT_FINITE)
def test_a_value_that_is_not_finite_fails(limit: Limit, value: float) -> None:
    found = compared(floats(1.0, value, 3.0), RIGHT, limit)
    assert (found.ok, found.reason, found.wrong) == (False, "not finite", 1)
    assert found.worst is not None
    assert found.worst.index == (1,)
    assert found.error == math.inf


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("value", NOT_FINITE)
def test_an_expected_value_that_is_not_finite_passes_nothing(limit: Limit, value: float) -> None:
    expected = floats(1.0, value, 3.0)
    assert not compared(expected.copy(), expected, limit).ok
    assert not compared(RIGHT, expected, limit).ok


@given(arrays(ANY), st.sampled_from(LIMITS))
def test_nan_anywhere_never_passes(expected: Floats, limit: Limit) -> None:
    for index in np.ndindex(expected.shape):
        got = expected.copy()
        got[index] = math.nan
        assert not compared(got, expected, limit).ok


@given(pairs(ANY, ANY), st.sampled_from(LIMITS))
def test_a_pass_means_that_every_element_is_within(pair: tuple[Floats, Floats], limit: Limit) -> None:
    got, expected = (array.astype(np.float64) for array in pair)
    found = compared(pair[0], pair[1], limit)
    if found.ok:
        assert np.isfinite(got).all()
        assert (np.abs(got - expected) <= allowed_error(expected, limit)).all()
    else:
        assert found.wrong > 0


@given(arrays(ORDINARY), st.floats(-0.9, 0.9), st.sampled_from(LIMITS))
def test_an_error_below_the_limit_passes(expected: Floats, share: float, limit: Limit) -> None:
    right = expected.astype(np.float64)
    assert compared(right + share * allowed_error(right, limit), right, limit).ok


@given(arrays(ORDINARY), st.floats(1.1, 1e3), st.sampled_from([-1.0, 1.0]), st.sampled_from(LIMITS))
def test_an_error_above_the_limit_fails(expected: Floats, share: float, sign: float, limit: Limit) -> None:
    right = expected.astype(np.float64)
    allowed = allowed_error(right, limit)
    got = right + sign * share * allowed
    if (np.abs(got - right) > allowed).any():  # a bound below the spacing of floats cannot be passed
        assert not compared(got, right, limit).ok


@given(pairs(ORDINARY, ORDINARY), st.integers(-20, 20))
def test_the_relative_verdict_does_not_depend_on_the_scale(pair: tuple[Floats, Floats], power: int) -> None:
    got, expected = (array.astype(np.float64) for array in pair)
    scaled = compared(got * 2.0**power, expected * 2.0**power)
    assert scaled.ok == compared(got, expected).ok


@given(pairs(ORDINARY, ORDINARY), st.sampled_from(LIMITS))
def test_the_verdict_does_not_depend_on_the_order(pair: tuple[Floats, Floats], limit: Limit) -> None:
    got, expected = pair
    turned = compared(got.reshape(-1)[::-1], expected.reshape(-1)[::-1], limit)
    assert (turned.ok, turned.wrong) == (compared(got, expected, limit).ok, compared(got, expected, limit).wrong)


@given(arrays(ORDINARY))
def test_zeros_pass_for_zeros_alone(expected: Floats) -> None:
    assert compared(np.zeros_like(expected), expected).ok == (not expected.any())


def test_negative_zero_is_zero() -> None:
    assert compared(floats(-0.0), floats(0.0), Limit(scale="absolute", rtol=0.0, atol=0.0, source="exact")).ok


def test_denormals_do_not_pass_for_ordinary_values() -> None:
    assert not compared(np.full(3, 1e-45, np.float32), RIGHT).ok


def test_denormals_are_compared_like_other_numbers() -> None:
    tiny = np.array([4e-45, 1.4e-45], np.float32)
    assert compared(tiny.copy(), tiny).ok
    assert not compared(tiny[::-1], tiny).ok


def test_a_tensor_of_zeros_leaves_no_room_without_a_floor() -> None:
    assert not compared(floats(1e-30), floats(0.0)).ok
    assert compared(floats(1e-7), floats(0.0), Limit(scale="max", rtol=1e-4, atol=1e-6, source="made up")).ok


def test_the_largest_element_sets_the_scale() -> None:
    assert compared(floats(1000.0, 0.05), floats(1000.0, 0.0)).ok
    assert not compared(floats(1000.0, 0.2), floats(1000.0, 0.0)).ok


def test_element_wise_limits_look_at_each_element() -> None:
    assert not compared(floats(1000.0, 0.05), floats(1000.0, 0.0), ELEMENT).ok
    assert compared(floats(1000.5, 0.0), floats(1000.0, 0.0), ELEMENT).ok


def test_absolute_limits_are_blind_to_scale() -> None:
    """The handout's own: an all-zero gradient passes where the gradient is small."""
    assert compared(np.zeros(3, np.float32), floats(1e-3, -5e-3, 9e-3), ABSOLUTE).ok


def test_a_difference_too_large_for_a_float_fails() -> None:
    found = compared(np.array([1.7e308]), np.array([-1.7e308]))
    assert (found.ok, found.wrong) == (False, 1)


def test_missing() -> None:
    assert compared(None, RIGHT).reason == "missing"


def test_another_shape_fails_even_if_it_could_be_broadcast() -> None:
    for got in (RIGHT.reshape(3, 1), RIGHT.reshape(1, 3), RIGHT[:1], RIGHT[:0], np.ones((), np.float32)):
        found = compared(got, RIGHT)
        assert (found.ok, found.reason, found.note) == (False, "shape", str(list(got.shape)))


@pytest.mark.parametrize("kind", ["f2", "i1", "u1", "?", "c8", "O", "U4", "M8[s]"])
def test_another_type_fails(kind: str) -> None:
    assert compared(np.ones(3).astype(kind), np.ones(3)).reason == "type"


def test_the_worst_element_is_named() -> None:
    expected = np.ones((2, 3), np.float32)
    got = expected.copy()
    got[0, 1], got[1, 2] = 2.0, -4.0
    found = compared(got, expected)
    assert found.worst is not None
    assert (found.worst.index, found.worst.got, found.worst.expected) == ((1, 2), -4.0, 1.0)
    assert (found.worst.absolute, found.worst.relative, found.wrong, found.size) == (5.0, 5.0, 2, 6)


def test_the_worst_element_is_one_that_is_beyond_the_limit() -> None:
    """With a limit for each element, a larger error may be allowed elsewhere."""
    found = compared(floats(10000.5, 0.1), floats(10000.0, 0.0), ELEMENT)
    assert found.worst is not None
    assert found.worst.index == (1,)


def test_layers_are_counted_on_the_first_axis() -> None:
    expected = np.ones((4, 2, 2), np.float32)
    got = expected.copy()
    got[1, 0, 1], got[3] = 7.0, math.nan
    assert compared(got, expected, layered=True).layers == (1, 3)
    assert compared(got, expected).layers == ()


@given(pairs(ANY, ANY), st.sampled_from(LIMITS))
def test_the_inputs_are_left_alone(pair: tuple[Floats, Floats], limit: Limit) -> None:
    before = [array.tobytes() for array in pair]
    compare("check/case", "t", pair[0], pair[1], limit)
    assert [array.tobytes() for array in pair] == before


def test_the_error_of_a_mixed_tensor_is_a_share_of_what_is_allowed() -> None:
    found = compared(floats(1.0005, 2.0), floats(1.0, 2.0), ELEMENT)
    assert (found.of_allowed, found.limit) == (True, 1.0)
    assert found.error == pytest.approx(0.5, rel=0.01)
    assert not compared(floats(1.0), floats(1.0)).of_allowed
