"""Where a function stands in a file of the student's, whatever else stands there."""

from __future__ import annotations

import time

import pytest

from grader import assignment as assignments
from grader.home import ROOT
from grader.places import Place, find
from grader.submission import Taken, take

C = """\
// void gelu_backward(float* dinp) { a comment
/* void gelu_backward(float* dinp) {
*/
void gelu_backward(float* dinp, int (*callback)(int));
const char* text = "void gelu_backward(float* dinp) {";
#define CALL gelu_backward(dinp)
static inline void
gelu_backward(float* dinp, int (*callback)(int))
{
    gelu_backward(dinp, callback);
}
void my_gelu_backward(void) {}
"""

PYTHON = '''\
"""def forward(self)"""
import minitorch

def forward(x):
    pass

class Networks(Base):
    def forward(self): ...

class Network(minitorch.Module):
    """A network.

# not indented
    """
    def __init__(
        self,
    ):
        pass

    async def forward(self, x):
        def inner(): ...

def inner(): ...
'''


def taken(name: str, text: str, path: str = "") -> Taken:
    return Taken("here", files={name: text.encode()}, paths={name: path or name})


def test_a_definition_in_c() -> None:
    assert find(taken("x.c", C), "gelu_backward") == Place("x.c", 8)
    assert find(taken("x.c", C), "my_gelu_backward") == Place("x.c", 12)
    assert find(taken("x.c", C), "backward") is None
    assert find(taken("x.c", C.replace("\n", "\r\n")), "gelu_backward") == Place("x.c", 8)


@pytest.mark.parametrize(
    ("names", "line"),
    [("forward", 4), ("Network", 10), ("Network.__init__", 15), ("Network.forward", 20), ("Network.backward", None)],
)
def test_a_definition_in_python(names: str, line: int | None) -> None:
    found = find(taken("x.py", PYTHON), names)
    assert (found.line if found else None) == line


def test_the_file_is_named_as_the_submission_names_it() -> None:
    assert find(taken("x.c", "int f() {", "mine/x.c"), "f") == Place("mine/x.c", 1)
    two = Taken("here", files={"a.py": b"", "b.py": b"def f(): ..."}, paths={"b.py": "deep/b.py"})
    assert find(two, "f") == Place("deep/b.py", 1)


@pytest.mark.parametrize(
    "text",
    [
        "/*" * 100_000,
        '"' * 200_000,
        "'\\" * 100_000,
        "f(" * 100_000,
        "f((" * 50_000,
        "f" * 200_000,
        "\n" * 200_000,
        " " * 200_000,
    ],
    ids=["comments", "quotes", "escapes", "calls", "nested", "letters", "lines", "blanks"],
)
@pytest.mark.parametrize("name", ["x.c", "x.py"])
def test_no_text_takes_long(text: str, name: str) -> None:
    started = time.process_time()
    assert find(taken(name, text), "f") is None
    assert time.process_time() - started < 10, "the time grows with the square of the length"


@pytest.mark.parametrize("assignment_id", assignments.known_ids())
def test_the_place_of_every_check_is_found_in_the_reference(assignment_id: str) -> None:
    assignment = assignments.load(assignment_id)
    folder = ROOT / "reference" / assignment_id
    files = take(folder, assignment.submission, ROOT / "student_template" / assignment_id)
    for name, check in assignment.checks.items():
        found = find(files, check.at or check.function)
        assert found, name
        line = (folder / found.file).read_text().split("\n")[found.line - 1]
        assert (check.at or check.function).split(".")[-1] in line
