"""Markdown: whatever a submission says, it stays text in a code span or a code block."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token

from grader.report import markdown
from grader.report.plain import one_line
from grader.result import Result
from tests.grader.builders import check_result, result, row_result
from tests.grader.report.random_results import results, texts

READER = MarkdownIt("gfm-like", {"linkify": False})
EXPECTED = {"text", "code_inline", "strong_open", "strong_close"}
DETAILS = ("<details><summary>row_", "</details>")


def tokens(text: str) -> list[Token]:
    return READER.parse(text)


def inline(found: list[Token]) -> Iterator[Token]:
    for token in found:
        yield from token.children or []


@given(texts)
def test_a_span_is_one_piece_of_code(text: str) -> None:
    span = markdown.span(text)
    found = list(inline(tokens(f"| a |\n|---|\n| {span} |\n")))
    if span:
        (code,) = [token for token in found if token.type != "text" or token.content.strip() != "a"]
        assert code.type == "code_inline"
        assert code.content.strip() == one_line(text, markdown.MOST_OF_A_CELL).strip()


@given(texts)
def test_a_block_holds_what_was_put_in(text: str) -> None:
    (block,) = tokens(markdown.block(text.replace("\r", "").replace("\x00", "")))
    assert (block.type, block.info) == ("fence", "text")
    assert block.content == text.replace("\r", "").replace("\x00", "") + "\n"


@settings(max_examples=25)
@given(results())
def test_nothing_but_our_own_markup(given: Result) -> None:
    found = tokens(markdown.render(given))
    assert {token.type for token in inline(found)} <= EXPECTED
    assert all(token.content.startswith(DETAILS) for token in found if token.type == "html_block")
    assert len([token for token in found if token.type == "table_open"]) == 1
    assert len([token for token in found if token.type == "tr_open"]) == len(given.rows) + 2


def test_what_a_reader_sees() -> None:
    text = markdown.render(result(row_result("fail"), row_result(id="second", title="a|b")))
    assert "| `First` | 0/10 | ❌ fail |  |" in text
    assert "| `a\\|b` | 10/10 | ✅ pass |  |" in text
    assert "| **total** | **10/20** | | |" in text
    assert "<details><summary>first: fail</summary>\n\n```text\nfail\nf alone: fail\n  dinp [2, 3]: 3 of" in text


def test_long_output_is_cut() -> None:
    noisy = check_result("crashed", output="line\n" * 5_000)
    text = markdown.render(result(row_result("crashed", checks=[noisy])))
    assert text.count("| line") == 40
    assert "| … (4960 lines left out)" in text
