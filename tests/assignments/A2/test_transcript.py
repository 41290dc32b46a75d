"""The transcript of tensors of any shape, type and value: it never ends a grading, and none of them is okay."""

from __future__ import annotations

import numpy as np
import pytest

from grader import assignment as assignments
from grader import fixtures
from grader.cases import Array
from grader.judge import Judged
from grader.pictures import curves
from grader.transcript import transcript_of

ASSIGNMENT = assignments.load("A2")
CASE = fixtures.load(fixtures.set_folder("A2", "public")).cases("ten_steps")[0]
ODD: dict[str, Array] = {
    "none": np.zeros(0, np.float32),
    "no axis": np.array(3.0, np.float32),
    "many": np.zeros((3, 1, 2), np.int64),
    "complex": np.ones(1, np.complex64),
    "NaN": np.full(10, np.nan, np.float32),
    "the largest": np.full((1, 1), np.finfo(np.float64).max),
    "infinity": np.full(1, -np.inf),
    "truth": np.ones(10, np.bool_),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("tensor", ["loss", "losses", "logits", "dwte", "dlnfb"])
def test_any_tensor_can_be_printed(tensor: str, kind: str) -> None:
    got = {**CASE.expected, tensor: ODD[kind]}
    judged = Judged("fail", params={"c": CASE.entry.params}, tensors={"c": got}, expected={"c": dict(CASE.expected)})
    lines = transcript_of(ASSIGNMENT, {"ten_steps": judged}).splitlines()
    assert lines[-1] == "overall okay: 0"
    for series in curves(ASSIGNMENT.checks["ten_steps"], judged):
        assert len(series.got) == min(got["losses"].size, 10)
