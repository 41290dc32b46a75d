"""All that is written out of the ledger, for `batch` and `ledger export` alike: late days first."""

from __future__ import annotations

from pathlib import Path

from grader.batch import late, pages, times
from grader.batch.gradebook import write_feedback, write_tables
from grader.batch.ledger import Ledger
from grader.batch.ledger.records import put_late_days, put_times, unknown_in
from grader.errors import UsageError

LATE = "late.yaml"  # in the folder of the ledger: the policy, where none is named


def policy(out: Path, named: Path | None, moments: Path | None) -> late.Policy | None:
    """The late policy: the one that is named, else the folder's own, if it has one.

    Raises:
        UsageError: it is not there, or there are times and no policy.
        InfrastructureError: it is none.
    """
    path = named or (out / LATE if (out / LATE).is_file() else None)
    if path is None and moments:
        raise UsageError("--times has a meaning only with a late policy: --late YAML")
    return late.load(path) if path else None


def write(
    ledger: Ledger, assignment: str, out: Path, rules: late.Policy | None, moments: Path | None, column: str
) -> tuple[list[Path], list[str]]:
    """Late days, gradebooks, feedback, pages; returns the files, and what is to be said.

    Raises:
        UsageError: ``moments`` cannot be read.
        InfrastructureError: the ledger or the feedback cannot be written.
        NotShownError: another file cannot be written.
    """
    notes = _late_days(ledger, assignment, rules, moments) if rules else []
    written = write_tables(ledger, assignment, out, column)
    written.append(write_feedback(ledger, assignment, out))
    return [*written, *pages.write(ledger, assignment, out)], notes


def _late_days(ledger: Ledger, assignment: str, rules: late.Policy, moments: Path | None) -> list[str]:
    notes = []
    if moments:
        unknown = put_times(ledger, assignment, times.load(moments, rules.zone))
        if unknown:
            notes.append(f"--times: {len(unknown)} lines are of nobody who handed in, e.g. {unknown[0]}")
    found = put_late_days(ledger, rules)
    told = [(who, x.note) for (what, who), x in found.items() if x.note and what == assignment]
    if told:
        more = f" (and {len(told) - 1} more)" if told[1:] else ""
        notes.append(f"late days: {told[0][0]}: {told[0][1]}{more}")
    if unknown := unknown_in(ledger, rules):
        notes.append(f"late policy: the ledger has no such student, or nothing is due: {', '.join(unknown)}")
    return notes
