"""The command line: exit codes, one message for each error, never a traceback."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from grader import assignment as assignments
from grader import cli
from grader.commands import grade as grade_command
from grader.errors import InfrastructureError
from grader.home import ROOT
from tests.grader.builders import result
from tests.support import Graded, run_command

REFERENCE = ROOT / "reference" / "A2"
TEMPLATE = ROOT / "student_template" / "A2"
QUICK = ("--no-second-look", "--only", "gelu_residual_backward")


def said(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err


WRONG: list[tuple[list[str], str]] = [
    ([], "the following arguments are required: assignment"),
    (["Z9"], "there is no assignment `Z9`; there are: A2"),
    (["../A2"], "there is no assignment"),
    (["A2", "/absent"], "there is no submission at /absent"),
    (["A2", "--only", "gelu"], "A2 has no row `gelu`; its rows are: zero_grad"),
    (["A2", "--no-such-flag"], "unrecognized arguments: --no-such-flag"),
    (["A2", "--min-score", "many"], "invalid int value"),
    (["A2", "--min-score", "-1"], "--min-score: -1 is not between 0 and 100"),
    (["A2", "--min-score", "101"], "--min-score: 101 is not between 0 and 100"),
    (["A2", ""], "the submission has an empty name"),
    (["A2", "--only", ""], "--only names no row; the rows are: zero_grad"),
    (["A2", "--only", ","], "--only names no row"),
    (["A2", "--reference", "--json", ""], "--json: `` is not the name of a file"),
    (["A2", "--reference", "--json", "/"], "--json: / is not the name of a file"),
    (["A2", "--reference", "--json", "/absent/r.json"], "--json: there is no folder /absent"),
    (["A2", "--reference", "--fixtures", "/dev"], "there is no fixture set at /dev: no manifest.json"),
    (["A2", "--sandbox", "none"], "invalid choice"),
    (["A2", "--reference", "."], "a submission beside it has no meaning"),
    (["A2", "--reference", "--fixtures", "/absent"], "there is no fixture set at /absent"),
    (["A2", "--reference", "--checkpoint", "x"], "--checkpoint and --state go together"),
    (["A2", "--reference", "--cflags", "'"], "--cflags: No closing quotation"),
    (["A2", "--reference", "--sandbox", "limits", "--require-sandbox"], "limits alone are no sandbox"),
    (["fixtures"], "the following arguments are required: command"),
    (["fixtures", "burn", "A2"], "invalid choice"),
    (["fixtures", "build", "Z9"], "there is no assignment `Z9`"),
    (["fixtures", "build", "A2", "--set", "fall"], "needs --set NAME and --seed-file FILE"),
    (["template", "Z9"], "there is no assignment `Z9`"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[" ".join(a) or "nothing" for a, _ in WRONG])
def test_wrong_usage_is_2(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 2
    told = said(capsys)
    assert told.startswith("grade: usage: ")
    assert message in told


INFRASTRUCTURE: list[tuple[list[str], str]] = [
    (["--cc", "no-such-cc"], "no C compiler (no-such-cc) was found; install one: `apt install gcc`"),
    (["--cc", "true"], "true cannot build a plain program (it makes no file); Debian and Ubuntu need: apt install"),
    (["--cc", "false"], "false cannot build a plain program (it gives no reason); Debian and Ubuntu need: apt install"),
]


@pytest.mark.parametrize(("arguments", "message"), INFRASTRUCTURE)
def test_the_machines_fault_is_3(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["A2", "--reference", *arguments, *QUICK]) == 3
    told = said(capsys)
    assert "grade: infrastructure error, nothing was scored: " in told
    assert message in told


def raising(error: BaseException) -> object:
    def dispatch(arguments: list[str]) -> int:
        raise error

    return dispatch


@pytest.mark.parametrize(
    "error", [ValueError("odd"), MemoryError(), RecursionError(), InfrastructureError("disk full")]
)
def test_any_error_is_one_message(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GRADE_DEBUG", raising=False)
    monkeypatch.setattr(cli, "_dispatch", raising(error))
    assert cli.main(["A2"]) == 3
    assert len(said(capsys).splitlines()) == 1


def test_debugging_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADE_DEBUG", "1")
    monkeypatch.setattr(cli, "_dispatch", raising(ValueError("odd")))
    with pytest.raises(ValueError, match="odd"):
        cli.main(["A2"])


def test_stopped_by_the_user(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(cli, "_dispatch", raising(KeyboardInterrupt()))
    assert cli.main(["A2"]) == 130
    assert said(capsys) == "grade: stopped\n"


def test_the_minimum(tmp_path: Path) -> None:
    assert [cli.exit_code(59, 60), cli.exit_code(60, 60), cli.exit_code(0, 0), cli.exit_code(-1, 0)] == [1, 0, 0, 1]


def test_help_names_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["--help"])
    assert end.value.code == 0
    told = capsys.readouterr().out
    assert "exit codes: 0 graded" in told
    assert "--cflags=-O3" in told


def test_the_default_submission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = assignments.load("A2")
    monkeypatch.chdir(tmp_path)
    assert cli.default_submission(table) == TEMPLATE
    (tmp_path / "train_gpt2.c").write_text("int x;")
    assert cli.default_submission(table) == tmp_path


def graded(*arguments: str | Path) -> Graded:
    return run_command("A2", *arguments, *QUICK)


def test_graded_is_0_whatever_the_score() -> None:
    for submission, points in ((REFERENCE, 10), (TEMPLATE, 0)):
        done = graded(submission)
        assert (done.exit, f"score {points}/10" in done.stdout) == (0, True), done.stdout + done.stderr


def test_below_the_minimum_is_1(tmp_path: Path) -> None:
    done = graded(TEMPLATE, "--min-score", "1", "--json", tmp_path / "r.json")
    assert done.exit == 1
    assert json.loads((tmp_path / "r.json").read_bytes())["score"] == 0


def test_json_alone_on_standard_output() -> None:
    done = graded(REFERENCE, "--json", "-")
    assert json.loads(done.stdout)["complete"] is False
    assert "gelu_backward: pass" in done.stderr


def to_a_full_disk(*arguments: str | Path) -> tuple[int, str]:
    with open("/dev/full", "wb") as full:
        command = [ROOT / "grade", "A2", TEMPLATE, *QUICK, "--quiet", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stderr.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_result_that_cannot_be_shown_is_in_its_file(tmp_path: Path) -> None:
    told = "grade: infrastructure error: the result cannot be shown on standard output: No space left on device"
    path = tmp_path / "r.json"
    assert to_a_full_disk("--json", path) == (3, f"{told}; it is in {path}\n")
    assert json.loads(path.read_bytes())["score"] == 0
    assert to_a_full_disk() == (3, f"{told}\n")
    assert to_a_full_disk("--json", "-") == (3, f"{told}\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_result_that_cannot_be_written_is_shown() -> None:
    done = graded(TEMPLATE, "--json", "/dev/full", "--quiet")
    assert done.exit == 3
    assert done.stderr == "grade: infrastructure error: cannot write /dev/full: No space left on device\n"
    assert "score 0/10" in done.stdout


def test_whoever_reads_may_stop_to() -> None:
    command = f"'{ROOT / 'grade'}' A2 '{TEMPLATE}' {' '.join(QUICK)} --quiet --min-score 1 | true"
    done = subprocess.run(["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"], capture_output=True, check=False)
    assert (done.stdout, done.stderr) == (b"1\n", b"")


@pytest.mark.parametrize(("columns", "width"), [("", 100), ("x", 100), ("60", 60), ("140", 140), ("1", 40)])
def test_a_pipe_is_as_wide_as_asked(columns: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert grade_command._columns() == width


def test_quiet_says_nothing_on_standard_error() -> None:
    assert graded(REFERENCE, "--quiet").stderr == ""


def test_a_file_that_does_not_compile_is_graded(tmp_path: Path) -> None:
    (tmp_path / "train_gpt2.c").write_text("this is no C\n")
    done = graded(tmp_path)
    assert done.exit == 0
    assert "it does not compile: train_gpt2.c:1:1: error:" in done.stdout
    assert "score 0/10" in done.stdout


def test_the_templates_are_not_stale() -> None:
    assert cli.main(["template", "--check"]) == 0


def test_a_narrow_terminal_still_has_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for name, value in {"COLUMNS": "5", "TERM": "xterm", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    grade_command._show(result(), verbose=False)
    assert "First" in terminal.getvalue()
    assert "10/10" in terminal.getvalue()


def test_a_terminal_that_lacks_a_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(screen, encoding="ascii"))
    assert cli.main(["schema"]) == 0
    print("\u2026", flush=True)
    assert screen.getvalue().endswith(b"\\u2026\n")
