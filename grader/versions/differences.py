"""Two results of one submission, and what makes them differ."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from grader.result import CheckResult, Evidence, Record, Result, RowResult, Verdict


class Side(Record):
    """What one version says of a tensor."""

    ok: bool
    case: str
    reason: str
    error: float | None = Field(description="in the limit's metric; null: not a number, or infinite")
    limit: float
    of_allowed: bool = Field(description="the error is a share of what is allowed at that element, the limit 1")


class Reason(Record):
    """One thing that differs: a tensor that passes under one version alone, or what a check or a row says."""

    check: str
    tensor: str = Field(description="empty: it is about the check as a whole")
    a: Side | None
    b: Side | None
    text: str = Field(description="where no tensor tells it: both versions' words")


class RowChange(Record):
    """A row whose points or verdict differ."""

    row: str
    title: str
    points_a: int | None = Field(description="null: the version has no such row")
    points_b: int | None
    verdict_a: Verdict | None
    verdict_b: Verdict | None
    reasons: list[Reason]


class Change(Record):
    """A submission under both versions."""

    submission: str
    score_a: int
    score_b: int
    rows: list[RowChange]

    @property
    def changed(self) -> bool:
        """Whether its score changes."""
        return self.score_a != self.score_b


def change(submission: str, a: Result, b: Result) -> Change:
    """What the two versions make of a submission."""
    mine, other = ({row.id: row for row in result.rows} for result in (a, b))
    rows = [_row(mine.get(name), other.get(name)) for name in dict.fromkeys([*mine, *other])]
    return Change(
        submission=submission, score_a=a.score, score_b=b.score, rows=[row for row in rows if row is not None]
    )


def _row(a: RowResult | None, b: RowResult | None) -> RowChange | None:
    """The change of a row; None where it stays as it is."""
    known = a or b
    if known is None or (a is not None and b is not None and (a.points, a.verdict) == (b.points, b.verdict)):
        return None
    return RowChange(
        row=known.id,
        title=known.title,
        points_a=a.points if a else None,
        points_b=b.points if b else None,
        verdict_a=a.verdict if a else None,
        verdict_b=b.verdict if b else None,
        reasons=list(_reasons(a, b)),
    )


def _reasons(a: RowResult | None, b: RowResult | None) -> Iterator[Reason]:
    if a is None or b is None:
        yield _words("", "there is no such row" if a is None else "", "there is no such row" if b is None else "")
        return
    mine, other = ({check.id: check for check in row.checks} for row in (a, b))
    found = [r for name in dict.fromkeys([*mine, *other]) for r in _check(name, mine.get(name), other.get(name))]
    yield from found
    if a.max_points != b.max_points:
        yield _words("", f"worth {a.max_points}", f"worth {b.max_points}")
    elif not found:
        yield _words("", a.detail, b.detail)


def _check(name: str, a: CheckResult | None, b: CheckResult | None) -> Iterator[Reason]:
    if a is None or b is None:
        yield _words(name, *("the row does not rest on it" if side is None else side.verdict for side in (a, b)))
        return
    mine, other = ({evidence.tensor: evidence for evidence in side.evidence} for side in (a, b))
    tensors = [t for t in dict.fromkeys([*mine, *other]) if _is_ok(mine.get(t)) != _is_ok(other.get(t))]
    for tensor in tensors:
        yield Reason(check=name, tensor=tensor, a=_side(mine.get(tensor)), b=_side(other.get(tensor)), text="")
    if not tensors and a.verdict != b.verdict:
        yield _words(name, *(side.detail or side.verdict.replace("_", " ") for side in (a, b)))


def _is_ok(evidence: Evidence | None) -> bool:
    return evidence is None or evidence.ok


def _side(evidence: Evidence | None) -> Side | None:
    if evidence is None:
        return None
    return Side(**{name: getattr(evidence, name) for name in Side.model_fields})


def _words(check: str, a: str, b: str) -> Reason:
    return Reason(check=check, tensor="", a=None, b=None, text=f"A: {a or 'as before'}; B: {b or 'as before'}")
