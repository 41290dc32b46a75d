"""`Linear`: run with ``-k linear``."""

import random

import numpy as np
import pytest
from layers import initial_values, set_parameter, shapes
from minitorch import assert_close, tensor_from_numpy
from project.run_sentiment import BACKEND, Linear


def test_linear_has_weights_and_bias() -> None:
    assert shapes(Linear(5, 3)) == [(3,), (5, 3)]


def test_linear_begins_at_random_between_plus_and_minus_a_twentieth() -> None:
    random.seed(3)
    for parameter in Linear(40, 30).parameters():
        values = parameter.value.to_numpy()
        assert 0.04 < np.abs(values).max() <= 0.05
        assert abs(values.mean()) < 0.02


def test_linear_layers_differ() -> None:
    assert np.abs(initial_values(Linear(4, 3)) - initial_values(Linear(4, 3))).max() > 0


@pytest.mark.parametrize(("batch", "n", "m"), [(1, 2, 1), (3, 5, 2), (7, 50, 32)])
def test_linear_forward(batch: int, n: int, m: int) -> None:
    layer = Linear(n, m)
    x = np.random.default_rng(0).normal(size=(batch, n)).astype(np.float32)
    weights, bias = set_parameter(layer, (n, m), 1), set_parameter(layer, (m,), 2)
    expected = x.astype(np.float64) @ weights + bias
    assert_close(layer.forward(tensor_from_numpy(x, backend=BACKEND)), expected)


def test_linear_passes_derivatives_to_both_parameters() -> None:
    layer = Linear(4, 3)
    x = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    layer.forward(tensor_from_numpy(x, backend=BACKEND)).sum().backward()
    by_shape = {p.value.shape: p.value.grad for p in layer.parameters()}
    assert_close(by_shape[(4, 3)], np.repeat(x.sum(0)[:, None], 3, axis=1))
    assert_close(by_shape[(3,)], np.full(3, 5.0))
