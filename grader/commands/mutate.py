"""``./grade mutate <ID>``: how many small mistakes does the grader see, and do they cost what they should."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from grader import assignment as assignments
from grader import fixtures
from grader.assignment import Assignment
from grader.errors import EXIT_BELOW_MINIMUM, EXIT_GRADED
from grader.fixtures import FixtureSet
from grader.home import cache_folder
from grader.mutation import document, report, strength
from grader.mutation.changes import Mutant
from grader.mutation.outcome import Journal
from grader.mutation.regions import all_mutants
from grader.mutation.study import Setting, Study, sampled
from grader.parsing import Parser, at_least_one, tell, wall, writable
from grader.report.stdout import shown


def parser() -> argparse.ArgumentParser:
    """The parser of ``./grade mutate``."""
    top = Parser(prog="grade mutate", description="A mutation study of the grader: see docs/mutation-study.md.")
    top.add_argument("assignment", help=f"one of: {', '.join(assignments.known_ids())}")
    top.add_argument("--only", metavar="FUNCTION", help="the mutants of one function, e.g. gelu_backward")
    top.add_argument("--sample", type=int, metavar="N", help="N of the mutants, from each function alike")
    top.add_argument("--seed", type=int, default=0, metavar="S", help="of the sample (0)")
    top.add_argument("--own-row", action="store_true", help="grade each mutant's own row alone: quicker, tells less")
    top.add_argument(
        "--fixtures", type=Path, metavar="DIR", help="a private set: grade against it too, and compare what both see"
    )
    top.add_jobs("gradings")
    top.add_argument("--out", type=Path, metavar="DIR", help="keeps the journal (default: in the cache)")
    top.add_argument("--fresh", action="store_true", help="forget the journal, and grade all anew")
    top.add_argument("--list", action="store_true", help="show the mutants, grade nothing")
    top.add_argument("--markdown", metavar="PATH", help="write the assignment's part of this document")
    top.add_json("all outcomes")
    top.add_sandbox("the mutants")
    top.add_quiet()
    return top


def run(arguments: Sequence[str]) -> int:
    """Grades the mutants; returns 1 if one survived that is not equivalent; of two sets, if they see different ones."""
    options = parser().parse_args(arguments)
    writable(options, "json", "markdown")
    assignment = assignments.load(options.assignment)
    mutants = _mutants(assignment, options)
    if options.list:
        with shown():
            print("\n".join(f"{mutant.id} (line {mutant.line})\n{mutant.diff()}" for mutant in mutants))
        return EXIT_GRADED
    if options.fresh:
        (_folder(assignment, options) / "journal.jsonl").unlink(missing_ok=True)
    public = fixtures.asked_for(assignment.id, None)
    if options.fixtures is not None:
        private = fixtures.asked_for(assignment.id, options.fixtures)
        both = (_summary(assignment, options, mutants, one) for one in (public, private))
        strong = strength.Strength(*both)
        write = partial(strength.write, strong)
        _tell(options, partial(strength.as_json, strong), write, partial(strength.show, strong))
        return EXIT_GRADED if strong.equal else EXIT_BELOW_MINIMUM
    found = _summary(assignment, options, mutants, public)
    _tell(options, partial(report.as_json, found), partial(document.write, found), partial(report.show, found))
    return EXIT_BELOW_MINIMUM if found.survivors else EXIT_GRADED


def _tell(
    options: argparse.Namespace, as_json: Callable[[], str], write: Callable[[Path], None], show: Callable[[], None]
) -> None:
    if options.markdown is not None:
        write(Path(options.markdown))
    tell(options.json, as_json, show)


def command(options: argparse.Namespace) -> str:
    """The command as the document tells it."""
    words = ["./grade", "mutate", options.assignment]
    words += ["--only", options.only] if options.only else []
    words += ["--sample", str(options.sample), "--seed", str(options.seed)] if options.sample else []
    words += ["--own-row"] if options.own_row else []
    words += ["--fixtures", "DIR"] if options.fixtures else []
    words += ["--markdown", options.markdown] if options.markdown else []
    return " ".join(words)


def _folder(assignment: Assignment, options: argparse.Namespace) -> Path:
    """Where the journal lies."""
    return Path(options.out) if options.out else cache_folder() / "mutation" / assignment.id


def _mutants(assignment: Assignment, options: argparse.Namespace) -> list[Mutant]:
    at_least_one(options, "sample", "jobs")
    mutants = all_mutants(assignment, options.only)
    return mutants if options.sample is None else sampled(mutants, options.sample, options.seed)


def _summary(
    assignment: Assignment, options: argparse.Namespace, mutants: list[Mutant], against: FixtureSet
) -> report.Summary:
    setting = Setting(against, wall(options), options.own_row)
    study = Study(assignment, setting, Journal(_folder(assignment, options)))
    known = study.known(mutants)
    with report.progress(len(mutants), known, options.quiet) as tell:
        try:
            outcomes = study.run(mutants, options.jobs, tell)
        except KeyboardInterrupt:
            done = len(study.known(mutants))
            print(f"grade: {done} of {len(mutants)} are done; the same command goes on", file=sys.stderr)
            raise
    basis = f"fixtures {against.digest[:12]}, grader {study.context[:12]}"
    return report.Summary(assignment, outcomes, command(options), basis)
