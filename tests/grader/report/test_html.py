"""The result as one page: it says all of it, needs nothing else, and the student's text in it is text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings

from grader.pictures import picture
from grader.report import html
from grader.report.html_calls import call_rows
from grader.report.html_charts import curve, number, strip
from grader.report.html_pictures import heat_map
from grader.result import (
    AdviceNote,
    CallStep,
    CheckResult,
    Evidence,
    Explanation,
    Picture,
    Result,
    Series,
    StepKind,
    SubmissionInfo,
)
from tests.grader.builders import RELATIVE, check_result, evidence, result, row_result
from tests.grader.report.random_results import results

MOST_BYTES = 2_000_000
VOID = {"meta", "br", "hr", "img", "input", "link"}
HOSTILE = (
    "</pre></style></title><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "<a href=javascript:alert(1)>x</a> \x1b[2J\x1b[31m \u202egpj.exe \x00\x07 {{ 7 * 7 }} {% raw %} &lt;b&gt;"
)


class Page(HTMLParser):
    """The elements and the text of a page; refuses tags that are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words += f" {data}"

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def said(self, text: str) -> bool:
        return text in " ".join(self.words.split())


def drawn(shape: tuple[int, ...], axes: list[str], seed: int = 0) -> Picture:
    rng = np.random.default_rng(seed)
    found = picture(rng.normal(size=shape), rng.normal(size=shape), RELATIVE, axes, [])
    assert found is not None
    return found


def wrong(**changes: object) -> Evidence:
    fields = {"shape": [2, 3], "picture": drawn((2, 3), ["b", "c"]), "honest": 1e-7, "weakest_wrong": 0.3}
    return evidence(False, **{**fields, **changes})


def step(kind: StepKind, at: int, text: str = "") -> CallStep:
    made: dict[str, str | int] = {"dinp": "grads_acts.ln2[l=1]", "C": 7}
    return CallStep(
        kind=kind,
        function="matmul_backward",
        layer=1,
        made_at=None if kind == "missing" else at,
        right_at=None if kind == "extra" else at,
        made=made,
        right=made,
        wrong=["dinp"] if kind == "changed" else [],
        text=text,
    )


def page_of(*checks: CheckResult) -> Page:
    return Page(html.text(result(row_result("fail", checks=list(checks)))))


def everything(text: str) -> Result:
    """A result with the text wherever the student's side may have put it."""
    why = Explanation(kind="fault", text=text, hint=text, fault=None, tensors=[], cases=[])
    check = check_result(
        "fail",
        detail=text,
        calls_differ=text,
        output=text,
        evidence=[wrong(note=text), wrong(reason="type", note=text, index=None, place="", expected=None)],
        explanations=[why],
        call_steps=[step("changed", 1, text)],
    )
    return result(
        row_result("fail", detail=text, checks=[check, check.model_copy(update={"call_steps": []})]),
        problems=[text],
        advice=[AdviceNote(check="probe", text=text)],
        submission=SubmissionInfo(origin=text, hashes={text: "0"}, ignored=[text] * 300),
        transcript=text,
    )


# ---- nothing of the student's is more than text --------------------------------------------------------


def test_hostile_text_is_text() -> None:
    text = html.text(everything(HOSTILE))
    page = Page(text)
    assert {"script", "img", "iframe", "link", "object", "form", "base"} & {tag for tag, _ in page.tags} == set()
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert {a["href"] for a in page.named("a")} <= {"#rows", "#row-first"}
    assert all(c.isprintable() or c == "\n" for c in text), "control characters, and changes of direction"
    assert page.said("\\u202egpj.exe")
    assert page.said("{{ 7 * 7 }}")
    assert "49" not in page.words


def test_it_needs_nothing_else() -> None:
    text = html.text(everything("x"))
    assert not re.search(r"https?:|//|@import|url\(|src=|<script", text)
    policy = next(meta for meta in Page(text).named("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'"


def test_it_is_bounded_whatever_is_printed() -> None:
    assert len(html.text(everything("<" * 300_000)).encode()) < MOST_BYTES


@given(results())
@settings(max_examples=10, deadline=None)
def test_any_result_is_a_page(given_result: Result) -> None:
    text = html.text(given_result)
    page = Page(text)
    assert len(text.encode()) < MOST_BYTES
    assert page.said(f"{given_result.score} of {given_result.max_score} points")
    assert len({a["id"] for _, a in page.tags if "id" in a}) == len([a for _, a in page.tags if "id" in a])


def test_the_same_result_gives_the_same_bytes() -> None:
    assert html.text(everything("x")) == html.text(everything("x"))


# ---- what it says ----------------------------------------------------------------------------------------


def test_a_row_says_what_is_wrong_and_how_to_go_on() -> None:
    page = page_of(check_result("fail", evidence=[wrong()], detail="told"))
    assert page.said("3 of 6 wrong, furthest at [b=1, c=2]")
    assert page.said("got 1.5 expected 1 off by 0.5")
    assert page.said("./grade X1 here --only first")


def test_the_reason_comes_before_the_evidence() -> None:
    why = Explanation(kind="fault", text="equals a known one", hint="look there", fault="x", tensors=[], cases=[])
    words = page_of(check_result("fail", explanations=[why], evidence=[wrong()])).words
    assert words.index("equals a known one") < words.index("look there") < words.index("furthest at")


def test_evidence_without_values_shows_none() -> None:
    private = wrong(got=None, expected=None, absolute=None, relative=None, allowed=None, picture=None)
    page = page_of(check_result("fail", evidence=[private]))
    assert not page.said("got")
    assert page.said("3 of 6 wrong")


def test_rows_that_passed_stand_behind_the_others() -> None:
    page = Page(html.text(result(row_result(title="Right"), row_result("fail", id="second", title="Wrong"))))
    assert [a["id"] for tag, a in page.tags if "id" in a and str(a["id"]).startswith("row-")] == [
        "row-second",
        "row-first",
    ]


def test_withheld_points_are_named() -> None:
    hidden = row_result("hidden", points=0, max_points=0, withheld=10, detail="")
    page = Page(html.text(result(hidden)))
    assert page.said("10 more points rest on checks that are not shown")
    assert page.said("10 not shown")
    assert not [text for text in ("0/0", "0 of 0 wrong") if page.said(f"First {text}")]


# ---- pictures --------------------------------------------------------------------------------------------


def test_a_wrong_tensor_is_drawn_in_its_own_coordinates() -> None:
    found = heat_map(wrong(shape=[2, 3, 4], picture=drawn((2, 3, 4), ["b", "t", "c"])))
    assert found is not None
    assert [panel.title for panel in found.panels] == ["expected", "got", "difference"]
    assert (found.down, found.across, found.layout) == (6, 4, "down: b (2), t (3), across: c (4)")
    assert [mark.text for mark in found.row_marks] == ["b=0", "b=1"]
    covered = sum(int(n) for layer in found.panels[2].layers for n in re.findall(r"h(\d+)", layer.d))
    assert covered == 24, "each cell once, none blank"


def test_parts_of_an_axis_have_their_names() -> None:
    three = picture(np.ones((2, 9, 4)), np.zeros((2, 9, 4)), RELATIVE, ["l", "qkv", "c"], [[], ["Q", "K", "V"], []])
    found = heat_map(wrong(shape=[2, 9, 4], picture=three))
    assert found is not None
    assert [mark.text for mark in found.row_marks] == ["l=0 Q", "l=0 K", "l=0 V", "l=1 Q", "l=1 K", "l=1 V"]
    flat = picture(np.ones((9, 4)), np.zeros((9, 4)), RELATIVE, ["qkv", "c"], [["Q", "K", "V"], []])
    found = heat_map(wrong(shape=[9, 4], picture=flat))
    assert found is not None
    assert [(mark.text, round(mark.line / found.cell)) for mark in found.row_marks] == [("Q", 0), ("K", 3), ("V", 6)]


def test_a_run_of_cells_is_one_line() -> None:
    expected = np.ones((1, 4))
    same = picture(-expected, expected, RELATIVE, ["b", "c"], [[], ["q", "k"]])
    found = heat_map(wrong(shape=[1, 4], picture=same))
    assert found is not None
    assert [(layer.css, layer.d) for layer in found.panels[1].layers] == [("neg l9", "M0 0.5h4")]
    assert [mark.text for mark in found.column_marks] == ["q", "k"]


def test_the_page_has_so_many_pictures_and_no_more() -> None:
    big = wrong(shape=[32, 48], picture=drawn((32, 48), ["b", "c"]))
    check = check_result("fail", evidence=[big] * 30)
    text = html.text(result(row_result("fail", checks=[check] * 2)))
    assert len(text.encode()) < MOST_BYTES
    assert "Its picture is left out" in text
    assert text.count('<div class="panels">') > 5


def test_the_strip_stands_where_the_numbers_are() -> None:
    found = strip(wrong(error=1.0, limit=1e-4, honest=1e-7, weakest_wrong=1e-2))
    assert found is not None
    assert found.honest is not None
    assert found.wrong is not None
    assert found.start < found.honest < found.limit < found.wrong < found.yours < found.end
    thirds = (found.limit - found.honest) / (found.yours - found.wrong)
    assert thirds == pytest.approx(3 / 2, rel=0.02), "three decades, and two"
    assert found.said.startswith("error 1, limit 0.0001, largest error of right code 1e-7")


@pytest.mark.parametrize("error", [None, 0.0, 1e300, 1e-300])
def test_a_strip_holds_any_error(error: float | None) -> None:
    found = strip(wrong(error=error))
    assert found is not None
    assert found.start <= found.yours <= found.end
    assert len(found.ticks) <= 8


@pytest.mark.parametrize("changes", [{"limit": 0.0}, {"reason": "shape"}, {"reason": "missing"}])
def test_where_there_is_no_strip(changes: dict[str, object]) -> None:
    assert strip(wrong(**changes)) is None


def series(got: list[float | None], expected: list[float | None], bar: float | None = None) -> Series:
    return Series(title="loss", across="step", first=0, every=1, got=got, expected=expected, bar=bar)


def test_a_curve_runs_through_its_values() -> None:
    found = curve(series([2.0, 1.0, None], [2.0, 1.5, 1.0], bar=1.5))
    assert found is not None
    assert (len(found.dots), found.expected.count("L"), found.got.count("L")) == (2, 2, 1)
    assert found.dots[0][1] < found.dots[1][1], "the larger value is higher up"
    assert found.bar is not None
    assert found.dots[0][1] < found.bar < found.dots[1][1]
    assert [label for _, label in found.x_ticks] == ["0", "1", "2"]


@pytest.mark.parametrize("values", [[1.0], [1.0, 1.0], [0.0, 0.0], [1e30, -1e30], [1e300, 0.0], [None, 2.0]])
def test_a_curve_of_anything(values: list[float | None]) -> None:
    found = curve(series(values, []))
    assert found is not None
    assert all(0 <= x <= 360 and 0 <= y <= 190 for x, y in found.dots)
    assert len(found.y_ticks) < 12


def test_no_finite_value_no_curve() -> None:
    assert curve(series([None, None], [1.0, 2.0])) is None
    assert curve(series([], [1.0])) is None


def same(count: int) -> list[StepKind]:
    return ["same"] * count


def test_calls_far_from_a_wrong_one_are_left_out() -> None:
    kinds: list[StepKind] = [*same(9), "changed", *same(5), "missing", *same(3)]
    steps = [step(kind, at) for at, kind in enumerate(kinds, start=1)]
    found = list(call_rows(check_result("fail", call_steps=steps)))
    assert [row.skipped or row.kind for row in found] == [
        7, "same", "same", "changed", "same", "same", "same", "same", "same", "missing", "same", "same", "same",
    ]  # fmt: skip
    changed = found[3]
    assert (changed.right, changed.sign) == ("10. matmul_backward(dinp = grads_acts.ln2[l=1], …)", "✗")
    assert found[9].made == "not made"


@pytest.mark.parametrize(
    ("value", "text"), [(2.2e-7, "2.2e-7"), (1e10, "1e10"), (0.5, "0.5"), (-1.23456, "-1.23"), (None, "not finite")]
)
def test_numbers_are_short(value: float | None, text: str) -> None:
    assert number(value) == text


# ---- colours ---------------------------------------------------------------------------------------------


def themes() -> Iterator[dict[str, str]]:
    css = (html.TEMPLATES / "report.css").read_text()
    for block in re.findall(r":root \{(.*?)\}", css, re.DOTALL):
        yield dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block))


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


TEXT = ["text", "muted", "link", "pass", "fail", "unwritten", "blocked", "hidden"]


def test_every_text_can_be_read_by_day_by_night_and_on_paper() -> None:
    found = list(themes())
    assert len(found) == 3
    for theme in found:
        for colour in TEXT:
            for ground in ("ground", "raised"):
                assert contrast(theme[colour], theme[ground]) >= 4.5, (colour, ground, theme)
        for mark in ("neg", "pos", "nf"):
            assert contrast(theme[mark], theme["ground"]) >= 3, (mark, theme)
