"""Names that course sites give to files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.batch import names


def test_a_name_of_canvas() -> None:
    found = names.canvas("doejane_LATE_123_4567_train_gpt2-1.c")
    assert found == names.CanvasName("doejane", True, "123", 4567, "train_gpt2.c", 1)
    assert names.canvas("doejane_123_4567_my_hw.tar.gz") == names.CanvasName(
        "doejane", False, "123", 4567, "my_hw.tar.gz", 0
    )


@pytest.mark.parametrize("name", ["ann", "ann.zip", "submission_4567", "train_gpt2.c", "a_1_b_c"])
def test_another_name(name: str) -> None:
    assert names.canvas(name) is None


def test_a_key_is_the_name_where_it_can_be() -> None:
    assert names.key("ann@x.edu") == "ann@x.edu"
    assert names.key("Last, Ann").startswith("Last-Ann-")
    assert names.key("../..").startswith("student-")


@given(st.text())
def test_a_key_names_a_folder(text: str) -> None:
    found = names.key(text)
    assert found == names.key(text)
    assert found
    assert not found.startswith((".", "-"))
    assert "/" not in found
    assert found.isascii()
    assert len(found) <= names.LONGEST_KEY + 9


@given(st.text(), st.text())
def test_different_names_have_different_keys(one: str, other: str) -> None:
    assert (names.key(one) == names.key(other)) == (one == other)


@pytest.mark.parametrize(("name", "stem"), [("a.tar.gz", "a"), ("a.b.zip", "a.b"), (".c", ".c"), ("a", "a")])
def test_stems(name: str, stem: str) -> None:
    assert names.stem(name) == stem
