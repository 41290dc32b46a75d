"""The reference's HW2 project, put together once and imported."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile, copytree
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the template and the solved files laid over it."""
    folder = tmp_path_factory.mktemp("hw2")
    copytree(ROOT / "student_template" / "HW2", folder, dirs_exist_ok=True)
    for file in ("minitorch/autodiff.py", "project/run_sentiment.py"):
        copyfile(ROOT / "reference" / "HW2" / file, folder / file)
    return folder


def forget() -> None:
    """Drop what was imported of any HW2 project."""
    for name in [n for n in sys.modules if n.split(".")[0] in ("minitorch", "project")]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def mt(project: Path) -> Iterator[Any]:
    """The package `minitorch` of that folder."""
    forget()
    sys.path.insert(0, str(project))
    yield importlib.import_module("minitorch")
    sys.path.remove(str(project))
    forget()
