"""Rows that cannot be judged on their own evidence, and what one row's fault does to another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.assignment import Assignment, Fallback, Row
from grader.engine import Built
from grader.judge import Judged
from grader.result import CheckResult, RowResult, UnderSet
from grader.score import score_rows

if TYPE_CHECKING:
    from grader.run import Run


def infer(run: Run, built: Built) -> None:
    """Judges what cannot be probed alone by the tensors that it feeds.

    Where an operator is missing under its name or declared otherwise, ``gpt2_backward`` has run with that
    operator of the student's and ours for all others: what its tensors say is said of the operator.
    """
    sources: dict[str, Judged] = {}
    for name, check in run.grading.checks.items():
        unavailable = [part for part in check.needs if part in built.report.unavailable]
        if not unavailable or check.fallback is None:
            continue
        run.grading.judged[name] = _by_evidence(run, built, run.grading.judged[name], check.fallback, sources)
    for name, check in run.grading.checks.items():
        if check.calls:
            _settle_wiring(run, built, name)


def _by_evidence(run: Run, built: Built, blocked: Judged, fallback: Fallback, sources: dict[str, Judged]) -> Judged:
    """The verdict by the first evidence, and where that is right, by the next, too."""
    if fallback.check not in sources:
        sources[fallback.check] = _source(run, fallback.check, built)
    first = _inferred(run, blocked, sources[fallback.check], fallback, _beyond(run, built, fallback))
    if first.verdict != "pass" or fallback.also is None:
        return first
    last = _by_evidence(run, built, blocked, fallback.also, sources)
    return replace(last, comparisons=[*first.comparisons, *last.comparisons])


def blame(run: Run) -> None:
    """Fails what passes alone and does not serve: what rests on it is right over ours, and wrong over it.

    A constructor that forgets an attribute hands back the right parameters; only the method that reads the attribute
    shows it. What did not end in time shows nothing: the machine may have been slow.
    """
    for name, (other, first) in run.stood_in.items():
        check = run.grading.check(other)
        blamed = run.grading.judged.get(check.blames or "")
        if blamed is None or blamed.verdict != "pass" or first.verdict not in ("fail", "crashed"):
            continue
        how = first.detail or next((f"{c.tensor} is wrong (case {c.case})" for c in first.comparisons if not c.ok), "")
        blamed.verdict, blamed.inferred = first.verdict, True
        what = run.grading.check(name).at or run.grading.check(name).function
        blamed.detail = f"{what} is right over the reference's, and fails over it: {how}"


def _beyond(run: Run, built: Built, fallback: Fallback) -> list[str]:
    """Tensors that none of the student's operators in ``gpt2_backward`` can reach."""
    left = left_to_the_student(built)
    fallbacks = [c.fallback for c in run.grading.checks.values() if c.fallback and c.function in left]
    return [t for t in fallback.beyond if all(t in f.beyond for f in fallbacks if f.check == fallback.check)]


def left_to_the_student(built: Built) -> list[str]:
    """The functions for which ours cannot be recorded: missing, declared otherwise, or not to be replaced."""
    return sorted((set(built.report.unavailable) | set(built.report.fixed)) - {"model"})


def declared_otherwise(built: Built) -> list[str]:
    """The functions that are there and do not fit ours; for those that are missing, ours can stand in."""
    return [function for function in left_to_the_student(built) if function not in built.report.missing]


def _source(run: Run, name: str, built: Built) -> Judged:
    """The check that evidence is taken from.

    Where a function is missing it is made again without ours in its place: what ours did is no evidence.
    """
    check = run.grading.check(name)
    if any(part in built.report.unavailable for part in check.needs):
        return Judged("blocked")
    if built.report.missing or name not in run.grading.judged:
        return run.probe(name, check, built, left_to_the_student(built), False)
    return run.grading.judged[name]


def _inferred(run: Run, blocked: Judged, source: Judged, fallback: Fallback, beyond: Sequence[str]) -> Judged:
    comparisons = source.compared(fallback.tensors)
    wrong = [c for c in comparisons if not c.ok]
    elsewhere = [c.tensor for c in source.compared(beyond) if not c.ok]
    why = ""
    if wrong and elsewhere:
        why = f"{', '.join(dict.fromkeys(elsewhere))} are wrong, which it does not reach"
    elif not _shows(run, source, fallback):
        why = "it gives too little" if comparisons else "it gives nothing"
        why += f" ({source.detail})" if source.detail else ""
    if why:
        detail = f"{blocked.detail}; and {fallback.check} cannot say more of it: {why}"
        return Judged("blocked", detail=detail, inferred=True)
    if wrong:
        says = run.grading.check(fallback.check).says
        detail = f"{blocked.detail}; {', '.join(dict.fromkeys(c.tensor for c in wrong))}, which it feeds, are wrong"
        return Judged("fail", comparisons, f"{detail}: {says}" if says else detail, inferred=True)
    return Judged("pass", comparisons, blocked.detail, inferred=True)


def _shows(run: Run, source: Judged, fallback: Fallback) -> bool:
    """Whether all the tensors are there, in as many cases as their check must have: some of them say too little."""
    check = run.grading.check(fallback.check)
    least = run.grading.check(check.cases_of or fallback.check).cases_min
    return all(len({c.case for c in source.compared([tensor])}) >= least for tensor in fallback.tensors)


def _settle_wiring(run: Run, built: Built, name: str) -> None:
    """With a wrong operator of the student's in it, tensors that this one reaches do not speak against the wiring.

    Then the calls decide: they are made on the right tensors, in the right order. A row is lost to that operator,
    so that nothing is gained by having one.
    """
    wiring = run.grading.judged[name]
    left = left_to_the_student(built)
    guilty = {
        check.function: check.fallback
        for other, check in run.grading.checks.items()
        if check.fallback and check.function in left and run.grading.judged[other].verdict != "pass"
    }
    if wiring.verdict != "fail" or wiring.calls_differ or wiring.detail or not guilty:
        return
    if not _calls_seen(wiring, guilty, run.grading.check(name).seen_min):
        return
    unreached = [t for t in next(iter(guilty.values())).beyond if all(t in f.beyond for f in guilty.values())]
    if all(c.ok for c in wiring.compared(unreached)):
        wiring.verdict, wiring.inferred = "pass", True
        wiring.detail = "all other calls are made on the right tensors, in the right order"


def _calls_seen(wiring: Judged, guilty: Collection[str], least: float) -> bool:
    """Whether enough of the calls was recorded to speak for the wiring.

    One of the student's operators is called without a record. That is excused where its own row is lost, and no other
    call goes unseen: a `gpt2_backward` that calls nothing is wired like any other of which nothing is seen.
    """
    shares = [
        len(right) / (len(right) + len(wiring.unseen.get(case, [])))
        for case, (_, right) in wiring.calls.items()
        if right and set(wiring.unseen.get(case, [])) <= set(guilty)
    ]
    return bool(shares) and len(shares) == len(wiring.calls) and min(shares) >= least


def scored(assignment: Assignment, rows: Sequence[Row], results: Mapping[str, CheckResult]) -> list[RowResult]:
    """The rows in the order of the point table, with what breaks them elsewhere, and under which fixture set."""
    found = score_rows(assignment, rows, results)
    found = [name_upstream(row, found) for row in found]
    names = list(dict.fromkeys(name for check in results.values() for name in check.verdicts))
    sets = {name: score_rows(assignment, rows, _under(name, results)) for name in names}
    return [_decided(row, {name: alone[place] for name, alone in sets.items()}) for place, row in enumerate(found)]


def _under(name: str, results: Mapping[str, CheckResult]) -> dict[str, CheckResult]:
    """The checks as one of several fixture sets has them."""
    return {
        check_id: check.model_copy(update={"verdict": check.verdicts.get(name, check.verdict)})
        for check_id, check in results.items()
    }


def _decided(row: RowResult, sets: Mapping[str, RowResult]) -> RowResult:
    """The row with what each of several fixture sets alone gives, and which of them decide."""
    if not sets:
        return row
    least = min(alone.points for alone in sets.values())
    deciding = [name for name, alone in sets.items() if alone.points == least]
    alone = len(deciding) < len(sets)
    changes = {
        "under": [UnderSet(set=name, points=one.points, verdict=one.verdict) for name, one in sets.items()],
        "decided_by": deciding,
        "detail": f"by the fixtures `{', '.join(deciding)}` alone: {row.detail}" if alone else row.detail,
    }
    return row.model_copy(update=changes)


def name_upstream(row: RowResult, rows: list[RowResult]) -> RowResult:
    """Where only the whole program fails a row, says which other rows break it."""
    direct = [c for c in row.checks if c.role == "direct"]
    whole = [c for c in row.checks if c.role == "whole"]
    if row.verdict in ("pass", "hidden") or not direct or any(c.verdict != "pass" for c in direct):
        return row
    functions = direct[0].function
    broken = [r.id for r in rows if r.id != row.id and r.verdict not in ("pass", "hidden")]
    alone = f"{functions} alone is right"
    cause = f"what breaks it lies upstream: {', '.join(broken)}" if broken else "only the whole program fails"
    told = next((c.detail for c in whole if c.detail), row.detail)
    changes: dict[str, object] = {"detail": f"{alone}; {cause}" + (f" ({told})" if told else "")}
    if broken:  # no line of its own function is to blame, and what was printed on the way says nothing
        nowhere = {"file": "", "line": None, "output": ""}
        checks = [c.model_copy(update=nowhere) if c.role == "whole" else c for c in row.checks]
        changes |= {"upstream": broken, "checks": checks}
    return row.model_copy(update=changes)
