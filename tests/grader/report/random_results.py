"""Random results for property tests: any text, any verdict, any points."""

from __future__ import annotations

from hypothesis import strategies as st

from grader.result import (
    AdviceNote,
    CheckResult,
    Evidence,
    Explanation,
    Result,
    RowResult,
    SubmissionInfo,
    Verdict,
)
from tests.grader.builders import check_result, evidence, result, row_result

LOST: list[Verdict] = ["fail", "not_implemented", "crashed", "timed_out", "blocked"]
# What has a meaning somewhere: markup, workflow commands, formulas, escapes, bidirectional text, broken encodings.
PIECES = [
    "]]>", "<script>", "&amp;", "`", "```\n", "~~~", "|", "\\", '"', "'", "::error::x", "##[error]", "%0A", ":", ",",
    "##vso[x]", "##teamcity[", ";",
    "\n", "\r", "\t", "\x00", "\x08", "\x1b[31m", "\x7f", "\x9b", "\u202e", "\u2028", "\ufeff", "\ufffe", "\uffff",
    "\U0001f600", "é", "=1+1", "@all", "-2", "[a](javascript:b)", "![](http://c)", "</details>",
    '{"scores": {}}', "$HOME",
]  # fmt: skip
texts = st.lists(
    st.one_of(st.sampled_from(PIECES), st.text(st.characters(exclude_categories=["Cs"]), max_size=8)), max_size=6
).map("".join)
numbers = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True, width=32))


@st.composite
def evidences(draw: st.DrawFn, ok: bool) -> Evidence:
    values = {name: draw(numbers) for name in ("got", "expected", "absolute", "relative", "allowed", "error")}
    return evidence(ok, tensor=draw(texts), note=draw(texts), case=draw(texts), **values)


explanations = st.builds(
    Explanation, kind=st.just("fault"), text=texts, hint=texts, fault=st.none(), tensors=st.just([]), cases=st.just([])
)


@st.composite
def checks(draw: st.DrawFn, name: str, verdict: Verdict) -> CheckResult:
    return check_result(
        verdict,
        id=name,
        title=draw(texts),
        detail=draw(texts),
        calls_differ=draw(texts),
        output=draw(texts) * draw(st.sampled_from([1, 1, 1, 200])),
        inferred=draw(st.booleans()),
        evidence=draw(st.lists(evidences(verdict == "pass"), max_size=2)),
        explanations=draw(st.lists(explanations, max_size=1)),
        file=draw(st.one_of(st.just(""), texts)),
        line=draw(st.one_of(st.none(), st.integers(1, 10_000))),
    )


@st.composite
def rows(draw: st.DrawFn, name: str) -> RowResult:
    verdict: Verdict = draw(st.sampled_from(["pass", "pass", *LOST]))
    most = draw(st.integers(1, 60))
    points = most if verdict == "pass" else draw(st.integers(0, most - 1))
    resting = [draw(checks(f"{name}_a", verdict)), *draw(st.lists(checks(f"{name}_b", "pass"), max_size=1))]
    return row_result(
        verdict,
        id=name,
        title=draw(texts),
        points=points,
        max_points=most,
        inferred=draw(st.booleans()),
        detail=draw(texts),
        checks=resting,
    )


@st.composite
def results(draw: st.DrawFn) -> Result:
    names = [f"row_{number}" for number in range(draw(st.integers(1, 5)))]
    return result(
        *(draw(rows(name)) for name in names),
        title=draw(texts),
        complete=draw(st.booleans()),
        problems=draw(st.lists(texts, max_size=2)),
        advice=draw(st.lists(st.builds(AdviceNote, check=st.just("row_0_a"), text=texts), max_size=12)),
        submission=SubmissionInfo(origin=draw(texts), hashes={"x.c": "0"}, ignored=draw(st.lists(texts, max_size=2))),
        transcript=draw(texts),
    )
