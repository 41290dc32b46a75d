"""The embedded corpus: the reference reaches the bar with every seed, a network that is not trained with none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from grader import fixtures
from grader.known.python import Patch
from tests.hw2.patches import SOLVED, Right
from tests.hw2.support import grade_hw2

SEEDS = range(1, 21)
PROGRAMS = {
    "trained": Right(name="trained", what="The reference."),
    "untrained": Right(
        name="untrained",
        what="No step is taken, in a few epochs: all have the same weights.",
        patches=[
            Patch(replace="                optim.step()\n", by=""),
            Patch(replace="max_epochs = 250", by="max_epochs = 3"),
        ],
    ),
}


def seeded(folder: Path, seed: int) -> Path:
    """The public set, with one run of this seed."""
    public = fixtures.set_folder("HW2", "public")
    manifest = json.loads((public / fixtures.MANIFEST).read_bytes())
    for case in manifest["cases"]:
        if case["id"].startswith("accuracy/"):
            case["params"] = {**case["params"], "runs": 1, "seed": seed}
    shutil.copytree(public, folder)
    (folder / fixtures.MANIFEST).write_text(json.dumps(manifest), "utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_trained_reaches_the_bar_with_every_seed(seed: int, program: str, tmp_path: Path) -> None:
    submission = PROGRAMS[program].write(tmp_path, SOLVED)
    graded = grade_hw2(submission, "--only", "accuracy", "--fixtures", seeded(tmp_path / "set", seed), training=True)
    row = graded.rows["accuracy"]
    assert row["points"] == (10 if program == "trained" else 0), graded.said()
    assert f"with seed {seed}" in row["detail"], row["detail"]
