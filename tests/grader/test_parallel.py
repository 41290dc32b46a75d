"""Work side by side: in order, and stopped cleanly."""

from __future__ import annotations

import threading

import pytest

from grader.parallel import spread


def test_results_come_in_the_order_of_the_items() -> None:
    late = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            assert late.wait(10)
        else:
            late.set()
        return item * item

    assert spread(work, range(4), 2) == [0, 1, 4, 9]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_nothing_new_is_begun(error: type[BaseException]) -> None:
    begun: list[int] = []

    def work(item: int) -> None:
        begun.append(item)
        if item == 1:
            raise error
        threading.Event().wait(0.01)

    with pytest.raises(error):
        spread(work, range(1000), 1)
    assert len(begun) < 1000


def test_what_is_under_way_comes_to_its_end() -> None:
    started, ended = threading.Event(), threading.Event()

    def work(item: int) -> None:
        if item == 0:
            assert started.wait(10)
            raise ValueError("the first")
        started.set()
        threading.Event().wait(0.05)
        ended.set()

    with pytest.raises(ValueError, match="the first"):
        spread(work, [0, 1], 2)
    assert ended.is_set()
