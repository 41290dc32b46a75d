"""Sanitizers' texts as data: what each report says, and that any text at all can be read."""

from __future__ import annotations

import pytest

from grader.sanitize.reports import MOST_WORDS, Frame, Place, Report, parse, read_places, unusable

FILES = ["train_gpt2.c"]
PLACE = {"buffer": "dout", "where": "after", "index": 21, "count": 21, "unit": "float"}

GUARDED = """\
==6==ERROR: AddressSanitizer: use-after-poison on address 0x7ffff4cff000 at pc 0x7ffff4ca27aa bp 0x7f sp 0x7f
READ of size 4 at 0x7ffff4cff000 thread T0
    #0 0x7ffff4ca27a9 in attention_backward train_gpt2.c:412
    #1 0x7ffff4cb55a7 in tg_probe_attention_backward /usr/share/shim.c:45

Address 0x7ffff4cff000 is a wild pointer inside of access range of size 0x000000000004.
SUMMARY: AddressSanitizer: use-after-poison train_gpt2.c:412 in attention_backward
"""
FREED = """\
==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x55 bp 0x7f sp 0x7f
WRITE of size 4 at 0x602000000010 thread T0
    #0 0x55 in memset (/usr/lib/libasan.so.8+0x1)
    #1 0x55 in gelu_backward train_gpt2.c:30

0x602000000010 is located 0 bytes inside of 64-byte region [0x602000000010,0x602000000050)
freed by thread T0 here:
    #0 0x7f in __interceptor_free ../libsanitizer/asan/asan_malloc_linux.cpp:52
    #1 0x55 in gelu_backward train_gpt2.c:29

previously allocated by thread T0 here:
    #0 0x7f in __interceptor_malloc ../libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x55 in gelu_backward train_gpt2.c:28
"""
RACE = """\
WARNING: ThreadSanitizer: data race (pid=4)
  Read of size 4 at 0x7b2400000000 by thread T3:
    #0 .omp_outlined._debug__.3 train_gpt2.c:197:44 (races+0xd50d2) (BuildId: 4c40)
    #1 __kmp_invoke_microtask <null> (libomp.so.5+0xd55a2)

  Previous write of size 4 at 0x7b2400000000 by main thread:
    #0 .omp_outlined._debug__.3 train_gpt2.c:198:44 (races+0xd50ee)

  Location is global 'layer.count' of size 4 at 0x7b2400000000 (races+0x1)

SUMMARY: ThreadSanitizer: data race train_gpt2.c:197:44 in .omp_outlined._debug__.3
==================
"""


def only(text: str) -> Report:
    (report,) = parse(text, read_places({"0x7ffff4cff000": PLACE}), FILES)
    return report


def test_an_access_beside_a_buffer_is_placed() -> None:
    report = only(GUARDED)
    assert (report.tool, report.kind, report.frame) == ("address", "use-after-poison", Frame("attention_backward", 412))
    assert report.access is not None
    assert (report.access.writes, report.access.size) == (False, 4)
    assert report.access.place == Place.model_validate(PLACE)


def test_freed_memory_tells_where_it_was_freed_and_allocated() -> None:
    report = only(FREED)
    assert (report.frame, report.freed, report.made) == tuple(Frame("gelu_backward", line) for line in (30, 29, 28))


def test_a_race_has_two_accesses() -> None:
    report = only(RACE)
    assert report.access is not None
    assert report.other is not None
    assert report.access.frame == Frame(".omp_outlined._debug__.3", 197)
    assert report.other.frame == Frame(".omp_outlined._debug__.3", 198)
    assert (report.access.writes, report.other.writes) == (False, True)
    assert report.words.startswith("global 'layer.count'")


def test_undefined_behaviour_is_told_without_addresses() -> None:
    report = only("train_gpt2.c:12:5: runtime error: load of misaligned address 0x7ffff6b01fe1 for type 'int'\n")
    assert (report.frame, report.words) == (Frame("", 12), "load of misaligned address for type 'int'")


def test_addresses_come_before_undefined_behaviour() -> None:
    text = "train_gpt2.c:412:5: runtime error: load of null pointer\n" + GUARDED
    assert [report.tool for report in parse(text, {}, FILES)] == ["address", "undefined"]


def test_another_file_of_the_same_name_is_not_the_students() -> None:
    assert only(GUARDED.replace(" train_gpt2.c:412", " /usr/share/train_gpt2.c:412")).frame is None
    assert parse("/usr/share/train_gpt2.c:1:2: runtime error: no\n", {}, FILES) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "==6==ERROR: AddressSanitizer:",
        "==6==ERROR: AddressSanitizer: x",
        "==6==ERROR: AddressSanitizer: SEGV on unknown address 0x" + "f" * 99,
        "WARNING: ThreadSanitizer: data race (pid=4)",
        "WARNING: ThreadSanitizer: " + "a " * 50_000,
        "    #0 0x1 in f train_gpt2.c:" + "9" * 99,
        "train_gpt2.c:1:2: runtime error: " + "\x1b[2J" * 50_000,
        "\0" * 99_999,
    ],
)
def test_any_text_can_be_read(text: str) -> None:
    for report in parse(text, {}, FILES):
        assert report.words.isprintable()
        assert len(report.words) <= MOST_WORDS


@pytest.mark.parametrize("value", [None, [], 3, {"0x1": []}, {"0x1": {**PLACE, "index": "21"}}, {1: {**PLACE, "x": 1}}])
def test_places_of_another_form_are_left_out(value: object) -> None:
    assert read_places(value) == {}


def test_a_tool_that_cannot_begin_says_so() -> None:
    assert unusable("FATAL: ThreadSanitizer: unexpected memory mapping 0x1\n").startswith("FATAL")
    assert unusable(GUARDED) == ""
