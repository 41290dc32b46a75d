"""Every attack comes to what its entry says, and leaves nothing behind."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.hostile.attacks import Attack, Base, load
from tests.hostile.grading import HERE, Place, assert_outcome, graded, known, laid, new_mark, usable
from tests.hostile.machine import traces

ATTACKS = {"A2": load("c.yaml"), "HW2": load("python.yaml")}
SAMPLE = ("A2-looks-around-right", "A2-leftovers-right", "A2-network-right", "HW2-looks-around-right")
SOON = 50  # looks, a tenth of a second apart: what was killed may take a moment to go


class Submission(NamedTuple):
    """An attack over one of its bases."""

    assignment: str
    attack: Attack
    base: Base

    @property
    def id(self) -> str:
        return f"{self.assignment}-{self.attack.name}-{self.base}"


SUBMISSIONS = [
    Submission(name, attack, base) for name, list_ in ATTACKS.items() for attack in list_ for base in attack.over
]


def marked(submission: Submission, quick: bool) -> object:
    return pytest.param(submission, id=submission.id, marks=[] if quick else [pytest.mark.slow])


def attack_comes_to_its_outcome(
    submission: Submission, sandbox: str, folder: Path, server: socket.socket, short: Place
) -> None:
    assignment, attack, base = submission
    if (reason := usable(sandbox)) is not None:
        pytest.skip(reason)
    if sandbox in attack.open_to:
        pytest.skip(f"{sandbox} does not keep it from that, as the threat model says")
    place, mark = short if attack.short else HERE, new_mark()
    names = known(mark, server.getsockname()[1], place)
    names |= {"HOME": str(folder / "home"), "OTHER": str(folder / "neighbour")}
    path = laid(assignment, attack, base, folder / "hostile", names)
    options = ["--only", ",".join(attack.only), "--sandbox", sandbox, *attack.options]
    result = graded(assignment, path, *options, place=place)
    assert_outcome(result, attack.over[base])
    assert (folder / "neighbour" / "train_gpt2.c").read_text(encoding="utf-8") == "// somebody else's\n"
    assert left_behind(mark) == []


def left_behind(mark: str) -> list[str]:
    """The traces that do not go within some seconds."""
    for _ in range(SOON):
        if not traces(mark):
            return []
        time.sleep(0.1)
    return traces(mark)


@pytest.mark.parametrize("submission", [marked(s, s.attack.over[s.base].quick) for s in SUBMISSIONS])
def test_under_bubblewrap(
    submission: Submission, tmp_path: Path, listener: socket.socket, neighbour: Path, short_place: Place
) -> None:
    attack_comes_to_its_outcome(submission, "bubblewrap", tmp_path, listener, short_place)


@pytest.mark.parametrize("submission", [marked(s, s.id in SAMPLE) for s in SUBMISSIONS])
def test_as_another_user(
    submission: Submission, tmp_path: Path, listener: socket.socket, neighbour: Path, short_place: Place
) -> None:
    attack_comes_to_its_outcome(submission, "user", tmp_path, listener, short_place)


def test_there_are_attacks_of_every_kind() -> None:
    assert len(SUBMISSIONS) >= 60
    rows = {submission.attack.row for submission in SUBMISSIONS}
    assert rows >= {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 17}
    assert {submission.base for submission in SUBMISSIONS} == {"right", "wrong"}
