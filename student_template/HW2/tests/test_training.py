"""The loss and the training: run with ``-k training``."""

import random
from typing import Any

import numpy as np
import pytest
from minitorch import assert_close, tensor
from project.run_sentiment import BACKEND, SentenceSentimentTrain, binary_cross_entropy_loss


@pytest.mark.parametrize("size", [1, 4, 10])
def test_loss_in_training(size: int) -> None:
    rng = np.random.default_rng(size)
    out, y = rng.uniform(0.05, 0.95, size), rng.integers(0, 2, size).astype(float)
    loss = binary_cross_entropy_loss(tensor(out.tolist(), BACKEND), tensor(y.tolist(), BACKEND))
    assert loss.shape == (1,)
    assert_close(loss, [-(y * np.log(out) + (1 - y) * np.log(1 - out)).mean()])


def test_loss_in_training_has_a_derivative() -> None:
    out = tensor([0.2, 0.6], BACKEND, requires_grad=True)
    binary_cross_entropy_loss(out, tensor([0.0, 1.0], BACKEND)).backward()
    assert_close(out.grad, [0.5 / 0.8, -0.5 / 0.6])


def toy_data(count: int) -> tuple[list[Any], list[int]]:
    """Sentences of four words whose first number tells the label."""
    labels = [i % 2 for i in range(count)]
    sentences = [
        [[2.0 * label - 1.0] + [random.gauss(0, 0.3) for _ in range(49)] for _ in range(4)] for label in labels
    ]
    return sentences, labels


def test_training_learns() -> None:
    random.seed(0)
    epochs: list[tuple[Any, ...]] = []
    SentenceSentimentTrain().train(
        toy_data(40), 0.02, max_epochs=12, data_val=toy_data(15), log_fn=lambda *args: epochs.append(args)
    )
    number, loss, train_accuracy, predictions, validation_accuracy = epochs[-1]
    assert number == len(epochs) == 12
    assert loss < 0.5 < epochs[0][1]
    assert len(train_accuracy) == len(validation_accuracy) == 12
    assert len(predictions) == 15
    assert train_accuracy[-1] > 0.9
    assert validation_accuracy[-1] > 0.9


def test_training_works_without_validation_data() -> None:
    epochs: list[tuple[Any, ...]] = []
    SentenceSentimentTrain().train(toy_data(20), 0.02, max_epochs=2, log_fn=lambda *args: epochs.append(args))
    assert len(epochs) == 2
