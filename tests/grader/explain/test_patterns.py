"""Each pattern on made-up tensors: seen where it is, and not seen where it nearly is."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.grader.explain.support import Made, Tensors, described

Float = NDArray[np.float64]
RNG = np.random.default_rng(3)
SHAPE = (2, 5, 7)
PARAMS = {"B": 2, "T": 5, "C": 7}


def values(*shape: int) -> Float:
    return RNG.choice([-1.0, 1.0], shape) * RNG.uniform(0.5, 1.5, shape)


BEFORE, CHANGE = values(*SHAPE), values(*SHAPE)
RIGHT = BEFORE + CHANGE


def made(got: Float, before: Float | None = BEFORE, right: Float = RIGHT, **inputs: Float) -> Made:
    given: Tensors = {**inputs, **({} if before is None else {"dx": before})}
    return Made({"dx": got}, {"dx": right}, given, PARAMS)


def told(got: Float, before: Float | None = BEFORE, right: Float = RIGHT, **inputs: Float) -> str:
    (text,) = described(made(got, before, right, **inputs))
    return text


def test_a_right_tensor_is_told_nothing() -> None:
    assert described(made(RIGHT)) == []
    assert described(made(RIGHT * (1 + 1e-6))) == []


def test_what_is_like_nothing_is_told_as_wrong_and_no_more() -> None:
    assert told(RIGHT + values(*SHAPE)) == "dx is wrong in every element"
    some = RIGHT + np.where(RNG.random(SHAPE) < 0.4, values(*SHAPE), 0.0)
    assert told(some).startswith("dx is wrong in ")
    assert told(some).endswith(" % of the elements")


def test_nothing_added() -> None:
    assert told(BEFORE) == "dx holds what was there before the call: nothing is added"
    assert told(np.zeros(SHAPE), None) == "dx is zero"
    assert told(np.zeros(SHAPE)) == "dx is zero"
    assert "nothing is added" not in told(BEFORE + 0.01 * CHANGE)


def test_set_in_place_of_added() -> None:
    assert told(CHANGE) == "dx is right but for what was in the buffer before, which is lost"
    assert told(RIGHT + BEFORE) == "dx has what was in the buffer before in it twice"
    assert "lost" not in told(CHANGE, None)


def test_the_sign() -> None:
    assert told(BEFORE - CHANGE) == "dx has the wrong sign"
    assert told(-RIGHT, None) == "dx has the wrong sign"
    assert told(-RIGHT) != "dx has the wrong sign", "the buffer's own sign is no mistake of the change"


@pytest.mark.parametrize(
    ("factor", "name"),
    [(2.0, "twice"), (0.5, "half of"), (3.0, "3 times"), (1 / 5, "1/T times"), (7.0, "C times"), (10.0, "B*T times")],
)
def test_a_factor_by_its_likely_name(factor: float, name: str) -> None:
    other = Made({"dx": 2 * factor * RIGHT[:1]}, {"dx": 2 * RIGHT[:1]}, {}, {"B": 2, "T": 5, "C": 7})
    assert described(Made({"dx": factor * RIGHT}, {"dx": RIGHT}, {}, PARAMS), other) == [
        f"dx is {name} what it should be"
    ]


def test_a_factor_that_differs_by_case() -> None:
    cases = [
        Made({"dx": RIGHT / np.sqrt(C / NH)}, {"dx": RIGHT}, {}, {"C": C, "NH": NH}) for C, NH in ((12, 3), (39, 3))
    ]
    assert described(*cases) == ["dx is 1/sqrt(HS) times what it should be"]


def test_a_factor_without_a_name() -> None:
    assert told(BEFORE + 1.2345 * CHANGE) == "dx is off by a constant factor"
    (text,) = described(made(BEFORE + 1.2345 * CHANGE), level="full")
    assert text == "dx is off by a constant factor (factor 1.234)"
    (text,) = described(made(BEFORE + 1.2345 * CHANGE), level="full", public=False)
    assert text == "dx is off by a constant factor"


def test_single_numbers_have_no_factor_of_their_own() -> None:
    cases = [Made({"loss": np.array([k * 1.7])}, {"loss": np.array([1.0])}) for k in (1.0, 2.0, 3.0)]
    assert described(*cases) == ["loss is wrong"]
    cases = [Made({"loss": np.array([2 * k])}, {"loss": np.array([k])}) for k in (1.0, 2.0, 3.0)]
    assert described(*cases) == ["loss is twice what it should be"]


def test_two_factors_are_none() -> None:
    assert "factor" not in told(BEFORE + np.where(np.arange(7) < 3, 1.2, 1.4) * CHANGE)


def test_the_factor_of_an_input() -> None:
    rstd, weight = RNG.uniform(0.5, 2.0, SHAPE[:2]), RNG.uniform(0.5, 2.0, SHAPE[2])
    assert told(BEFORE + CHANGE / rstd[..., None], rstd=rstd) == "dx lacks the factor `rstd`"
    assert told(BEFORE + CHANGE * weight, weight=weight) == "dx has the factor `weight` once too often"
    assert "factor" not in told(BEFORE + CHANGE * weight, rstd=rstd)


def test_transposed() -> None:
    right = values(3, 4)
    got = Made({"dw": right.T.reshape(3, 4)}, {"dw": right}, {"dw": np.zeros((3, 4))})
    assert described(got) == ["dw is transposed"]


@pytest.mark.parametrize(("by", "word"), [(1, "late"), (-1, "early")])
def test_shifted_by_one(by: int, word: str) -> None:
    got = BEFORE + np.roll(CHANGE, by, axis=2)
    assert told(got) == f"dx is shifted: each element stands one place too {word} along c"


def test_what_belongs_to_another() -> None:
    first, second = values(4, 3), values(4, 3)
    one = Made({"dw": second, "du": first}, {"dw": first, "du": second})
    assert described(one) == ["dw holds what belongs to du", "du holds what belongs to dw"]


def test_parts_that_are_mixed_up() -> None:
    right = values(5, 3, 2, 2)
    got = right[:, [0, 2, 1]]
    case = Made({"dqkv": got.reshape(5, 12)}, {"dqkv": right.reshape(5, 12)}, {}, {"NH": 2})
    assert described(case) == [
        "dqkv is wrong only in the K and V thirds; there, it is mixed up:"
        " K holds what belongs to V, V holds what belongs to K"
    ]


def test_one_number_and_one_difference() -> None:
    assert told(np.full(SHAPE, 3.5)) == "dx holds one and the same number"
    assert told(RIGHT + 0.25) == "dx is off by the same amount everywhere"


def test_denormal_numbers() -> None:
    assert told(np.full(SHAPE, 3e-42)) == "dx holds denormal numbers, next to nothing"


def test_memory_that_was_never_set() -> None:
    got = np.where(np.arange(7) < 3, 3.39e38, RIGHT)
    assert "as uninitialised memory does" in told(got, None)
    consequence = Made({"dx": got, "dw": np.full(4, np.nan)}, {"dx": RIGHT, "dw": values(4)})
    assert len(described(consequence)) == 1, "what follows from it is not told"


# ---- not a number ------------------------------------------------------------------------------------------


def test_nan_first_at_an_index() -> None:
    got = RIGHT.copy()
    got[0, 2, 3] = got[1, 0, 0] = got[1, 4, 6] = got[1, 1, 2] = got[0, 3, 4] = np.nan
    got[0, 3, 1] = got[0, 3, 5] = np.nan
    assert told(got) == "dx is not a number in places, first at [0, 2, 3]"
    assert described(made(got), public=False) == ["dx is not a number in places"]
    assert told(np.full(SHAPE, np.nan)) == "dx is not a number anywhere"


def test_nan_where_an_input_is_zero_or_large() -> None:
    inp = values(*SHAPE)
    inp[0, :, 1] = 0.0
    assert told(np.where(inp == 0.0, np.nan, RIGHT), inp=inp) == "dx is not a number exactly where `inp` is 0"
    inp = values(*SHAPE)
    inp[0, 1] = 40.0
    assert told(np.where(inp > 30.0, np.nan, RIGHT), inp=inp) == "dx is not a number exactly where `inp` is large"


# ---- lost indices --------------------------------------------------------------------------------------------


def test_all_in_one_row_or_column() -> None:
    one_row = np.zeros(SHAPE)
    one_row[0, 2] = CHANGE.sum((0, 1))
    assert told(BEFORE + one_row) == "dx gets everything in one row, and nothing elsewhere"
    one_column = np.zeros(SHAPE)
    one_column[..., 3] = CHANGE.sum(-1)
    assert told(BEFORE + one_column) == "dx gets everything in one c, and nothing elsewhere"
    one_row[1, 0] = CHANGE[1, 0]
    assert "everything" not in told(BEFORE + one_row)


def test_every_row_alike() -> None:
    alike = np.broadcast_to(values(7), SHAPE)
    assert told(BEFORE + alike) == "dx is changed alike in every row"
    assert "alike" not in told(BEFORE + alike * np.linspace(1, 1.5, 5)[:, None])


def test_what_is_nothing_is_not_what_belongs_to_another() -> None:
    """A part that got nothing is no part that holds another, which got nothing as well."""
    right = values(5, 3, 2, 2)
    right[:, 1] = 0.0
    got = right.copy()
    got[:, 0] = 0.0
    (text,) = described(Made({"dqkv": got.reshape(5, 12)}, {"dqkv": right.reshape(5, 12)}, {}, {"NH": 2}))
    assert text == "dqkv is wrong only in the Q third; there, it is zero"
