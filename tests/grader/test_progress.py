"""Progress: lines in a log, one line on a terminal, nothing that a student could not read without colour."""

from __future__ import annotations

import io
import re

from grader.progress import ERASE, SAID_EVERY, Lines, Live, News, for_stream


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_log_has_a_line_for_each_check() -> None:
    out = io.StringIO()
    tell = Lines(out)
    for news in (
        News("begun", "build"),
        News("checks", count=12),
        News("begun", "gelu_backward"),
        News("ended", "gelu_backward", "pass"),
        News("ended", "ten_steps", "timed out"),
    ):
        tell(news)
    tell.close()
    assert out.getvalue() == "[ 1/12] gelu_backward: pass\n[ 2/12] ten_steps: timed out\n"


def test_a_log_is_not_flooded_by_a_training() -> None:
    out, clock = io.StringIO(), Clock()
    tell = Lines(out, clock)
    for second in range(26):
        clock.now = float(second)
        tell(News("said", "accuracy", f"epoch {second}"))
    tell(News("said", "ten_steps", "step 1 of 10"))
    assert SAID_EVERY == 10
    told = ["accuracy: epoch 0", "accuracy: epoch 10", "accuracy: epoch 20", "ten_steps: step 1 of 10"]
    assert out.getvalue().splitlines() == told


def live(columns: int = 80) -> tuple[Live, Terminal]:
    out = Terminal()
    return Live(out, lambda: columns, Clock()), out


def last(out: Terminal) -> str:
    return out.getvalue().split(ERASE)[-1]


def test_a_terminal_shows_how_far_and_what_is_under_way() -> None:
    tell, out = live()
    tell(News("begun", "build"))
    assert last(out) == "build"
    tell(News("checks", count=4))
    tell(News("begun", "gpt2_update"))
    tell(News("begun", "accuracy"))
    assert last(out) == "[--------------------] 0/4   0 s  gpt2_update, accuracy"
    tell(News("ended", "gpt2_update", "pass"))
    tell(News("said", "accuracy", "run 1, epoch 3/9: 12 s left at most"))
    assert last(out) == "[#####---------------] 1/4   0 s  accuracy: run 1, epoch 3/9: 12 s left at most"
    assert "\n" not in out.getvalue()
    tell.close()
    assert last(out) == ""


def test_the_line_is_never_wider_than_the_terminal() -> None:
    tell, out = live(columns=20)
    tell(News("checks", count=100))
    tell(News("begun", "x" * 500))
    assert max(len(line) for line in out.getvalue().split(ERASE)) == 19


def test_it_moves_no_further_than_its_line_and_has_no_colour() -> None:
    tell, out = live()
    tell(News("checks", count=1))
    tell(News("begun", "accuracy"))
    tell.close()
    assert set(re.findall(r"\x1b\[[0-9;]*[a-zA-Z]", out.getvalue())) == {"\x1b[K"}


def test_what_suits_a_stream() -> None:
    assert isinstance(for_stream(Terminal(), False, lambda: 80), Live)
    assert isinstance(for_stream(Terminal(), True, lambda: 80), Lines)
    assert isinstance(for_stream(io.StringIO(), False, lambda: 80), Lines)
