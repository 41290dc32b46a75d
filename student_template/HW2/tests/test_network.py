"""`Network`: run with ``-k network``."""

import random

import numpy as np
import pytest
from layers import Array, initial_values, set_parameter, shapes, sigmoid
from minitorch import assert_close, tensor_from_numpy
from project.run_sentiment import BACKEND, Network


def made(embedding_dim: int, hidden_dim: int, dropout_prob: float = 0.0) -> tuple[Network, list[Array]]:
    """A network with wide parameters, and these: weights, bias, weights, bias."""
    network = Network(embedding_dim=embedding_dim, hidden_dim=hidden_dim, dropout_prob=dropout_prob)
    wanted = [(embedding_dim, hidden_dim), (hidden_dim,), (hidden_dim, 1), (1,)]
    return network, [set_parameter(network, shape, seed) for seed, shape in enumerate(wanted)]


def sentences(*shape: int) -> tuple[Array, object]:
    """Random embeddings ``[batch, words, embedding_dim]``, as an array and as a tensor."""
    x = np.random.default_rng(9).normal(size=shape).astype(np.float32)
    return x.astype(np.float64), tensor_from_numpy(x, backend=BACKEND)


def expected(x: Array, parameters: list[Array]) -> Array:
    """What the network gives without dropout, ``[batch]``."""
    w1, b1, w2, b2 = parameters
    hidden = np.maximum(x.mean(axis=1) @ w1 + b1, 0)
    return sigmoid(hidden @ w2 + b2).ravel()


def test_network_has_two_linear_layers() -> None:
    assert shapes(Network(embedding_dim=6, hidden_dim=4)) == [(1,), (4,), (4, 1), (6, 4)]


def test_network_begins_at_small_random_values() -> None:
    random.seed(3)
    network = Network(embedding_dim=50, hidden_dim=32)
    assert 0.045 < np.abs(initial_values(network)).max() <= 0.05
    assert all(np.abs(p.value.to_numpy()).max() > 0 for p in network.parameters())


@pytest.mark.parametrize("size", [(1, 1, 5, 3), (3, 4, 6, 5), (16, 15, 50, 32)])
def test_network_forward(size: tuple[int, int, int, int]) -> None:
    batch, words, embedding_dim, hidden_dim = size
    network, parameters = made(embedding_dim, hidden_dim)
    x, tensor = sentences(batch, words, embedding_dim)
    out = network.forward(tensor)
    assert out.shape == (batch,)
    assert_close(out, expected(x, parameters))


def test_network_passes_derivatives_to_all_parameters() -> None:
    network, _ = made(6, 5)
    network.forward(sentences(4, 3, 6)[1]).sum().backward()
    for name, parameter in network.named_parameters():
        assert parameter.value.grad is not None, name
        assert np.abs(parameter.value.grad.to_numpy()).max() > 0, name


def test_network_drops_hidden_units_while_training() -> None:
    random.seed(1)
    network, _ = made(6, 40, dropout_prob=0.5)
    x = sentences(4, 3, 6)[1]
    outputs = [network.forward(x).to_numpy() for _ in range(2)]
    assert np.abs(outputs[0] - outputs[1]).max() > 1e-3
