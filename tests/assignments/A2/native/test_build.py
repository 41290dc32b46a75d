"""How the student's source is read and what the compiler's messages are taken to mean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assignments.A2.native.build import (
    FUNCTIONS,
    OPERATORS_GRADED,
    PARAMETERS,
    SHIM,
    failing_parts,
    made_replaceable,
    parts_by_line,
    reordered,
)
from assignments.common.compiler import read_source
from grader.home import ROOT

REFERENCE = (ROOT / "reference" / "A2" / "train_gpt2.c").read_text("utf-8")
SHIM_TEXT = Path(SHIM).read_text("utf-8")
PARTS = parts_by_line(SHIM_TEXT)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "words",
    [
        "static",
        "static inline",
        "static __inline",
        "static  \n",
        "inline",
        "static __attribute__((noinline))",
        "__attribute__((always_inline)) static inline",
    ],
)
def test_what_binds_a_graded_function_is_taken_off(name: str, words: str) -> None:
    source = f"static int helper;\n{words} void {name} (float *x) {{ static int n; }}\n"
    text, was = made_replaceable(source)
    assert was
    assert len(text) == len(source)
    assert text.count("\n") == source.count("\n")
    assert re.findall(r"\b(?:static|inline|always_inline)\b", text) == ["static", "static"]


@pytest.mark.parametrize(
    "source",
    ["static void helper(void) {}", "static float gelu_backward(float x) {}", "static void my_gelu_backward()"],
)
def test_other_statics_are_left(source: str) -> None:
    assert made_replaceable(source) == (source, False)


def test_the_reference_is_left_as_it_is() -> None:
    assert made_replaceable(REFERENCE) == (REFERENCE, False)


def test_the_shim_is_in_parts() -> None:
    assert parts_by_line("a\n// part: one\nb\n// part:  two \n") == [(2, "one"), (4, "two")]
    assert {*FUNCTIONS, "model"} <= {name for _, name in PARTS}
    for _, name in PARTS:
        assert name == "crash report" or f"TG_WITHOUT_{name}\n" in SHIM_TEXT


def message(line: int, file: str = "/x/shim.c", text: str = "wrong") -> str:
    return f"{file}:{line}:7: error: {text}\n"


def test_an_error_is_told_of_the_part_it_lies_in() -> None:
    parts = [(10, "one"), (20, "two"), (30, "three")]
    messages = message(20, text="first") + message(29, text="second") + "note\n" + message(10, text="fatal")
    assert failing_parts(messages, parts) == {"two": "first", "one": "fatal"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        message(5),
        message(15, "train_gpt2.c"),
        "/x/shim.c:15:7: warning: wrong\n",
        "shim.c: In function f:\n",
        "15\n",
    ],
)
def test_other_messages_fail_no_part(text: str) -> None:
    assert failing_parts(text, [(10, "one")]) == {}


def test_a_fatal_error_without_a_column() -> None:
    assert failing_parts("shim.c:12: fatal error: no such file\n", [(10, "one")]) == {"one": "no such file"}


def test_the_reference_has_the_interfaces_order() -> None:
    assert reordered(REFERENCE) == {}


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_same_names_in_another_order_are_seen(name: str) -> None:
    names = PARAMETERS[name].split()
    turned = [names[1], names[0], *names[2:]]
    arguments = ", ".join(f"const float *{n}" if n[0].islower() else f"int {n}" for n in turned)
    found = reordered(f"void {name}({arguments})\n{{\n}}\n")
    assert found == {name: f"its parameters stand in another order: ({', '.join(turned)})"}


@pytest.mark.parametrize(
    "source",
    [
        "void gelu_backward(float *dinp, float *inp, float *dout, int N) {}",
        "void gelu_backward(float dinp[], const float* inp, float *restrict dout, size_t N) {}",
        "void gelu_backward(float *a, float *b, float *c, int n) {}",
        "void gelu_backward(float *dinp, float *dout) {}",
        "void gelu_backward(float *inp, float *dinp, float *dout, int N);",
        "// void gelu_backward(float *inp, float *dinp, float *dout, int N) {}",
        "void gelu_backward(float *dinp, /* then */ float *inp, float *dout, int N) {}",
        "void gelu_backward() {}",
        "#if 0\nvoid gelu_backward(float *inp, float *dinp, float *dout, int N) {}\n#endif\n"
        "void gelu_backward(float *dinp, float *inp, float *dout, int N) {}",
        "",
    ],
)
def test_other_spellings_are_no_other_order(source: str) -> None:
    assert reordered(source) == {}


def test_every_graded_operator_has_its_order() -> None:
    assert tuple(PARAMETERS) == OPERATORS_GRADED


@pytest.mark.parametrize(
    ("blob", "text"),
    [
        (b"int x;\n", "int x;\n"),
        (b"\xef\xbb\xbfint x;\n", "int x;\n"),
        ("// größer\n".encode(), "// größer\n"),
        ("// größer\n".encode("latin-1"), "// größer\n"),
        ("// größer\n".encode("utf-16"), "// größer\n"),
        (b"\xfe\xff" + "// größer\n".encode("utf-16-be"), "// größer\n"),
        (b"\xff\xfe\x00", "ÿþ "),
        (b"int\0x;\r\n", "int x;\r\n"),
        (b"", ""),
    ],
)
def test_the_source_is_read_in_any_encoding(blob: bytes, text: str, tmp_path: Path) -> None:
    (tmp_path / "train_gpt2.c").write_bytes(blob)
    assert read_source(str(tmp_path / "train_gpt2.c")) == text
