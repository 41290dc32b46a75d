"""``./grade calibrate <ID>``: do the tolerances separate right from wrong, and by how much on either side."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from grader import assignment as assignments
from grader import fixtures, tolerances
from grader.assignment import Assignment
from grader.calibration import arithmetic, strips
from grader.calibration.limits import is_exact, nominal
from grader.calibration.measure import Calibration, Measured
from grader.calibration.samples import samples
from grader.errors import EXIT_BELOW_MINIMUM, EXIT_GRADED, UsageError
from grader.parsing import Parser, tell, wall
from grader.report import target

SCHEMA = "tensorgrade/calibration/1"
EVERY = 20  # samples between two lines of progress


def parser() -> argparse.ArgumentParser:
    """The parser of ``./grade calibrate``."""
    top = Parser(
        prog="grade calibrate",
        description="Grades right code in many arithmetics and known mistakes; tells how far each limit is from both.",
    )
    top.add_argument("assignment", help=f"one of: {', '.join(assignments.known_ids())}")
    top.add_only_rows("the limits of these rows alone")
    top.add_argument("--write", action="store_true", help=f"write the evidence into {tolerances.PATH.name}")
    top.add_argument("--svg", metavar="PATH", help="draw the strips as a picture")
    top.add_json("all errors")
    top.add_jobs("gradings")
    top.add_sandbox("the samples")
    top.add_quiet()
    return top


def run(arguments: Sequence[str]) -> int:
    """Measures and tells; returns 1 if a limit lacks evidence or room."""
    options = parser().parse_args(arguments)
    assignment = assignments.load(options.assignment)
    rows = _rows(assignment, options)
    public = fixtures.load(fixtures.set_folder(assignment.id, "public"))
    calibration = Calibration(assignment, public, wall(options), rows)
    every = calibration.wanted(samples(assignment))
    for build in arithmetic.load(assignment.id).left_out():
        print(f"left out, since this machine cannot build so: {build}", file=sys.stderr)
    found = calibration.run(every, options.jobs, _teller(len(every), options.quiet))
    if options.write:
        evidence = {m.place: m.evidence() for m in found if not is_exact(m.limit) and m.honest}
        target.put(calibration.written.with_evidence(evidence), str(tolerances.PATH))
    if options.svg is not None:
        target.put(strips.svg(f"{assignment.id}: {assignment.title}", found), options.svg)
    tell(
        options.json,
        lambda: json.dumps(record(assignment, found), indent=1) + "\n",
        lambda: print("\n".join(strips.table(found))),
    )
    return EXIT_BELOW_MINIMUM if any(measured.problems for measured in found) else EXIT_GRADED


def record(assignment: Assignment, found: Sequence[Measured]) -> dict[str, Any]:
    """All that was seen, as JSON holds it; errors in the limit's own metric."""
    limits = []
    for measured in found:
        unit = nominal(measured.limit)
        errors = {
            kind: {name: share * unit for name, share in shares.items()}
            for kind, shares in (("honest", measured.honest), ("wrong", measured.wrong))
        }
        limits.append({"limit": measured.place.name, "is": unit, "problems": measured.problems, **errors})
    return {"schema": SCHEMA, "assignment": assignment.id, "limits": limits}


def _rows(assignment: Assignment, options: argparse.Namespace) -> list[str]:
    """The rows that were asked for, and whether all else that was can be."""
    if options.jobs < 1:
        raise UsageError(f"--jobs: {options.jobs} is not a number of 1 or more")
    for name in ("json", "svg"):
        if (path := getattr(options, name)) is not None:
            target.check(f"--{name}", path)
    rows = [row.strip() for value in options.only for row in value.split(",") if row.strip()]
    for row in rows:
        assignment.row(row)
    return rows


def _teller(total: int, quiet: bool) -> Callable[[str], None]:
    done: list[str] = []

    def tell(name: str) -> None:
        done.append(name)
        if not quiet and len(done) % EVERY == 0:
            print(f"{len(done)} of {total} samples graded", file=sys.stderr, flush=True)

    return tell
