"""A folder that boxes can reach."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.workplace import work_folder


@pytest.fixture
def place() -> Iterator[Path]:
    """As gradings have one; pytest's own are closed to other users."""
    with work_folder() as folder:
        (folder / "box").mkdir()
        yield folder / "box"
