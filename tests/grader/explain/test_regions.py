"""Where a tensor is wrong, in words, on made-up tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.grader.explain.support import Made, described

RNG = np.random.default_rng(5)


def where(name: str, right: Any, wrong: Any, public: bool = True, **params: int) -> str:
    """What is said of a tensor that is wrong where ``wrong`` is."""
    right = np.asarray(right, dtype=np.float64)
    got = np.where(wrong, right * RNG.uniform(2.0, 9.0, right.shape), right)
    (text,) = described(Made({name: got}, {name: right}, {}, params), public=public)
    assert text.startswith(f"{name} is wrong ")
    return text.removeprefix(f"{name} is wrong ")


def grid(*shape: int) -> Any:
    return RNG.uniform(0.5, 1.5, shape), *np.meshgrid(*(np.arange(n) for n in shape), indexing="ij")


X, B, T, C = grid(3, 5, 9)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (T == 0, "only at position 0"),
        (T == 4, "only at the last position"),
        (T == 2, "only at position 2"),
        (T >= 1, "only at every position but the first"),
        (T <= 3, "only at every position but the last"),
        (T >= 2, "only from position 2 on"),
        (T <= 2, "only up to position 2"),
        ((T == 1) | (T == 3), "only at position 1 and 3"),
        (B == 0, "only at sequence 0"),
        (C >= 8, "only at the last c"),
        ((T == 0) & (B == 2), "only at the last sequence, at position 0"),
        (T >= 0, "in every element"),
    ],
)
def test_an_axis(wrong: Any, words: str) -> None:
    assert where("dx", X, wrong) == words


def test_a_private_set_shows_no_index() -> None:
    assert where("dx", X, T == 2, public=False) == "only at one position"
    assert where("dx", X, T >= 2, public=False) == "only from some position on"
    assert where("dx", X, (T == 1) | (T == 3), public=False) == "only at few positions"


def test_from_a_layer_down() -> None:
    right, layer, _ = grid(4, 6)
    assert where("dw", right, layer <= 2) == "only at every layer but the last"
    assert where("dw", right, layer <= 1) == "only from layer 1 down"
    assert where("dw", right, layer == 2) == "only at layer 2"


def test_thirds_and_heads() -> None:
    right, _, column = grid(5, 36)  # NH 3, HS 4
    assert where("dqkv", right, column // 12 == 1, NH=3) == "only in the K third"
    assert where("dqkv", right, column // 12 != 2, NH=3) == "only in the Q and K thirds"
    assert where("dqkv", right, column % 12 // 4 == 1, NH=3) == "only at head 1"
    assert where("dqkv", right, (column // 12 == 2) & (column % 12 >= 4), NH=3) == (
        "only in the V third, at every head but the first"
    )
    assert where("dqkv", right, column % 4 == 1) == "in 25 % of the elements", "without NH there are no heads"


def test_padding() -> None:
    right, _, _, v = grid(2, 3, 8)
    assert where("dz", right, v >= 5, V=5) == "only in the padding, v >= V"
    assert where("dz", right, v == 4, V=5) == "only at the last v"


def test_what_targets_name() -> None:
    right, _, _, v = grid(2, 3, 8)
    targets = np.array([[1, 3, 0], [2, 2, 4]])
    got = np.where(v == targets[..., None], right * RNG.uniform(2, 9, right.shape), right)
    assert described(Made({"dz": got}, {"dz": right}, {"targets": targets}, {"V": 5})) == [
        "dz is wrong only at the v that `targets` names"
    ]
    got = np.where((v != targets[..., None]) & (v < 5), right * RNG.uniform(2, 9, right.shape), right)
    assert described(Made({"dz": got}, {"dz": right}, {"targets": targets}, {"V": 5})) == [
        "dz is wrong only at every v but the one that `targets` names"
    ]


def test_rows_that_are_named_several_times() -> None:
    right = RNG.uniform(0.5, 1.5, (6, 4))
    tokens = np.array([[0, 2, 2, 4]])
    got = right.copy()
    got[2] *= RNG.uniform(2, 9, 4)
    assert described(Made({"dv": got}, {"dv": right}, {"targets": tokens}, {"V": 6})) == ["dv is wrong only at v 2"]
    got[5] *= RNG.uniform(2, 9, 4)
    tokens = np.array([[0, 2, 2, 5, 4, 5]])
    assert described(Made({"dv": got}, {"dv": right}, {"targets": tokens}, {"V": 6})) == [
        "dv is wrong only at v 2 and 5"
    ]
    got[1] *= RNG.uniform(2, 9, 4)
    got[3] *= RNG.uniform(2, 9, 4)
    tokens = np.array([[0, 2, 2, 5, 4, 5, 1, 1, 3, 3]])
    assert described(Made({"dv": got}, {"dv": right}, {"targets": tokens}, {"V": 6})) == [
        "dv is wrong only in the rows of what stands several times in `targets`"
    ]


def test_an_axis_without_a_name() -> None:
    right, _, t, _ = grid(2, 5, 3)
    assert where("unnamed", right, t == 2) == "only at axis 1 = 2"


def test_the_mask() -> None:
    right, t, t2 = grid(6, 6)
    assert where("ds", right, t2 > t) == "only behind the mask, where t2 > t"
    assert where("ds", right, t2 == t) == "only on the diagonal, where t2 = t"
    assert where("ds", right, t2 < t) == "only below the diagonal, where t2 < t"


def test_tails() -> None:
    cases = []
    for size in (7, 9, 18):
        right = RNG.uniform(0.5, 1.5, (1, 1, size))
        wrong = np.arange(size) >= size // 4 * 4
        cases.append(Made({"dx": np.where(wrong, right * RNG.uniform(2, 9, size), right)}, {"dx": right}))
    assert described(*cases) == ["dx is wrong only behind the last multiple of four of c"]


def test_what_holds_in_all_cases_is_told() -> None:
    """Position 4 is the last one in one case, and not in the other: only what both have is said."""
    cases = []
    for size in (5, 7):
        right, _, t, _ = grid(1, size, 3)
        cases.append(Made({"dx": np.where(t == 4, right * RNG.uniform(2, 9, right.shape), right)}, {"dx": right}))
    assert described(*cases) == ["dx is wrong only at position 4"]


def test_where_nothing_was_to_be_added_nothing_is_learned() -> None:
    """A wrong factor does not show where the right gradient is zero."""
    right, _, t, _ = grid(2, 5, 3)
    right = right * (t > 0)
    got = np.where(right == 0.0, right, right * RNG.uniform(2, 9, right.shape))
    assert described(Made({"dx": got}, {"dx": right})) == ["dx is wrong in 80 % of the elements"]


def test_every_second() -> None:
    assert where("dx", X, C % 2 == 1) == "only at every second c"
    assert where("dx", X, (B * 5 + T) % 2 == 1) == "only at every second row"
    assert where("dx", X, C % 3 == 1) == "only at c 1, 4 and 7"


@pytest.mark.parametrize(
    ("holds", "words"),
    [
        (lambda x: x < 0, "negative"),
        (lambda x: x > 0, "positive"),
        (lambda x: np.abs(x) < 1, "near 0"),
        (lambda x: np.abs(x) > 2, "large"),
    ],
)
def test_what_an_input_is_there(holds: Any, words: str) -> None:
    inp = RNG.uniform(-3, 3, 60)
    right = RNG.uniform(0.5, 1.5, 60)
    got = np.where(holds(inp), right * RNG.uniform(2, 9, 60), right)
    assert described(Made({"dy": got}, {"dy": right}, {"inp": inp})) == [f"dy is wrong only where `inp` is {words}"]
