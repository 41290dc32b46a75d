"""Where reports are written: whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from grader.errors import NotShownError, UsageError
from grader.report.target import check, place, put


def test_written_to_a_file(tmp_path: Path) -> None:
    put("new\n", str(tmp_path / "r"))
    assert (tmp_path / "r").read_text() == "new\n"
    assert os.listdir(tmp_path) == ["r"]


def test_an_earlier_report_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target, kept = tmp_path / "r", tmp_path / "kept"
    put("old", str(target))
    os.link(target, kept)
    put("new", str(target))
    assert target.read_text() == "new"
    assert kept.read_text() == "old", "it was written over, not replaced"


@pytest.mark.parametrize("name", ["r" * 255, "ü" * 127])
def test_the_longest_name_that_a_file_can_have(name: str, tmp_path: Path) -> None:
    check("--json", str(tmp_path / name))
    put("old", str(tmp_path / name))
    put("new", str(tmp_path / name))
    assert (tmp_path / name).read_text() == "new"
    assert os.listdir(tmp_path) == [name]


def test_an_earlier_report_stays_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "r"
    put("old", str(target))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NotShownError, match=r"cannot write .*r: No space left"):
        put("new", str(target))
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["r"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    for target in (tmp_path, tmp_path / "absent" / "r"):
        with pytest.raises(NotShownError, match="cannot write"):
            put("new", str(target))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["", "absent/r", "."])
def test_a_target_that_cannot_become_a_file_is_wrong_usage(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--json: "):
        check("--json", str(tmp_path / name) if name else "")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["-", "/dev/null", "r"])
def test_a_target_that_can(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check("--json", name)


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    put("new", str(pipe))
    assert os.read(reader, 1 << 16) == b"new"
    assert pipe.is_fifo()
    os.close(reader)


def test_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    put("new\n", "-")
    assert capsys.readouterr().out == "new\n"


def test_one_place_has_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert place("r") == place("./x/../r") == place(str(tmp_path / "r"))
    assert place("r") != place("s")
    assert (place("-"), place("/dev/null")) == ("-", "")


def test_what_a_link_leads_to_is_replaced_and_not_the_link(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "folder" / "r"
    target.parent.mkdir()
    link.symlink_to(target)
    for text in ("old", "new"):  # also one that leads to nothing yet
        put(text, str(link))
        assert link.is_symlink()
        assert target.read_text() == text
    assert os.listdir(target.parent) == ["r"]


def test_an_open_pipe_has_a_name_of_its_own() -> None:
    reader, writer = os.pipe()
    check("--json", f"/dev/fd/{writer}")
    put("new", f"/dev/fd/{writer}")
    os.close(writer)
    with os.fdopen(reader) as file:
        assert file.read() == "new"


@pytest.mark.parametrize("name", ["n" * 300, "ring", "leads-nowhere"])
def test_a_name_that_no_file_can_have_is_wrong_usage(name: str, tmp_path: Path) -> None:
    (tmp_path / "ring").symlink_to(tmp_path / "ring")
    (tmp_path / "leads-nowhere").symlink_to(tmp_path / "absent" / "r")
    with pytest.raises(UsageError, match="--json: "):
        check("--json", str(tmp_path / name))


def test_half_a_character_is_written_out(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    put('"a\udcff"', str(tmp_path / "r"))
    assert json.loads((tmp_path / "r").read_bytes()) == "a\udcff"
    put('"a\udcff\n', "-")
    assert capfdbinary.readouterr().out == b'"a\\udcff\n'
