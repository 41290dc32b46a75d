"""Builds that are kept: once, whole, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.kept import HASHES, is_whole, keep


def test_a_build_is_kept_once(tmp_path: Path) -> None:
    made, kept = tmp_path / "made", tmp_path / "cache" / "kept"
    made.mkdir()
    (made / "operators.so").write_bytes(b"1")
    assert keep(made, kept) == kept
    (made / "operators.so").write_bytes(b"2")
    assert keep(made, kept) == kept
    assert [path.name for path in kept.parent.iterdir()] == ["kept"]
    assert (kept / "operators.so").read_bytes() == b"1"


@pytest.mark.parametrize("damage", ["changed", "added", "removed", "hashes", "folder"])
def test_a_kept_build_that_was_written_to_is_not_used(damage: str, tmp_path: Path) -> None:
    made, kept = tmp_path / "made", tmp_path / "cache" / "kept"
    made.mkdir()
    (made / "operators.so").write_bytes(b"1")
    keep(made, kept)
    assert is_whole(kept)
    if damage == "folder":
        (kept / "folder").mkdir()
    elif damage == "removed":
        (kept / "operators.so").unlink()
    else:
        name = {"changed": "operators.so", "added": "more.so", "hashes": HASHES}[damage]
        (kept / name).write_bytes(b"2")
    assert not is_whole(kept)
    assert keep(made, kept) == made, "what cannot be replaced is not used"


def test_a_build_that_cannot_be_kept_is_used_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    (tmp_path / "file").write_text("no folder")
    assert keep(tmp_path / "made", tmp_path / "file" / "cache" / "kept") == tmp_path / "made"
