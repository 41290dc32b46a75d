"""Every command in the README and the documents is one that the command line takes."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from grader import assignment as assignments
from grader import cli
from grader.errors import UsageError
from grader.parsing import Parser
from tests.docs.documents import DOCUMENTS, commands, files, mentions
from tests.support import ROOT

ENDS = {"|", "||", "&&", ";", ">", "2>", "&"}
PLACEHOLDERS = {"ID", "<ID>", "N1"}  # N1 is the instructors' example
LAUNCHERS = {"selftest"}  # what the launcher does by itself
UNSET = "the following arguments are required"


class Parsed(Exception):
    """The arguments were taken; nothing is run."""

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__()
        self.options = options


@pytest.fixture(autouse=True)
def nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("parse_args", "parse_intermixed_args"):

        def parse(self: Any, arguments: Any = None, namespace: Any = None, of: str = name) -> None:
            raise Parsed(getattr(argparse.ArgumentParser, of)(self, arguments, namespace))

        monkeypatch.setattr(Parser, name, parse)


def words(command: str) -> list[str]:
    """The arguments of a command, up to what is another's."""
    found = shlex.split(command, comments=True)[1:]
    end = next((i for i, word in enumerate(found) if word in ENDS or word.startswith((">", "2>"))), len(found))
    return found[:end]


def parsed(command: str) -> argparse.Namespace | None:
    """What the command line makes of it; None for what the launcher does."""
    arguments = words(command)
    if arguments and arguments[0] in LAUNCHERS:
        return None
    with pytest.raises(Parsed) as caught:
        cli._dispatch(arguments)
    return caught.value.options


def check(command: str) -> None:
    options = parsed(command)
    known = getattr(options, "assignment", None)
    for name in known if isinstance(known, list) else [known]:
        assert name is None or name in {*assignments.known_ids(), *PLACEHOLDERS}, command


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_commands_in_blocks(path: Path) -> None:
    for command in commands(path.read_text("utf-8")):
        try:
            check(command)
        except (UsageError, SystemExit) as error:
            pytest.fail(f"{path.name}: {command}\n{error}")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_commands_in_sentences(path: Path) -> None:
    for command in mentions(path.read_text("utf-8")):
        try:
            check(command)
        except UsageError as error:
            if UNSET not in str(error):  # a command's name alone
                pytest.fail(f"{path.name}: {command}\n{error}")
        except SystemExit as ended:
            if ended.code:  # not --help
                pytest.fail(f"{path.name}: {command}")


def test_there_are_commands_to_find() -> None:
    counts = {path.relative_to(ROOT).as_posix(): len(list(commands(path.read_text("utf-8")))) for path in DOCUMENTS}
    assert counts["README.md"] >= 5
    assert min(counts[f"docs/{name}"] for name in ("students.md", "tas.md", "instructors.md")) >= 5, counts


@pytest.mark.parametrize("command", ["./grade A2 --colour", "./grade mutate A2 --sample many", "./grade fixtures burn"])
def test_a_command_that_is_not_there_would_be_found(command: str) -> None:
    with pytest.raises(UsageError):
        check(command)
    with pytest.raises(AssertionError):
        check("./grade A9 .")


def test_links_lead_somewhere() -> None:
    dead = []
    for path in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text("utf-8")):
            if not (path.parent / target).exists():
                dead.append(f"{path.relative_to(ROOT)}: {target}")
    assert dead == []
    assert files(ROOT / "docs" / "instructors.md"), "the third assignment"
