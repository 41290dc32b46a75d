"""``--checkpoint`` and ``--state``: the handout's own test on files that the user brings."""

from __future__ import annotations

import gzip
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.support import ROOT, grade, run_command

PACKED = ROOT / "student_template" / "A2" / "data"
CHECKPOINT, STATE = "tiny_gpt2.bin", "tiny_gpt2_debug_state.bin"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with the tiny checkpoint and its debug state, as ``make data`` unpacks them."""
    for name in (CHECKPOINT, STATE):
        with gzip.open(PACKED / f"{name}.gz") as source, (tmp_path / name).open("wb") as target:
            shutil.copyfileobj(source, target)
    return tmp_path


def arguments(files: Path) -> list[str]:
    return ["--checkpoint", str(files / CHECKPOINT), "--state", str(files / STATE)]


def test_the_reference_passes_on_them(files: Path) -> None:
    graded = grade("--reference", "--only", "adamw", "--verbose", *arguments(files))
    assert graded.exit == 0
    assert graded.rows["adamw"]["points"] == 10
    transcript = graded.result["transcript"].splitlines()
    assert "num_parameters: 39808" in transcript
    assert transcript[-1] == "overall okay: 1"
    assert sum(line.startswith("step ") for line in transcript) == 10


def test_the_template_does_not(files: Path) -> None:
    graded = grade(str(ROOT / "student_template" / "A2"), "--only", "adamw", *arguments(files))
    assert graded.rows["adamw"]["verdict"] == "not_implemented"


def test_progress_is_told_on_standard_error(files: Path) -> None:
    graded = run_command("A2", "--reference", "--only", "adamw", *arguments(files))
    assert "ten_steps: pass" in graded.stderr


def a_wrong_magic(path: Path) -> None:
    path.write_bytes(struct.pack("<i", 1) + path.read_bytes()[4:])


def a_wrong_version(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4] + struct.pack("<i", 1) + path.read_bytes()[8:])


def a_short_file(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4])


def an_empty_file(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("name", [CHECKPOINT, STATE])
@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (a_wrong_magic, "magic number is 1"),
        (a_wrong_version, "is of version 1"),
        (a_short_file, "it is not whole"),
        (an_empty_file, "magic number is nothing"),
        (Path.unlink, "cannot read"),
    ],
)
def test_a_spoiled_file_is_refused(files: Path, name: str, spoil: Callable[[Path], None], says: str) -> None:
    spoil(files / name)
    graded = grade("--reference", *arguments(files))
    assert graded.exit == 2
    assert says in graded.stderr
    assert name in graded.stderr
    assert "Traceback" not in graded.stderr


def test_one_of_the_two_alone_is_wrong_usage(files: Path) -> None:
    graded = grade("--reference", "--state", str(files / STATE))
    assert graded.exit == 2
    assert "go together" in graded.stderr


def test_the_packed_files_are_what_the_oracle_gives(tmp_path: Path, files: Path) -> None:
    pytest.importorskip("torch")
    from assignments.A2.real_files import write_pair
    from reference.A2.state import make

    made = tmp_path / "made"
    made.mkdir()
    for path in write_pair(made, "tiny", *make("tiny")):
        fresh, packed = path.read_bytes(), (files / path.name).read_bytes()
        assert fresh[:1024] == packed[:1024]
        # another PyTorch may round the last bit otherwise; tokens, read as floats, are equal
        np.testing.assert_allclose(
            np.frombuffer(fresh, "<f4", offset=1024), np.frombuffer(packed, "<f4", offset=1024), rtol=1e-5, atol=1e-9
        )
