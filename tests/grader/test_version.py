"""The version stands in one place, and the changelog knows it."""

from __future__ import annotations

import re
import subprocess

import pytest

from grader import __version__
from grader.cli import main
from tests.support import ROOT

KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
ENTRY = re.compile(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", re.MULTILINE)


def test_the_command_tells_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"tensorgrade {__version__}\n"


def test_it_stands_in_one_place() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.split("\0") if name and name not in ("CHANGELOG.md", "grader/__init__.py")]
    number = re.compile(rb"(?<![\d.])" + re.escape(__version__).encode() + rb"(?![\d.])")
    lists = re.compile(r"(^|/)requirements[\w-]*\.txt$")  # versions of others
    found = [
        n for n in names if not lists.search(n) and (ROOT / n).is_file() and number.search((ROOT / n).read_bytes())
    ]
    assert found == []


def test_the_changelog_has_an_entry_for_it() -> None:
    assert CHANGELOG.startswith("# Changelog\n")
    assert "## [Unreleased]\n" in CHANGELOG
    versions = [(tuple(map(int, version.split("."))), day) for version, day in ENTRY.findall(CHANGELOG)]
    assert versions == sorted(versions, reverse=True), "the newest comes first"
    assert ENTRY.findall(CHANGELOG)[0][0] == __version__
    assert set(re.findall(r"^### (.+)$", CHANGELOG, re.MULTILINE)) <= KINDS
