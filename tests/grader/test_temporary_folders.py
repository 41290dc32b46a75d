"""Nothing that the grader still works in is taken for what a killed one has left."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from grader import workplace
from grader.batch.work import one_place
from grader.home import ROOT

LONG_AGO = time.time() - 10 * workplace.TIME_TO_LOCK_S


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def swept_as_if_old(place: Path) -> None:
    """What another grader does that starts when these folders are old."""
    for folder in place.iterdir():
        os.utime(folder, (LONG_AGO, LONG_AGO))
    workplace.sweep(place)


def test_a_folder_that_lasts_stays_and_an_abandoned_one_goes(temporary: Path) -> None:
    (temporary / f"{workplace.PREFIX}killed").mkdir()
    lasting = workplace.lasting_folder()
    swept_as_if_old(temporary)
    assert list(temporary.iterdir()) == [lasting]


def test_several_files_of_a_submission_stay_where_they_are_laid(
    temporary: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    given = tmp_path_factory.mktemp("download")
    names = ("lastann_1_11_run_sentiment.py", "lastann_1_12_autodiff-1.py")
    for name in names:
        (given / name).write_text(name)
    with one_place([str(given / name) for name in names]) as folder:
        swept_as_if_old(temporary)
        assert sorted(path.name for path in folder.iterdir()) == ["autodiff.py", "run_sentiment.py"]
    assert list(temporary.iterdir()) == []


def test_nobody_else_makes_folders_that_bear_the_name() -> None:
    """They would be swept while they are in use."""
    sources = [path for top in ("grader", "assignments", "fuzz") for path in (ROOT / top).rglob("*.py")]
    made = [path.name for path in sources if f'prefix="{workplace.PREFIX}' in path.read_text("utf-8")]
    assert (len(sources) > 100, made) == (True, [])
