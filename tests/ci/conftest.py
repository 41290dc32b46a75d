"""The repositories that the tests of CI share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.home import ROOT
from tests.ci.repositories import LEFT_OUT, TEMPLATE, commit, git


@pytest.fixture(scope="session")
def grader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course's repository."""
    folder = tmp_path_factory.mktemp("course") / "tensorgrade"
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
    return folder


@pytest.fixture
def student(tmp_path: Path) -> Path:
    """A student's repository: the template, and a first commit."""
    folder = tmp_path / "student"
    shutil.copytree(TEMPLATE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder)
    return folder
