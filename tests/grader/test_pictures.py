"""Pictures of tensors: what is drawn, and that it is bounded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.pictures import MOST_COLUMNS, MOST_POINTS, MOST_ROWS, picture, series
from grader.result import BLANK, LEVELS, NOT_FINITE, Picture
from grader.tolerances import Limit
from tests.grader.builders import ABSOLUTE, ELEMENT, RELATIVE

EXACT = Limit(scale="absolute", rtol=0.0, atol=0.0, source="exact")
ORDER = Limit(scale="order", rtol=0.0, atol=0.0, source="exact")


def drawn(got: object, expected: object, limit: Limit = RELATIVE) -> Picture:
    found = picture(np.asarray(got, np.float32), np.asarray(expected, np.float64), limit, ["b", "c"], [[], ["q", "k"]])
    assert found is not None
    return found


def test_each_cell_is_an_element_where_there_is_room() -> None:
    found = drawn([[1.0, -1.0], [0.0, 0.25], [0.5, 9.0]], [[1.0, 1.0], [0.0, 0.25], [0.5, 0.0]])
    assert (found.axes, found.parts) == (["b", "c"], ["q", "k"])
    assert (found.rows, found.columns, found.tall, found.wide) == (3, 2, 1, 1)
    assert found.expected == ["ss", "jn", "pj"], "the root of the share of the largest"
    assert found.got == ["sa", "jn", "ps"]
    assert found.off == ["ja", "jj", "js"]


def test_levels_of_what_is_off_are_half_decades() -> None:
    expected = np.ones((1, 6))
    off = expected + np.array([[0.9e-4, 2e-4, -5e-4, 2e-3, -2e-2, 2.0]])
    assert drawn(off, expected).off == ["jkhmes"]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_seen(value: float) -> None:
    found = drawn([[value, 1.0]], [[1.0, 1.0]])
    assert (found.got, found.off, found.expected) == (["!s"], ["!j"], ["ss"])


def test_a_cell_shows_its_worst_element() -> None:
    expected = np.ones((64, 96))
    got = expected.copy()
    got[3, 5] = -1.0
    found = drawn(got, expected)
    assert (found.tall, found.wide, len(found.off), len(found.off[0])) == (2, 2, 32, 48)
    assert [(y, x) for y, row in enumerate(found.off) for x, c in enumerate(row) if c != BLANK] == [(1, 2)]
    assert (found.got[1][2], found.off[1][2]) == ("a", "a")


@pytest.mark.parametrize("limit", [RELATIVE, ELEMENT, ABSOLUTE, EXACT])
def test_what_is_within_the_limit_is_blank(limit: Limit) -> None:
    expected = np.array([[0.0, 1.0, -3.0]])
    assert drawn(expected, expected, limit).off == ["jjj"]
    assert drawn(expected + 5, expected, limit).off != ["jjj"]


def test_what_has_no_picture() -> None:
    one = np.ones((1,), np.float32)
    assert picture(one, one, RELATIVE, ["i"], []) is None
    assert picture(np.ones(3), np.ones(4), RELATIVE, ["i"], []) is None
    assert picture(np.ones(3), np.ones(3), ORDER, ["i"], []) is None


@given(st.lists(st.integers(1, 70), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
def test_it_is_bounded_whatever_the_shape(shape: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    expected, got = rng.normal(size=shape), rng.normal(size=shape)
    got.flat[0] = rng.choice([np.nan, np.inf, 1e300, 0.0])
    found = picture(got, expected, ELEMENT, [], [])
    if expected.size < 2:
        assert found is None
        return
    assert found is not None
    assert found.axes == [f"axis {i}" for i in range(len(shape))]
    for rows in (found.expected, found.got, found.off):
        assert len(rows) == -(-found.rows // found.tall) <= MOST_ROWS
        assert {len(row) for row in rows} == {-(-found.columns // found.wide)}
        assert len(rows[0]) <= MOST_COLUMNS
        assert set("".join(rows)) <= set(LEVELS + NOT_FINITE)


def test_a_long_series_is_thinned_out() -> None:
    found = series("loss", "step", 0, np.arange(1001.0), None, 0.75)
    assert len(found.got) <= MOST_POINTS
    assert (found.every, found.got[:2], found.expected, found.bar) == (6, [0.0, 6.0], [], 0.75)
    short = series("loss", "step", 1, np.array([1.5, np.nan]), np.array([1.0, 2.0, 3.0]), None)
    assert (short.every, short.got, short.expected) == (1, [1.5, None], [1.0, 2.0, 3.0])
