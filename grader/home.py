"""Where things lie: the repository, and the folder for what is made from it."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def cache_folder() -> Path:
    """The folder of things that can be made again; ``GRADE_HOME`` moves it.

    The launcher sets ``GRADE_HOME``: to the clone's ``.venv``, or elsewhere for a read-only clone.
    """
    home = os.environ.get("GRADE_HOME")
    return (Path(home) if home else ROOT / ".venv") / "cache"
