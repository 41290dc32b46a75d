"""The evidence behind ``tolerances.yaml``: how far right code is off, and how near wrong code comes.

``python bench/tolerances.py A2 [--write]`` grades every right variant and every known mistake of the tests
through ``./grade``, and prints for each limit the largest honest error, the smallest wrong one, and the margin
on both sides. ``--write`` puts the evidence beside the limits.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

TOLERANCES = ROOT / "tolerances.yaml"
ANY = "*"  # the entry for the tensors of a check that have none of their own
LEAST_MARGIN = 5.0


@dataclass(frozen=True)
class Submission:
    """A submission whose rightness is known: files to lay over the reference, and how to build."""

    name: str
    files: dict[str, str]
    arguments: tuple[str, ...]
    row: str = ""  # the row that is wrong in it; none: all is right


@dataclass
class Seen:
    """What was seen of one limit."""

    limit: float
    honest: float = 0.0
    wrong: float | None = None
    wrong_is: str = ""

    def margins(self) -> tuple[float, float]:
        """Limit over honest, wrong over limit."""
        below = self.limit / self.honest if self.honest else float("inf")
        above = self.wrong / self.limit if self.wrong is not None and self.limit else float("inf")
        return below, above


def a2() -> Iterator[Submission]:
    """A2's: the tests' variants, the reference under several compilers and flags, the tests' mistakes."""
    from tests.a2 import patches, test_variants

    name, look = patches.SOURCE, ("--no-second-look",)
    reference = patches.REFERENCE.read_text("utf-8")
    for compiler in test_variants.COMPILERS:
        for flags in test_variants.FLAGS:
            if test_variants.builds(compiler, flags):
                yield Submission(
                    f"{compiler} {flags}", {name: reference}, (*look, "--cc", compiler, f"--cflags={flags}")
                )
    for variant in test_variants.VARIANTS:
        yield Submission(variant.name, {name: variant.source()}, (*look, f"--cflags={variant.flags}"))
    for mistake in patches.load(patches.HERE / "mistakes.yaml", patches.Mistake):
        if mistake.serial == "wrong":
            yield Submission(mistake.name, {name: mistake.source()}, look, mistake.row)


def hw2() -> Iterator[Submission]:
    """HW2's: the reference, the tests' right variants, and their mistakes; without the training run."""
    from tests.hw2 import patches

    alone = ("--no-training",)
    yield Submission("reference", patches.Right(name="reference", what="").files(), alone)
    for variant in patches.load(patches.HERE / "variants.yaml", patches.Right):
        yield Submission(variant.name, variant.files(), alone)
    for mistake in patches.load(patches.HERE / "mistakes.yaml", patches.Mistake):
        yield Submission(mistake.name, mistake.files(), alone, mistake.row)


SOURCES = {"A2": a2, "HW2": hw2}


def graded(assignment: str, submission: Submission) -> dict[str, Any]:
    """The result of grading a submission."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in submission.files.items():
            path = Path(folder) / "submission" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        out = Path(folder) / "result.json"
        command = [str(ROOT / "grade"), assignment, str(Path(folder) / "submission"), "-q", "--json", str(out)]
        subprocess.run([*command, *submission.arguments], check=True, capture_output=True)
        result: dict[str, Any] = json.loads(out.read_text("utf-8"))
        return result


def evidence(result: dict[str, Any], row: str) -> Iterator[tuple[str, str, float, float, bool]]:
    """(check, tensor, error, limit, ok) of the measured comparisons; of one row, where it is named."""
    for entry in result["rows"]:
        for check in entry["checks"] if row in ("", entry["id"]) else []:
            for found in check["evidence"] if check["role"] == "direct" else []:
                if found["error"] is not None:
                    yield check["id"], found["tensor"], found["error"], found["limit"], found["ok"]


def lines_of(assignment: str, text: str) -> dict[tuple[str, str], int]:
    """The line (from 0) on which the limit of (check, tensor) stands."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert root is not None
    node = {key.value: value for key, value in root.value}["measured"]
    checks = {key.value: value for key, value in node.value}[assignment]
    return {
        (check.value, tensor.value): tensor.start_mark.line
        for check, tensors in checks.value
        for tensor, _ in tensors.value
    }


def measure(assignment: str) -> dict[int, Seen]:
    """Grades everything; what was seen, by the limit's line."""
    lines = lines_of(assignment, TOLERANCES.read_text("utf-8"))
    submissions = list(SOURCES[assignment]())
    seen: dict[int, Seen] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for submission, result in zip(submissions, pool.map(lambda s: graded(assignment, s), submissions), strict=True):
            for check, tensor, error, limit, ok in evidence(result, submission.row):
                line = lines.get((check, tensor), lines.get((check, ANY), -1))
                note(seen.setdefault(line, Seen(limit)), submission, error, ok)
    return seen


def note(entry: Seen, submission: Submission, error: float, ok: bool) -> None:
    """Takes one comparison into account."""
    if not submission.row:
        entry.honest = max(entry.honest, error)
    elif not ok and (entry.wrong is None or error < entry.wrong):
        entry.wrong, entry.wrong_is = error, submission.name


def with_evidence(line: str, entry: Seen) -> str:
    """The limit's line with the evidence in place of what stood there."""
    wrong = "null" if entry.wrong is None else f"{entry.wrong:.1e}"
    found = f"evidence: {{honest: {entry.honest:.1e}, wrong: {wrong}, wrong_is: {entry.wrong_is or 'none known'}}}"
    return re.sub(r"source: unmeasured|evidence: \{[^}]*\}", found, line)


def main() -> None:
    """Prints the table; with ``--write``, writes the evidence."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assignment", choices=sorted(SOURCES))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    seen = measure(options.assignment)
    lines = TOLERANCES.read_text("utf-8").splitlines()
    print(f"{'limit on line':<44} {'honest':>9} {'limit':>9} {'wrong':>9}  margins")
    for number, entry in sorted(seen.items()):
        below, above = entry.margins()
        name = lines[number].split("{")[0].strip()
        wrong = "-" if entry.wrong is None else f"{entry.wrong:.1e}"
        narrow = "  NARROW" if min(below, above) < LEAST_MARGIN and entry.limit else ""
        values = f"{entry.honest:9.1e} {entry.limit:9.1e} {wrong:>9}  {below:.0f} {above:.0f}"
        print(f"{number + 1:>4} {name:<39} {values}{narrow}")
        lines[number] = with_evidence(lines[number], entry)
    if options.write:
        TOLERANCES.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
