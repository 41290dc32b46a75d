"""From checks to rows to the total. All points are data; this file adds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.assignment import Assignment, Row
from grader.result import GRAVITY, CheckResult, Evidence, RowResult, Verdict

NEAR = 0.9  # share of a limit from which an error is told with more digits


def gravest(verdicts: Sequence[Verdict]) -> Verdict:
    """The gravest of some verdicts."""
    return max(verdicts, key=GRAVITY.index)


def score_row(row: Row, results: Mapping[str, CheckResult]) -> RowResult:
    """A row has its points if all checks that count have passed.

    The verdict is that of the direct checks; only where these have passed does that of the whole
    program's speak. ``credit: direct`` leaves the whole program out. A row in parts has the points of
    those checks that have passed.

    The points that rest on checks which are not told (``hidden``) are withheld: neither won nor lost, whatever came
    of the other checks.
    """
    checks = [results[check] for check in row.checks]
    direct = [c for c in checks if c.role == "direct"]
    counting = direct if row.credit == "direct" and direct else checks
    verdict = gravest([c.verdict for c in direct]) if direct else "pass"
    if verdict in ("pass", "hidden"):
        verdict = gravest([c.verdict for c in counting])
    withheld = _withheld(row, counting)
    return RowResult(
        id=row.id,
        title=row.title,
        points=row.points if verdict == "pass" else sum(row.parts[c.id] for c in checks if c.passed and row.parts),
        max_points=row.points - withheld,
        withheld=withheld,
        verdict=verdict,
        inferred=any(c.inferred for c in counting if c.verdict == verdict),
        detail=_detail(counting, verdict),
        checks=checks,
    )


def _withheld(row: Row, counting: Sequence[CheckResult]) -> int:
    hidden = [check.id for check in counting if check.verdict == "hidden"]
    if row.parts:
        return sum(row.parts[name] for name in hidden)
    return row.points if hidden else 0


def _detail(checks: Sequence[CheckResult], verdict: Verdict) -> str:
    """One line of evidence: the closest call of a row that passed, the first failure of one that did not."""
    if verdict == "pass":
        told = "; ".join(dict.fromkeys(check.detail for check in checks if check.detail))
        return told or _closest([e for check in checks for e in check.evidence])
    if verdict == "hidden":
        return "rests on checks that are not shown"
    deciding = next((c for c in checks if c.verdict == verdict), checks[0])
    failed = next((e for e in deciding.evidence if not e.ok), None)
    if deciding.detail:
        return f"{deciding.detail}"
    return describe(failed) if failed else deciding.calls_differ


def _closest(evidence: Sequence[Evidence]) -> str:
    known = [e for e in evidence if e.error is not None and e.limit > 0]
    measured = [e for e in known if e.honest is not None] or known  # right values may fill an exact range to its end
    if not measured:
        return ""
    worst = max(measured, key=lambda e: (e.error or 0.0) / e.limit)
    return f"largest error {measured_error(worst, worst.tensor)}"


def measured_error(evidence: Evidence, tensor: str = "") -> str:
    """The error of a tensor beside its limit, in the terms of that limit."""
    name, error = f" in {tensor}" if tensor else "", evidence.error
    if error is None:
        return f"not finite{name}"
    if not evidence.of_allowed:
        near = error > NEAR * evidence.limit
        return f"{f'{error:.6g}' if near else f'{error:.1e}'}{name} (limit {_limit(evidence.limit)})"
    return f"{name.strip()}{': ' if tensor else ''}{_percent(error)} of what is allowed"


def _limit(limit: float) -> str:
    """``1e-04``; in full where one digit is not enough."""
    short = f"{limit:.0e}"
    return short if float(short) == limit else f"{limit:g}"


def _percent(share: float) -> str:
    percent = 100 * share
    if 0 < percent < 0.01:
        return "less than 0.01 %"
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.1g} %"


def describe(evidence: Evidence, values: bool = True) -> str:
    """A failed tensor in one line; without ``values``, or where the evidence has none, the element alone."""
    name = f"{evidence.tensor}{evidence.place}"
    if evidence.reason == "order":
        return evidence.note
    if evidence.reason == "missing":
        says = f" ({evidence.says})" if evidence.says else ""
        return f"{evidence.tensor}{says} was not handed back"
    if evidence.reason == "shape":
        return f"{evidence.tensor} has shape {evidence.note}, should be {evidence.shape}"
    if evidence.reason == "type":
        return f"{evidence.tensor} is of type {evidence.note}"
    share = f"{evidence.wrong} of {evidence.size} wrong"
    if evidence.expected is None or not values:
        return f"{name} is {evidence.reason.replace('differs', 'wrong')} ({share})"
    got = "not a finite number" if evidence.got is None else f"{evidence.got:.6g}"
    return f"{name} is {got}, should be {evidence.expected:.6g} ({share})"


def score_rows(assignment: Assignment, rows: Sequence[Row], results: Mapping[str, CheckResult]) -> list[RowResult]:
    """The rows in the order of the point table."""
    return [score_row(row, results) for row in assignment.rows if row in rows]
