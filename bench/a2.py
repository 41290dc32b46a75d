"""How long ``./grade A2`` takes on the reference, against ``make test_gpt2 && ./test_gpt2`` on a tiny state.

``python bench/a2.py [--rounds N]``: alternates the two in one run on one machine and prints the medians, their
ratio (goal: at most 2.0), and when the first result line appeared (goal: within 2 s). Both build from nothing
each time; the grader's own operators are built once, as in use.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GRADE = [str(ROOT / "grade"), "A2", "--reference"]


def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="bench-a2-")) / "A2"
    shutil.copytree(ROOT / "student_template" / "A2", folder)
    shutil.copyfile(ROOT / "reference" / "A2" / "train_gpt2.c", folder / "train_gpt2.c")
    subprocess.run(["make", "data"], cwd=folder, check=True, capture_output=True)
    return folder


def handout(folder: Path) -> float:
    """Seconds of a clean build and a run of the handout's own test."""
    (folder / "test_gpt2").unlink(missing_ok=True)
    started = time.perf_counter()
    subprocess.run(["make", "test_gpt2"], cwd=folder, check=True, capture_output=True)
    subprocess.run(["./test_gpt2"], cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - started


def grade() -> tuple[float, float]:
    """Seconds of grading the reference, and until its first result line."""
    started = time.perf_counter()
    with subprocess.Popen(GRADE, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        process.stderr.readline()
        first = time.perf_counter() - started
        process.stderr.read()
    if process.returncode != 0:
        raise SystemExit(f"./grade ended with {process.returncode}")
    return time.perf_counter() - started, first


def main() -> None:
    """Prints the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    folder = _folder()
    grade()  # the environment and the operators' build are there from now on
    theirs, ours, firsts = [], [], []
    for _ in range(rounds):
        theirs.append(handout(folder))
        seconds, first = grade()
        ours.append(seconds)
        firsts.append(first)
    shutil.rmtree(folder.parent)
    base, mine = statistics.median(theirs), statistics.median(ours)
    print(f"make test_gpt2 && ./test_gpt2   {base:6.2f} s (median of {rounds})")
    print(f"./grade A2 --reference          {mine:6.2f} s")
    print(f"ratio                           {mine / base:6.2f}   (goal: at most 2.0)")
    print(f"first result line after         {statistics.median(firsts):6.2f} s (goal: within 2)")


if __name__ == "__main__":
    main()
