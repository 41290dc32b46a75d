"""Kernels that are wrong are found by the execution model, and the right one is blamed; those that are right pass.

Four mistakes of four kernels go into one file, and some such files are among the quick tests.
"""

from __future__ import annotations

import json
import shutil
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from grader import tolerances
from grader.calibration.measure import FACTOR
from grader.kernels.judge import TABLE, TENSOR
from grader.known.cuda import Kernels, known, source
from grader.known.entries import folder
from tests.support import Record, run_command

KNOWN = known()
SAMPLED = 12
IDS = ("map", "zip", "reduce", "matmul")
RIGHT = [entry for entry in KNOWN.values() if not entry.kernels]
WRONG = [entry for entry in KNOWN.values() if entry.kernels]


def packed() -> list[list[Kernels]]:
    """The mistakes, one of each kernel together where there are so many; those of several kernels alone."""
    of_one = [[e for e in WRONG if e.kernels == [kernel] and not e.slow] for kernel in IDS]
    packs = [[entry for entry in pack if entry is not None] for pack in zip_longest(*of_one)]
    return packs + [[entry] for entry in WRONG if len(entry.kernels) > 1 and not entry.slow]


def judged(text: str, tmp_path: Path, *more: str) -> dict[str, Record]:
    """The kernels of a file by id, by the real command."""
    (tmp_path / "combine.cu").write_text(text, encoding="utf-8")
    done = run_command("kernels", "HW2", tmp_path / "combine.cu", "--quiet", "--json", tmp_path / "k.json", *more)
    assert done.exit == 0, done.stderr
    result = json.loads((tmp_path / "k.json").read_bytes())
    assert result["problems"] == []
    return {kernel["id"]: kernel for kernel in result["kernels"]}


def told(kernel: Record) -> str:
    """What is said of a kernel, for an assertion's message."""
    return "\n".join([kernel["verdict"], *(f"{m['kind']}: {m['text']}" for m in kernel["mistakes"])])


def check(entry: Kernels, kernels: dict[str, Record]) -> None:
    """The mistake is told, for every kernel that has it."""
    for blamed in entry.kernels:
        kernel = kernels[blamed]
        assert kernel["verdict"] not in ("pass", "blocked"), entry.name
        assert entry.kind in [mistake["kind"] for mistake in kernel["mistakes"]], f"{entry.name}: {told(kernel)}"
    texts = [mistake["text"] for kernel in entry.kernels for mistake in kernels[kernel]["mistakes"]]
    assert any(entry.says in text for text in texts), f"{entry.name}: {texts}"


def marked(packs: list[list[Kernels]]) -> list[Any]:
    """Every twelfth by default: each is some seconds of work."""
    slow = [[] if number % SAMPLED == 0 else [pytest.mark.slow] for number in range(len(packs))]
    return [pytest.param(p, id="+".join(e.name for e in p), marks=m) for p, m in zip(packs, slow, strict=True)]


@pytest.mark.parametrize("pack", marked(packed()))
def test_mistakes_are_found_and_the_right_kernel_is_blamed(pack: list[Kernels], tmp_path: Path) -> None:
    kernels = judged(source(pack, KNOWN), tmp_path)
    for entry in pack:
        check(entry, kernels)
    wrong = {kernel for entry in pack for kernel in entry.kernels}
    assert {name for name, kernel in kernels.items() if kernel["verdict"] != "pass"} == wrong


@pytest.mark.slow
@pytest.mark.parametrize("entry", [pytest.param(e, id=e.name) for e in WRONG])
def test_a_mistake_alone_costs_no_other_kernel(entry: Kernels, tmp_path: Path) -> None:
    kernels = judged(source([entry], KNOWN), tmp_path)
    check(entry, kernels)
    assert {name for name, k in kernels.items() if k["verdict"] != "pass"} == set(entry.kernels)


@pytest.mark.parametrize(
    "entry",
    [pytest.param(e, id=e.name, marks=[pytest.mark.slow] if e.slow or n % 2 else []) for n, e in enumerate(RIGHT)],
)
def test_what_is_right_passes(entry: Kernels, tmp_path: Path) -> None:
    kernels = judged(source([entry], KNOWN), tmp_path)
    assert {name: told(k) for name, k in kernels.items() if k["verdict"] != "pass"} == {}


@pytest.mark.parametrize("kernel", IDS)
def test_a_limit_has_room_to_right_and_to_wrong_kernels(kernel: str) -> None:
    limit = tolerances.load().limit(TABLE, kernel, TENSOR, official=False)
    assert limit.evidence is not None
    assert limit.evidence.wrong is not None
    assert limit.evidence.honest * FACTOR <= limit.rtol <= limit.evidence.wrong / FACTOR
    assert KNOWN[limit.evidence.wrong_is].kernels == [kernel]


def test_there_are_mistakes_enough() -> None:
    assert len(WRONG) >= 50
    assert {kernel for entry in WRONG for kernel in entry.kernels} == set(IDS)


def test_a_mistake_that_changes_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="stands 0 times"):
        source([KNOWN["matmul-assigned"], KNOWN["matmul-assigned"]], KNOWN)


# ---- the command ---------------------------------------------------------------------------------


def test_the_reference_s_kernels_are_right() -> None:
    done = run_command("kernels", "HW2", "--reference", "--quiet")
    assert (done.exit, done.stderr) == (0, "")
    assert "4 of 4 kernels are right; they cost no points" in done.stdout


def test_the_same_kernels_give_the_same_bytes(tmp_path: Path) -> None:
    texts = []
    entry = KNOWN["matmul-second-barrier-missing"]
    for name in ("a", "b"):
        place = tmp_path / name
        place.mkdir()
        judged(source([entry], KNOWN), place, "--only", "matmul")
        result = json.loads((place / "k.json").read_bytes())
        texts.append({**result, "timing": {}, "submission": {**result["submission"], "origin": ""}})
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("int main( {\n", "does not compile: src/combine.cu:1"),
        ('#include <cuda_runtime.h>\n#include "../../../etc/passwd"\n', "does not compile"),
        ("void f() {}\n", "there is no function of this name"),
        ('#include <cuda_runtime.h>\nextern "C" void tensorMap(float*) {}\n', "too few parameters"),
    ],
)
def test_what_cannot_be_judged_is_told(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "combine.cu").write_text(text, encoding="utf-8")
    done = run_command("kernels", "HW2", tmp_path / "combine.cu", "--quiet", "--only", "map")
    assert done.exit == 0, done.stderr
    assert says in " ".join(done.stdout.split())
    assert "0 of 1 kernels are right" in done.stdout


HOSTILE = """
#include <cuda_runtime.h>
#include <signal.h>
#include <unistd.h>
__attribute__((constructor)) static void begin() { %s }
extern "C" void tensorMap(float*, int*, int*, int, float*, int*, int*, int, int, int) { %s }
"""


@pytest.mark.parametrize(
    ("at_start", "when_called", "verdicts"),
    [
        ("_exit(0);", "", {"crashed", "fail"}),
        ("", "_exit(75);", {"crashed", "fail"}),
        ("", "kill(getpid(), SIGKILL);", {"crashed"}),
        ("", "*(volatile int*)8 = 1;", {"crashed"}),
        pytest.param("", "for (volatile int i = 0;; i++) {}", {"timed_out"}, marks=pytest.mark.slow),
    ],
)
def test_code_that_does_not_come_back_passes_nothing(
    at_start: str, when_called: str, verdicts: set[str], tmp_path: Path
) -> None:
    kernels = judged(HOSTILE % (at_start, when_called), tmp_path, "--only", "map")
    assert kernels["map"]["verdict"] in verdicts, told(kernels["map"])


def test_usage(tmp_path: Path) -> None:
    for arguments, says in (
        (["A2"], "A2 has no CUDA kernels"),
        (["HW2", "--only", "conv"], "there is no kernel `conv`; there are: map, zip, reduce, matmul"),
        (["HW2", str(tmp_path / "nowhere")], "there is no submission at"),
        (["HW2", "--reference", str(tmp_path)], "has no meaning"),
    ):
        done = run_command("kernels", *arguments, "--quiet")
        assert done.exit == 2, done.stdout
        assert says in done.stderr


def test_a_machine_without_a_compiler_is_no_fault_of_the_submission(tmp_path: Path) -> None:
    shutil.copyfile(folder("HW2").parents[1] / "student_template/HW2/src/combine.cu", tmp_path / "combine.cu")
    done = run_command("kernels", "HW2", tmp_path / "combine.cu", "--cc", "no-such-compiler", "--quiet")
    assert done.exit == 3
    assert "no C++ compiler" in done.stderr
