"""Right solutions score 100, however they are written, encoded and built."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.calibration import arithmetic
from tests.a2.patches import HERE, REFERENCE, SOLVED, Variant, load, write
from tests.support import Graded, grade

VARIANTS = load(HERE / "variants.yaml", Variant)


def marks(variant: Variant) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] if variant.slow else []


MARKED = [pytest.param(variant, id=variant.name, marks=marks(variant)) for variant in VARIANTS]
HOW = arithmetic.load("A2")
# one for each kind in the quick tests: the rest lies between these
QUICK = {("gcc", "-O0"), ("gcc", "-Ofast -march=native"), ("clang", "-O3 -march=native -fopenmp -DOMP")}
BUILDS = [
    pytest.param(compiler, flags, marks=[] if (compiler, flags) in QUICK else pytest.mark.slow)
    for compiler in HOW.compilers
    for flags in HOW.flags
]

UMLAUTS = "// Rückwärts durch die Schichten: µ, σ², 1/√n\n"


def assert_right(result: Graded) -> None:
    assert result.result["score"] == 100, result.said()
    assert (result.exit, result.lost) == (0, set())
    assert not any(row["inferred"] for row in result.rows.values()), result.said()


@pytest.mark.parametrize(("compiler", "flags"), BUILDS)
def test_the_reference_is_right_however_it_is_built(compiler: str, flags: str) -> None:
    if not arithmetic.can_build(compiler, flags):
        pytest.skip(f"no {compiler} that builds with {flags}")
    assert_right(grade("--reference", "--cc", compiler, f"--cflags={flags}"))


@pytest.mark.parametrize("variant", MARKED)
def test_a_right_solution_is_right_however_it_is_written(variant: Variant, tmp_path: Path) -> None:
    folder = write(tmp_path / variant.name, variant.source(SOLVED))
    assert_right(grade(folder, f"--cflags={variant.flags}"))


def carriage_returns(source: str) -> bytes:
    return source.replace("\n", "\r\n").encode()


def byte_order_mark(source: str) -> bytes:
    return b"\xef\xbb\xbf" + source.encode()


def latin_1(source: str) -> bytes:
    return "// Rückwärts: µ, ½, größer\n".encode("latin-1") + source.encode()


def utf_8(source: str) -> bytes:
    return (UMLAUTS + source).encode()


def no_last_newline(source: str) -> bytes:
    return source.rstrip().encode()


@pytest.mark.parametrize(
    "encoded",
    [
        carriage_returns,
        byte_order_mark,
        latin_1,
        *(pytest.param(f, marks=pytest.mark.slow) for f in (utf_8, no_last_newline)),
    ],
    ids=lambda f: f.__name__,
)
def test_a_right_solution_is_right_however_it_is_encoded(encoded: Callable[[str], bytes], tmp_path: Path) -> None:
    assert_right(grade(write(tmp_path / "encoded", encoded(REFERENCE.read_text(encoding="utf-8")))))


def test_there_are_enough_of_them() -> None:
    assert len(VARIANTS) >= 24
