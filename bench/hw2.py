"""How fast HW2 trains: the NumPy backend, plain loops and eager PyTorch, in one run.

    python bench/hw2.py [--epochs N]

The same training each time: 450 sentences in batches of 10 through a network of 50, 32 and 1 with dropout
and Adam, then 100 sentences of validation, sentences padded to 52 words. The sentences are random: the time
does not depend on what they say. PyTorch runs on one thread, on tensors made beforehand. An epoch of the plain
loops takes many seconds, so a few of its batches are timed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from shutil import copyfile, copytree
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SOLVED = ("minitorch/autodiff.py", "project/run_sentiment.py")
TRAIN, VALIDATION, WORDS, DIM, HIDDEN, BATCH, RATE = 450, 100, 52, 50, 32, 10, 0.025
EPOCHS = 250
SIMPLE_BATCHES = 2
GOALS = {"numpy / torch": 3.0, "simple / numpy": 200.0}

Sentences = list[list[list[float]]]
Data = tuple[Sentences, list[int]]


def random_data(count: int) -> Data:
    """Sentences of 3 to 30 random words, padded with zeros, and random labels."""
    rng = random.Random(count)
    sentences: Sentences = []
    for _ in range(count):
        sentence = [[0.0] * DIM] * WORDS
        for i in range(rng.randint(3, 30)):
            sentence[i] = [rng.gauss(0, 1) for _ in range(DIM)]
        sentences.append(sentence)
    return sentences, [rng.randint(0, 1) for _ in range(count)]


def lay_out(folder: Path) -> None:
    """Put the reference's project together: the template with the solved files over it."""
    copytree(ROOT / "student_template" / "HW2", folder, dirs_exist_ok=True)
    for file in SOLVED:
        copyfile(ROOT / "reference" / "HW2" / file, folder / file)
    sys.path.insert(0, str(folder))


def reference_epochs(backend: str, epochs: int, train: Data, val: Data | None) -> list[float]:
    """The seconds of each epoch of the reference's training on a backend."""
    os.environ["MINITORCH_BACKEND"] = backend
    for name in [n for n in sys.modules if n.split(".")[0] in ("minitorch", "project")]:
        del sys.modules[name]
    import project.run_sentiment as run  # type: ignore[import-not-found]

    stamps = [time.perf_counter()]
    trainer = run.SentenceSentimentTrain()
    trainer.train(train, RATE, BATCH, epochs, val, log_fn=lambda *_: stamps.append(time.perf_counter()))
    return [b - a for a, b in pairwise(stamps)]


def torch_epochs(epochs: int, train: Data, val: Data) -> list[float]:
    """The seconds of each epoch of the same training in eager PyTorch on one thread."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    x, y = torch.tensor(train[0]), torch.tensor(train[1], dtype=torch.float32)
    x_val, y_val = torch.tensor(val[0]), torch.tensor(val[1], dtype=torch.float32)
    first, drop, second = nn.Linear(DIM, HIDDEN), nn.Dropout(0.5), nn.Linear(HIDDEN, 1)
    adam = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=RATE)

    def forward(batch: Any, keep: Callable[[Any], Any]) -> Any:
        return torch.sigmoid(second(keep(torch.relu(first(batch.mean(1)))))).view(-1)

    def epoch() -> float:
        right = 0.0
        for i in range(0, len(x), BATCH):
            target = y[i : i + BATCH]
            out = forward(x[i : i + BATCH], drop)
            loss: Any = nn.functional.binary_cross_entropy(out, target)
            adam.zero_grad()
            loss.backward()
            adam.step()
            right += float(((out > 0.5) == target).sum()) + loss.item()
        with torch.no_grad():
            return float(((forward(x_val, lambda h: h) > 0.5) == y_val).float().mean()) + right

    return [_seconds(epoch) for _ in range(epochs)]


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def simple_epoch(train: Data, val: Data) -> float:
    """The seconds of an epoch with plain loops, from a few batches and one tenth of the validation."""
    few = slice(0, SIMPLE_BATCHES * BATCH)
    part = (val[0][:BATCH], val[1][:BATCH])
    alone = reference_epochs("simple", 1, (train[0][few], train[1][few]), None)[0]
    both = reference_epochs("simple", 1, (train[0][few], train[1][few]), part)[0]
    batches = len(train[0]) / (SIMPLE_BATCHES * BATCH)
    return alone * batches + max(0.0, both - alone) * len(val[0]) / BATCH


def measure(epochs: int, train: Data, val: Data) -> dict[str, float]:
    """Seconds by name: of one epoch (the mean over ``epochs``) and of 250."""
    half = epochs // 2 or 1
    torch_times = torch_epochs(half, train, val)
    numpy_times = reference_epochs("numpy", epochs, train, val)
    torch_times += torch_epochs(half, train, val)
    return {
        "numpy": float(np.mean(numpy_times)),
        "numpy, first epoch": numpy_times[0],
        "torch": float(np.mean(torch_times)),
        "simple": simple_epoch(train, val),
    }


def report(seconds: dict[str, float]) -> None:
    """Print the times and how they stand to the goals."""
    for name, value in seconds.items():
        print(f"{name:20s} {1e3 * value:10.1f} ms an epoch {EPOCHS * value:10.2f} s for {EPOCHS}")
    to_torch = seconds["numpy"] / seconds["torch"]
    to_simple = seconds["simple"] / seconds["numpy"]
    print(f"numpy / torch        {to_torch:10.2f}   goal: at most {GOALS['numpy / torch']}")
    print(f"simple / numpy       {to_simple:10.0f}   goal: at least {GOALS['simple / numpy']:.0f}")


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--epochs", type=int, default=50, help="epochs of each fast one (50)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        lay_out(Path(folder))
        stack.callback(sys.path.remove, folder)
        report(measure(options.epochs, random_data(TRAIN), random_data(VALIDATION)))


if __name__ == "__main__":
    main()
