"""User ids for boxes: each once at a time, and only where the system knows them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.home import ROOT
from grader.sandbox import ids

needs_root = pytest.mark.skipif(not ids.available(), reason="it takes root")


@needs_root
def test_two_at_once_are_not_the_same() -> None:
    with ids.lease() as first, ids.lease() as second:
        assert first is not None
        assert second is not None
        assert first.user != second.user
        assert first.group == second.group != first.user
    with ids.lease() as again:
        assert again is not None
        assert again.user == first.user, "what is given back is taken again"


@needs_root
def test_all_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids, "LAST", ids.FIRST)
    with ids.lease() as who:
        assert who is None or who.user == ids.FIRST


MAPS = [
    ("         0          0 4294967295\n", True),
    ("         0          0      65536\n", True),
    ("         0       1000          1\n", False),
    ("         0     100000       1000\n     47000     200000       1000\n", True),
    ("garbage\n", False),
]


@pytest.mark.parametrize(("text", "covered"), MAPS)
def test_whether_the_numbers_mean_anything_here(text: str, covered: bool, tmp_path: Path) -> None:
    (tmp_path / "uid_map").write_text(text)
    assert ids._covers(tmp_path / "uid_map") == covered
    assert not ids._covers(tmp_path / "absent")


@pytest.mark.skipif(not shutil.which("unshare"), reason="it takes a namespace of users")
def test_root_of_a_namespace_that_has_itself_alone_has_none() -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from grader.sandbox import ids; print(ids.available())"
    command = ["unshare", "--map-root-user", sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(done.stderr)
    assert done.stdout == "False\n"


@needs_root
def test_links_in_what_a_box_left_are_not_followed(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "box"
    outside.write_text("x")
    outside.chmod(0o600)
    folder.mkdir()
    with ids.lease() as who:
        assert who is not None
        with ids.given(who, [folder]):
            assert folder.stat().st_uid == who.user
            (folder / "link").symlink_to(outside)
            (folder / "file").write_text("x")
            os.chown(folder / "file", who.user, who.user)
            (folder / "file").chmod(0o4700)
    assert outside.stat().st_mode & 0o777 == 0o600
    assert (folder / "file").stat().st_mode & 0o7777 == 0o755
    assert (folder / "file").stat().st_uid == os.geteuid()


@needs_root
def test_what_others_may_read(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "file").write_text("x")
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "file").write_text("x")
    (tmp_path / "closed" / "file").chmod(0o600)
    who = ids.Identity(ids.FIRST, ids.FIRST)
    assert [ids.can_read(who, tmp_path / name) for name in ("open", "closed")] == [True, False]
    assert ids.can_read(who, tmp_path / "open" / "file")
    assert not ids.can_read(who, tmp_path / "closed" / "file")
    assert not ids.can_use(who, tmp_path / "open"), "pytest's folders are closed"
