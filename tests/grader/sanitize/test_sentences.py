"""Reports as sentences: function, what it does, file, line and that line."""

from __future__ import annotations

import pytest

from grader.sanitize.reports import Access, Frame, Place, Report
from grader.sanitize.sentences import MOST_CODE, Source, sentence

TEXT = """\
#include <math.h>
static float helper(float x) { return x; }
void layer(float* out, int N) {
    for (int i = 0; i <= N; i++) {
        out[i] = helper(0.0f);
    }
}
"""
SOURCE = Source("train_gpt2.c", TEXT)
HERE = Frame("layer", 5)


def place(where: str, index: int) -> Place:
    return Place.model_validate({"buffer": "out", "where": where, "index": index, "count": 7, "unit": "float"})


def told(kind: str, words: str = "", access: Access | None = None) -> str:
    return sentence(Report("address", kind, HERE, access, words=words), SOURCE)


@pytest.mark.parametrize(
    ("where", "index", "says"),
    [
        ("after", 7, "writes 1 float past the end of `out` (element 7 of 7)"),
        ("after", 9, "writes 3 floats past the end of `out` (element 9 of 7)"),
        ("before", -1, "writes 1 float before the start of `out` (element -1 of 7)"),
    ],
)
def test_an_element_beside_a_buffer(where: str, index: int, says: str) -> None:
    access = Access(True, 4, HERE, place(where, index))
    assert told("use-after-poison", access=access) == f"layer {says}, at train_gpt2.c:5: `out[i] = helper(0.0f);`"


@pytest.mark.parametrize(
    ("kind", "words", "says"),
    [
        ("SEGV", "on unknown address 0x000000000010", "reads through a NULL pointer"),
        ("SEGV", "on unknown address 0x7f0000000000", "reads where no memory is"),
        ("heap-buffer-overflow", "is located 0 bytes to the right of 20-byte region", "past the end of the 20 bytes"),
        ("heap-buffer-overflow", "is located 0 bytes after 20-byte region", "past the end of the 20 bytes"),
        ("heap-buffer-overflow", "is located 4 bytes before 20-byte region", "before the start of the 20 bytes"),
        ("stack-buffer-overflow", "is located in stack variable row overflows", "reads past the end of `row`"),
        ("stack-buffer-underflow", "is located in stack variable row underflows", "reads before the start of `row`"),
        ("global-buffer-overflow", "to the right of global variable 'layer.table'", "reads past the end of `table`"),
        ("stack-use-after-scope", "is located in stack variable row is", "reads `row`, which is gone by then"),
        ("double-free", "", "frees the same memory twice"),
        ("bad-free", "", "frees what malloc did not hand out"),
        ("a-new-one", "which is new", "does what AddressSanitizer calls a-new-one (which is new)"),
    ],
)
def test_each_kind_has_its_words(kind: str, words: str, says: str) -> None:
    text = told(kind, words, Access(False, 4, HERE))
    assert says in text
    assert text.startswith("layer ")
    assert " at train_gpt2.c:5: `" in text


def test_freed_and_allocated_lines_are_told() -> None:
    access, earlier = Access(True, 4, HERE), Frame("layer", 4)
    freed = Report("address", "heap-use-after-free", HERE, access, freed=earlier)
    assert "writes memory that was freed at train_gpt2.c:4" in sentence(freed, SOURCE)
    words = "is located 8 bytes to the right of 20-byte region"
    beside = Report("address", "heap-buffer-overflow", HERE, access, made=earlier, words=words)
    assert "the 20 bytes that layer allocated at train_gpt2.c:4, 8 bytes further on" in sentence(beside, SOURCE)


def test_the_function_of_a_parallel_loop_is_the_one_around_it() -> None:
    assert SOURCE.function(Frame(".omp_outlined._debug__.3", 5)) == "layer"
    assert SOURCE.function(Frame("layer._omp_fn.0", 5)) == "layer"
    assert SOURCE.function(Frame("", 1)) == "the code"


def race(first: Access, other: Access, words: str = "") -> str:
    return sentence(Report("thread", "data-race", first.frame, first, other, words=words), SOURCE)


def test_a_race_names_what_is_shared() -> None:
    inside = Access(True, 4, HERE, place("inside", 3))
    assert race(inside, inside).startswith("layer has two threads write `out` at once (a data race), at")
    plain = Access(True, 4, HERE)
    assert "write `count` at once" in race(plain, plain, "global 'layer.count' of size 4")
    assert "a local variable that they share" in race(plain, plain, "stack of main thread.")


def test_a_race_of_two_lines_names_both() -> None:
    text = race(Access(False, 4, HERE), Access(True, 4, Frame("layer", 4)), "heap block")
    assert "has one thread read the same memory while another writes it at train_gpt2.c:4 (a data race)" in text


def test_lines_are_quoted_in_short_and_without_marks() -> None:
    source = Source("train_gpt2.c", "x = `1`;\r\n" + "y" * 500)
    assert source.code(1) == "x = '1';"
    assert len(source.code(2)) <= MOST_CODE + 3
    assert (source.code(0), source.code(3)) == ("", "")
