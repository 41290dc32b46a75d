"""The result on a terminal: readable at 80 columns, and nothing of the student's is more than text."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from grader.report import terminal, texts
from grader.result import AdviceNote, Explanation, Result, SubmissionInfo, Verdict, words
from tests.grader.builders import check_result, evidence, result, row_result

COLOUR = re.compile(r"\x1b\[(\d+;)*[39][0-7]m")
ANSI = "\x1b[2J\x1b[31m"
HOSTILE = f"{ANSI}[red]overall[/red] [/] okay: 1\x07\x08\r\x00\x9b\u202e end"
VERDICTS: list[Verdict] = ["pass", "fail", "not_implemented", "crashed", "timed_out", "blocked"]


def shown(given: Result, width: int = 80, terminal_like: bool = False, verbose: bool = False) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, highlight=False, force_terminal=terminal_like)
    terminal.render(given, console, verbose)
    return file.getvalue()


def hostile() -> Result:
    """The student's text wherever a result has room for it."""
    wrong = evidence(False, tensor="dinp", note=HOSTILE)
    check = check_result("fail", detail=HOSTILE, output=f"{HOSTILE}\n{HOSTILE}\n", evidence=[wrong])
    return result(
        row_result("fail", detail=HOSTILE, checks=[check.model_copy(update={"calls_differ": HOSTILE})]),
        problems=[HOSTILE],
        advice=[AdviceNote(check="probe", text=HOSTILE)],
        submission=SubmissionInfo(origin=HOSTILE, hashes={}, ignored=[HOSTILE]),
        transcript=HOSTILE,
    )


def test_no_control_character_of_the_student_gets_through() -> None:
    text = shown(hostile(), verbose=True)
    assert all(c.isprintable() or c == "\n" for c in text), [c for c in text if not c.isprintable()]
    assert "\\x1b[2J" in text.replace("\n", "")


def test_markup_of_the_student_is_text() -> None:
    text = shown(hostile(), terminal_like=True)
    assert "[red]overall[/red] [/] okay: 1" in text
    assert ANSI not in text


@pytest.mark.parametrize(
    "command",
    [
        "::error::x",
        "::add-mask::pass",
        "##[error]x",
        "  ::notice::x",
        "\n::set-env::y",
        "##vso[task.setvariable variable=PATH]x",
        "###vso[task.complete]",
        "##teamcity[buildStatus text='x']",
    ],
)
def test_no_line_is_a_command_to_the_ci(command: str) -> None:
    check = check_result("fail", detail=command, output=command)
    given = result(row_result("fail", detail=command, checks=[check]), problems=[command], transcript=command)
    text = shown(given, verbose=True)
    assert not [line for line in text.splitlines() if line.lstrip().startswith("::")]
    assert not re.search(r"##\w*\[", text)


def test_names_of_c_plus_plus_are_left_as_they_are() -> None:
    assert texts.printable("std::vector, at x.c:3:1") == "std::vector, at x.c:3:1"


def test_a_pipe_gets_no_colour() -> None:
    assert "\x1b" not in shown(hostile())


def test_no_color_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert COLOUR.search(shown(hostile(), terminal_like=True))
    monkeypatch.setenv("NO_COLOR", "1")
    assert not COLOUR.search(shown(hostile(), terminal_like=True))


@pytest.mark.parametrize("verdict", VERDICTS)
def test_eighty_columns_hold_the_table(verdict: Verdict) -> None:
    title = "AdamW update (all 10 step losses within 1e-2, overall okay: 1)"
    detail = "dqkvw[l=1, o=17, c=3] is 1.23457e-05, should be 2.46914e-05 (3 of 12288 wrong)"
    rows = [row_result(verdict, title=title, detail=detail, inferred=True) for _ in range(3)]
    table = [line for line in shown(result(*rows)).splitlines() if line[:1] in "┏┃┡│├└"]
    assert len(table) > 5
    assert max(len(line) for line in table) <= 80
    assert words(verdict, True).split()[0] in "\n".join(table)
    told = " ".join(" ".join(line.split("│")[4] for line in table if line.count("│") == 5).split())
    assert "should be 2.46914e-05" in told


@pytest.mark.parametrize("width", [40, 55, 72, 100, 140])
def test_a_table_of_any_width_is_whole(width: int) -> None:
    rows = [row_result("not_implemented", title="crossentropy_softmax_backward", detail="word " * 9, points=0)] * 2
    table = [line for line in shown(result(*rows), width).splitlines() if line and line[0] in "┏┃┡│├└"]
    assert {line[-1] for line in table} <= set("┓┃┩│┤┘")
    assert len({len(line) for line in table}) == 1
    assert len(table[0]) <= width
    assert shown(result(*rows), width).count("word") >= 18, "in the table, or below it"


def test_a_failure_says_where_and_by_how_much() -> None:
    text = shown(result(row_result("fail")))
    assert "dinp [2, 3]: 3 of 6 wrong (case probe/small), furthest off at [b=1, c=2]:" in text
    assert "got 1.5, expected 1; off by 0.5, relative 0.5, allowed 0.0001" in text


def test_a_layer_says_where_it_begins() -> None:
    wrong = check_result("fail", evidence=[evidence(False, layers=[0, 1])])
    told = shown(result(row_result("fail", checks=[wrong])))
    assert "wrong in layers 0, 1; first wrong layer in backward order: 1" in told
    alone = check_result("fail", evidence=[evidence(False, layers=[0])])
    assert "wrong in layer 0 alone" in shown(result(row_result("fail", checks=[alone])))


def test_of_many_wrong_tensors_the_first_are_shown_in_full() -> None:
    names = [f"d{i}" for i in range(16)]
    many = row_result("fail", checks=[check_result("fail", evidence=[evidence(False, tensor=n) for n in names])])
    text = " ".join(shown(result(many)).split())
    assert text.count("furthest off at") == terminal.MOST_TENSORS
    assert f"and wrong: {', '.join(names[terminal.MOST_TENSORS :])} (--verbose shows them)" in text
    assert shown(result(many), verbose=True).count("furthest off at") == 16


def test_the_reason_comes_before_the_evidence() -> None:
    why = Explanation(kind="fault", text="equals a known one", hint="look there", fault="x", tensors=[], cases=[])
    text = shown(result(row_result("fail", checks=[check_result("fail", explanations=[why], file="x.c", line=7)])))
    assert text.index("f alone: fail (x.c:7)") < text.index("equals a known one") < text.index("hint: look there")
    assert text.index("hint: look there") < text.index("furthest off at")


def test_a_lost_row_says_how_it_is_graded_again() -> None:
    text = shown(result(row_result("fail")))
    assert "  again: ./grade X1 here --only first\n" in text
    assert "./grade explain X1 first" in text
    assert "again" not in shown(result())


def test_no_line_of_ours_is_wider_than_the_terminal() -> None:
    long = check_result("fail", detail="word " * 60, evidence=[evidence(False, tensor="d" * 20, case="c/" + "x" * 30)])
    lines = shown(result(row_result("fail", detail="word " * 60, checks=[long]))).splitlines()
    assert max(len(line.rstrip()) for line in lines if "./grade" not in line) <= 80
    assert [line for line in lines if line.startswith("      word")], "what follows stands further in"


def test_withheld_points_are_said() -> None:
    hidden = row_result("hidden", points=0, max_points=0, withheld=10, detail="rests on checks that are not shown")
    text = shown(result(row_result(), hidden))
    assert "?/10" in text
    assert "10 more points rest on checks that are not shown" in text


def test_what_passed_is_shown_when_asked_for() -> None:
    assert "dinp [2, 3]: ok" not in shown(result())
    assert "dinp [2, 3]: ok, error 1.0e-07 (limit 1e-04)" in shown(result(), verbose=True)
    share = row_result(checks=[check_result(evidence=[evidence(error=1.7e-3, limit=1.0, of_allowed=True)])])
    assert "dinp [2, 3]: ok, error 0.2 % of what is allowed" in shown(result(share), verbose=True)


def test_the_total_is_said_once_in_the_table_and_once_below() -> None:
    text = shown(result(row_result(), row_result("fail", id="second"), row_result("fail", id="third")))
    assert "score 10/30" in text
    assert "again, only what failed: ./grade X1 here --only second,third" in text


def test_numbers_that_are_none_are_said_in_words() -> None:
    wrong = check_result("fail", evidence=[evidence(False, got=None, absolute=None, relative=None)])
    assert "got NaN or infinity, expected 1\n" in shown(result(row_result("fail", checks=[wrong])))


def test_what_is_no_number_is_left_out() -> None:
    wrong = check_result("fail", evidence=[evidence(False, expected=0.0, relative=None, allowed=0.0)])
    assert "got 1.5, expected 0; off by 0.5, allowed 0\n" in shown(result(row_result("fail", checks=[wrong])))


def test_what_was_in_the_buffer_before_is_told() -> None:
    wrong = check_result("fail", evidence=[evidence(False, before=-0.25)])
    text = " ".join(shown(result(row_result("fail", checks=[wrong]))).split())
    assert "allowed 0.0001; before the call it held -0.25" in text


def test_a_tensor_is_told_in_words() -> None:
    wrong = check_result("fail", evidence=[evidence(False, says="the share kept", size=1, wrong=1, shape=[1])])
    assert "dinp (the share kept) [1]: wrong (case probe/small):" in shown(result(row_result("fail", checks=[wrong])))


def test_the_same_is_not_said_twice() -> None:
    given = {
        "expected": None,
        "got": None,
        "index": None,
        "reason": "order",
        "note": "node 1 is not in it",
        "shape": [7],
    }
    lost = [evidence(False, tensor=name, **given) for name in ("again", "order")]
    text = shown(result(row_result("fail", checks=[check_result("fail", evidence=lost)])))
    assert text.count("node 1 is not in it") == 1
    assert "again and order [7], case probe/small: node 1 is not in it" in text


def test_what_others_break_shows_no_evidence() -> None:
    broken = row_result("fail", checks=[check_result("fail", output="noise")], upstream=["gelu", "matmul"])
    text = shown(result(broken))
    assert "mend gelu and matmul first" in text
    assert not any(word in text for word in ("noise", "furthest off", "again:"))
    assert "furthest off" in shown(result(broken), verbose=True)


def test_what_it_printed_is_cut() -> None:
    noisy = check_result("crashed", output="line\n" * 500)
    text = shown(result(row_result("crashed", checks=[noisy])))
    assert text.count("| line") == 12
    assert "| … 488 more lines" in text
