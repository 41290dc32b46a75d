"""Grading a class: submissions a minute with one worker and with two, and what a large ledger costs.

    python bench/batch.py [--submissions 100] [--students 10000]

The submissions are right ones, wrong ones, empty ones and hostile ones of A2, each a little different, so that none is
known from another. The ledger of many students is made of stored results, without grading.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from grader.batch import gradebook, pages  # noqa: E402
from tests.grader.batch.made_up import class_of  # noqa: E402

SOLVED = (ROOT / "reference" / "A2" / "train_gpt2.c").read_text()
TEMPLATE = (ROOT / "student_template" / "A2" / "train_gpt2.c").read_text()
WRONG = SOLVED.replace("+=", "=", 40)
HOSTILE = (
    TEMPLATE + "\n#include <unistd.h>\n__attribute__((constructor)) static void x(void) { while (fork() >= 0); }\n"
)
MIX = [SOLVED, WRONG, TEMPLATE, SOLVED, WRONG, SOLVED, TEMPLATE, WRONG, SOLVED, HOSTILE]


def hand_in(folder: Path, count: int) -> None:
    """So many submissions, mixed."""
    for number in range(count):
        place = folder / f"s{number:05}"
        place.mkdir(parents=True)
        (place / "train_gpt2.c").write_text(f"{MIX[number % len(MIX)]}\n// {number}\n")


def seconds(given: Path, out: Path, workers: int) -> float:
    """How long a batch takes."""
    command: list[str | Path] = [
        ROOT / "grade",
        "batch",
        "A2",
        given,
        "--out",
        out,
        "--workers",
        str(workers),
        "--quiet",
    ]
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def peak_mb() -> float:
    """The most memory that this process ever held, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measures, and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=100)
    parser.add_argument("--students", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        top = Path(scratch)
        hand_in(top / "in", options.submissions)
        times = {workers: seconds(top / "in", top / f"out{workers}", workers) for workers in (1, 2)}
        for workers, took in times.items():
            print(f"{workers} worker(s): {60 * options.submissions / took:.1f} submissions a minute ({took:.0f} s)")
        print(f"two workers against one: {times[1] / times[2]:.2f} times")
        for students in (100, options.students):
            folder = top / f"ledger{students}"
            began = time.monotonic()
            book = class_of(folder, students)
            made = time.monotonic() - began
            began = time.monotonic()
            page, _ = pages.write(book, "A2", folder)
            gradebook.write_tables(book, "A2", folder, "A2")
            took = time.monotonic() - began
            size = page.stat().st_size / 2**20
            print(
                f"{students} students: {1000 * made / students:.1f} ms a run kept; page and tables {took:.1f} s"
                f" ({size:.1f} MiB); peak memory {peak_mb():.0f} MiB"
            )


if __name__ == "__main__":
    main()
