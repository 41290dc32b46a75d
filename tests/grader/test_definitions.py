"""Sources by their definitions: what changed, and nothing guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.definitions import REST, changed, pieces, reach
from grader.home import ROOT

C = """\
#include <math.h>
#define LOOP for (int i = 0; i < n; i++) {
typedef struct { float* a; int n; } Tensor;
static const float table[2] = {1.0f, 2.0f};
/* a { brace in a comment */
float scale(float x) { return 2.0f * x; } // }
__attribute__((noinline)) void apply(float (*f)(float), Tensor t) {
    LOOP
        if (t.a[i] > 0) { t.a[i] = f(t.a[i]); }
    }
    printf("} {\\n");
}
int main(void) { apply(scale, make()); }
"""
PYTHON = """\
import numpy
class Linear:
    def forward(self, x):
        return x @ self.w
def helper(x):
    return x
if __name__ == "__main__":
    helper(1)
"""


def test_c_is_split_by_its_functions() -> None:
    bare = C.replace("LOOP\n", "for (;;) {\n").replace("#define for", "#define LOOP for")
    found = pieces("x.c", bare)
    assert found is not None
    assert found.keys() == {REST, "scale", "apply", "main"}
    assert "typedef struct" in found[REST]
    assert "table [ 2 ]" in found[REST]


def test_python_is_split_by_its_functions_and_classes() -> None:
    found = pieces("x.py", PYTHON)
    assert found is not None
    assert found.keys() == {REST, "Linear", "helper"}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("x.c", "void f() { if (1) { }"),
        ("x.c", "}"),
        ("x.c", "#ifdef A\nvoid f(int a) {\n#else\nvoid f(void) {\n#endif\n}\n"),
        ("x.py", "def f(:\n"),
        ("x.py", "\x00"),
    ],
)
def test_what_cannot_be_split_is_unclear(file: str, text: str) -> None:
    assert pieces(file, text) is None
    assert changed(pieces(file, text), pieces(file, text)) is None


CHANGES: list[tuple[str, str, str, set[str] | None]] = [
    ("x.c", "2.0f * x", "3.0f * x", {"scale"}),
    ("x.c", "2.0f * x", "2.0f  *\n x /* twice */", set()),
    ("x.c", "// }", "// {{{", set()),
    ("x.c", "2.0f * x", "2.0f - -x", {"scale"}),
    ("x.c", "#define LOOP", "#define LOOP 1", None),
    ("x.c", '"} {', '"{ }', {"apply"}),
    ("x.c", "1.0f, 2.0f}", "1.0f, 3.0f}", None),
    ("x.c", "int n; } Tensor", "int m; } Tensor", None),
    ("x.c", "int main(void)", "int mine(void)", None),
    ("x.c", "math.h", "tgmath.h", None),
    ("x.py", "x @ self.w", "x @ self.w + 1", {"Linear"}),
    ("x.py", "return x\n", "return x  # itself\n\n", set()),
    ("x.py", "helper(1)", "helper(2)", None),
    ("x.py", "import numpy", "import torch", None),
]


@pytest.mark.parametrize(("file", "old", "new", "names"), CHANGES)
def test_what_has_changed(file: str, old: str, new: str, names: set[str] | None) -> None:
    text = C.replace("    LOOP\n", "    for (;;) {\n") if file == "x.c" else PYTHON
    assert old in text
    assert changed(pieces(file, text), pieces(file, text.replace(old, new))) == names


def test_what_uses_what_directly_or_through_others() -> None:
    known = {"a": "b ( )", "b": "c ( )", "c": "", "d": "a", REST: "d"}
    assert reach({"a"}, known, {REST}) == {"a", "b", "c"}
    assert reach({"a"}, known, {REST, "b"}) == {"a"}
    assert reach({"x"}, known, set()) == set()


@given(st.text(alphabet="{}();\"'/*\\ \nab#=", max_size=60))
def test_any_text_is_split_or_unclear(text: str) -> None:
    for file in ("x.c", "x.py"):
        found = pieces(file, text)
        assert found is None or REST in found


def test_the_reference_is_split_into_its_functions() -> None:
    found = pieces("train_gpt2.c", (ROOT / "reference" / "A2" / "train_gpt2.c").read_text())
    assert found is not None
    assert {"attention_backward", "gpt2_backward", "gpt2_update", "main"} <= found.keys()
