"""What is told of a training run while it goes on: the lines are written where the submission runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.engine import Follow, _Follower
from grader.progress import News
from grader.training import follower

HUGE = "1" + "0" * 400
LINES = {
    "a whole number": ('{"run": 1, "epoch": 2, "loss": 1, "accuracy": 1}', "run 1, epoch 2: loss 1.000"),
    "no number": ('{"run": 1, "epoch": 2, "loss": NaN, "accuracy": 0.5}', "loss nan, validation accuracy 50%"),
    "no end": ('{"run": 1, "epoch": 2, "loss": Infinity, "accuracy": 0.5}', "loss inf"),
    "400 digits": (f'{{"run": 1, "epoch": 1, "loss": 1, "accuracy": {HUGE}}}', ""),
    "5000 digits": (f'{{"run": 1, "epoch": 1, "loss": 1, "accuracy": {"9" * 5000}}}', ""),
    "digits beside it": (
        f'{{"run": 1, "epoch": 1, "loss": 1, "accuracy": 1, "left": {HUGE}}}',
        "epoch 1: ",
    ),
    "a long fraction": ('{"run": 1, "epoch": 1e300, "loss": 1, "accuracy": 1}', ""),
    "text": ('{"run": "1", "epoch": 1, "loss": [], "accuracy": {}}', ""),
    "a list": ("[1, 2]", ""),
}


def read(folder: Path, line: str, tell: Follow) -> None:
    path = folder / "progress.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    _Follower(path, tell)._read()


@pytest.mark.parametrize("kind", LINES)
def test_an_odd_line_is_passed_over(kind: str, tmp_path: Path) -> None:
    told: list[News] = []
    line, text = LINES[kind]
    read(tmp_path, line, follower("accuracy", told.append))
    assert len(told) == bool(text)
    assert all(text in news.text and len(news.text) < 100 for news in told)


def test_what_cannot_be_told_does_not_end_the_looking(tmp_path: Path) -> None:
    read(tmp_path, json.dumps({"loss": 10**400}), lambda entry: print(f"{entry['loss']:.3f}"))
