"""``./grade mutate <ID>``: how many small mistakes does the grader see, and do they cost what they should."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from grader import assignment as assignments
from grader import fixtures, sandbox
from grader.assignment import Assignment
from grader.cli import Parser
from grader.engine import processors
from grader.errors import EXIT_BELOW_MINIMUM, EXIT_GRADED, UsageError
from grader.home import cache_folder
from grader.mutation import document, report
from grader.mutation.changes import Mutant
from grader.mutation.outcome import Journal
from grader.mutation.regions import all_mutants
from grader.mutation.study import Setting, Study, sampled
from grader.report import target
from grader.report.stdout import shown


def parser() -> argparse.ArgumentParser:
    """The parser of ``./grade mutate``."""
    top = Parser(prog="grade mutate", description="A mutation study of the grader: see docs/mutation-study.md.")
    top.add_argument("assignment", help=f"one of: {', '.join(assignments.known_ids())}")
    top.add_argument("--only", metavar="FUNCTION", help="the mutants of one function, e.g. gelu_backward")
    top.add_argument("--sample", type=int, metavar="N", help="N of the mutants, from each function alike")
    top.add_argument("--seed", type=int, default=0, metavar="S", help="of the sample (0)")
    top.add_argument("--own-row", action="store_true", help="grade each mutant's own row alone: quicker, tells less")
    top.add_argument("--jobs", type=int, default=processors(), metavar="N", help="gradings at a time (processors)")
    top.add_argument("--out", type=Path, metavar="DIR", help="keeps the journal (default: in the cache)")
    top.add_argument("--fresh", action="store_true", help="forget the journal, and grade all anew")
    top.add_argument("--list", action="store_true", help="show the mutants, grade nothing")
    top.add_argument("--markdown", metavar="PATH", help="write the assignment's part of this document")
    top.add_argument("--json", metavar="PATH", help="write all outcomes as JSON (`-`: to standard output, alone)")
    top.add_argument("--sandbox", choices=sandbox.NAMES, default="auto", help="how to confine the mutants")
    top.add_argument("--quiet", "-q", action="store_true", help="no progress on standard error")
    return top


def run(arguments: Sequence[str]) -> int:
    """Grades the mutants; returns 1 if one survived that is not equivalent."""
    options = parser().parse_args(arguments)
    for name in ("json", "markdown"):
        if (path := getattr(options, name)) is not None:
            target.check(f"--{name}", path)
    assignment = assignments.load(options.assignment)
    mutants = _mutants(assignment, options)
    if options.list:
        with shown():
            print("\n".join(f"{mutant.id} (line {mutant.line})\n{mutant.diff()}" for mutant in mutants))
        return EXIT_GRADED
    summary = _summary(assignment, options, mutants)
    if options.json is not None:
        target.put(report.as_json(summary), options.json)
    if options.markdown is not None:
        document.write(summary, Path(options.markdown))
    if options.json != target.STDOUT:
        with shown():
            report.show(summary)
    return EXIT_BELOW_MINIMUM if summary.survivors else EXIT_GRADED


def command(options: argparse.Namespace) -> str:
    """The command as the document tells it."""
    words = ["./grade", "mutate", options.assignment]
    words += ["--only", options.only] if options.only else []
    words += ["--sample", str(options.sample), "--seed", str(options.seed)] if options.sample else []
    words += ["--own-row"] if options.own_row else []
    words += ["--markdown", options.markdown] if options.markdown else []
    return " ".join(words)


def _mutants(assignment: Assignment, options: argparse.Namespace) -> list[Mutant]:
    for name in ("sample", "jobs"):
        if (value := getattr(options, name)) is not None and value < 1:
            raise UsageError(f"--{name}: {value} is not a number of 1 or more")
    mutants = all_mutants(assignment, options.only)
    return mutants if options.sample is None else sampled(mutants, options.sample, options.seed)


def _summary(assignment: Assignment, options: argparse.Namespace, mutants: list[Mutant]) -> report.Summary:
    folder = options.out or cache_folder() / "mutation" / assignment.id
    if options.fresh:
        (folder / "journal.jsonl").unlink(missing_ok=True)
    public = fixtures.load(fixtures.set_folder(assignment.id, "public"))
    setting = Setting(public, sandbox.choose(options.sandbox), options.own_row)
    study = Study(assignment, setting, Journal(folder))
    known = study.known(mutants)
    with report.progress(len(mutants), known, options.quiet) as tell:
        try:
            outcomes = study.run(mutants, options.jobs, tell)
        except KeyboardInterrupt:
            done = len(study.known(mutants))
            print(f"grade: {done} of {len(mutants)} are done; the same command goes on", file=sys.stderr)
            raise
    basis = f"fixtures {public.digest[:12]}, grader {study.context[:12]}"
    return report.Summary(assignment, outcomes, command(options), basis)
