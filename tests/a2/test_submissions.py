"""What students hand in that is not simply right or wrong: a clear message, and every row that can be judged."""

from __future__ import annotations

import io
import json
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.a2.patches import HERE, REFERENCE, SOLVED, SOURCE, Mistake, Patch, load, region, write
from tests.support import ROOT, Graded, grade, grade_fully, run_command, slow

TEMPLATE = ROOT / "student_template" / "A2"
RIGHT = REFERENCE.read_text(encoding="utf-8")


def patched(function: str | None, replace: str, by: str, text: str = RIGHT) -> str:
    return Patch(replace=replace, by=by, within=function).apply(text)


def entered(function: str, statement: str, text: str = RIGHT) -> str:
    """The source with a statement before the first of the function's solution."""
    return patched(function, "// BEGIN SOLUTION\n", f"// BEGIN SOLUTION\n    {statement}\n", text)


def left(function: str, statement: str) -> str:
    """The reference with a statement behind the last of the function's solution."""
    return patched(function, "    // END SOLUTION\n", f"    {statement}\n    // END SOLUTION\n")


def graded(folder: Path, source: str | bytes) -> Graded:
    return grade(write(folder / "submission", source))


def assert_blocked(result: Graded, message: str) -> None:
    """Nothing could be judged: 0 points, every row blocked, and the reason on the terminal and in the JSON."""
    assert result.exit == 0
    assert result.result["score"] == 0
    assert set(result.verdicts.values()) == {"blocked"}
    assert message in " ".join(result.result["problems"])
    assert message in " ".join(result.stdout.split())


# -- whole submissions --------------------------------------------------------------------------------


def test_the_reference_has_all_points() -> None:
    result = grade("--reference")
    assert (result.exit, result.result["score"], result.result["max_score"]) == (0, 100, 100)
    assert set(result.verdicts.values()) == {"pass"}
    assert "100/100" in result.stdout


def test_the_template_has_none_and_says_not_implemented() -> None:
    result = grade(TEMPLATE)
    assert (result.exit, result.result["score"]) == (0, 0)
    assert list(result.verdicts.values()) == ["not_implemented"] * 9


def test_the_template_is_graded_where_nothing_else_is_there(tmp_path: Path) -> None:
    result = grade(cwd=tmp_path)
    assert result.result["submission"]["origin"] == str(TEMPLATE)


def test_the_current_folder_is_graded_if_it_holds_the_file(tmp_path: Path) -> None:
    write(tmp_path, RIGHT)
    result = grade("--only", "zero_grad", cwd=tmp_path)
    assert (result.result["submission"]["origin"], result.result["score"]) == (str(tmp_path), 5)


def test_what_the_assignment_provides_is_not_taken_and_said(tmp_path: Path) -> None:
    folder = write(tmp_path / "own", RIGHT)
    (folder / "llmc").mkdir()
    (folder / "llmc" / "utils.h").write_text("#error not to be used\n")
    (folder / "Makefile").write_text("all:\n\tfalse\n")
    result = grade(folder)
    assert result.result["score"] == 100
    assert set(result.result["submission"]["ignored"]) == {"llmc/utils.h", "Makefile"}
    assert "llmc/utils.h" in result.stdout


# -- no file, or none that is C -----------------------------------------------------------------------


def test_a_folder_without_the_file_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "train.c").write_text(RIGHT)
    result = grade(tmp_path)
    assert_blocked(result, "there is no train_gpt2.c")
    assert "train.c: rename it" in " ".join(result.stdout.split())


def docx() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", "<document>int main</document>" * 50)
    return buffer.getvalue()


NOT_C = {
    "empty": (b"", "train_gpt2.c is empty"),
    "blank": (b" \n\t\n", "train_gpt2.c is empty"),
    "picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, "does not compile"),
    "word": (docx(), "does not compile"),
    "prose": (b"Dear TA,\n\nmy laptop broke. The code is on it.\n\nBest\n", "does not compile"),
    "python": (b"import torch\nprint('hello')\n", "does not compile"),
    "html": (b"<!DOCTYPE html><html><body>Sign in to GitHub</body></html>\n", "does not compile"),
}


@pytest.mark.parametrize("kind", NOT_C)
def test_what_is_not_c_blocks_every_row(kind: str, tmp_path: Path) -> None:
    blob, message = NOT_C[kind]
    assert_blocked(graded(tmp_path, blob), message)


def test_a_compiler_error_is_shown_with_file_and_line(tmp_path: Path) -> None:
    result = graded(tmp_path, entered("gelu_backward", "float x = inp[0]"))
    assert_blocked(result, "does not compile")
    line = RIGHT[: RIGHT.index("// BEGIN SOLUTION", region(RIGHT, "gelu_backward")[0])].count("\n") + 2
    assert any(f"train_gpt2.c:{at}" in result.stdout for at in (line, line + 1, line + 2)), result.stdout
    assert "/tmp/" not in " ".join(result.result["problems"])


def test_a_call_of_an_undefined_function_is_named(tmp_path: Path) -> None:
    declared = "void gelu_grad_of(float* dinp, int N);\n" + entered("gelu_backward", "gelu_grad_of(dinp, N);")
    result = graded(tmp_path, declared)
    assert "gelu_grad_of" in result.rows["gelu_residual_backward"]["detail"] + " ".join(result.result["problems"])
    assert "tensorgrade-" not in "".join(result.stdout.split())


def test_an_include_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert_blocked(graded(tmp_path, '#include "my_kernels.h"\n' + RIGHT), "my_kernels.h")


def test_a_main_without_guard_is_no_harm_and_said(tmp_path: Path) -> None:
    result = graded(tmp_path, patched(None, "#ifndef TESTING // test", "#if 1 // test"))
    assert result.result["score"] == 100, result.said()
    assert any("TESTING" in note["text"] for note in result.result["advice"])
    assert "TESTING" in result.stdout


SENTENCE = f'#define TG_S "{"a" * 100_000}"\n'
WARNED = "void tg_w(void) __attribute__((warning(TG_S)));\nvoid tg_u(void) {{ {calls} }}\nvoid tg_w(void) {{}}\n"


def test_megabytes_of_compiler_errors_are_cut(tmp_path: Path) -> None:
    result = graded(tmp_path, RIGHT + SENTENCE + "_Static_assert(0, TG_S);\n" * 200)
    assert_blocked(result, "static assertion failed")
    assert sum(len(problem) for problem in result.result["problems"]) < 1 << 17


@pytest.mark.slow
def test_megabytes_of_compiler_warnings_do_no_harm(tmp_path: Path) -> None:
    result = graded(tmp_path, RIGHT + SENTENCE + WARNED.format(calls="tg_w();\n" * 200))
    assert result.result["score"] == 100, result.said()


def test_an_error_behind_megabytes_of_warnings_costs_its_row_alone(tmp_path: Path) -> None:
    start, end = region(RIGHT, "gelu_backward")
    call = "        gelu_backward(da.fch, a.fch, da.fch_gelu, BT * 4 * C);\n"
    missing = patched(None, call, "", RIGHT[:start] + RIGHT[end:])
    result = graded(tmp_path, f"#warning {'words ' * 150}\n" * 300 + missing)
    assert "no function of this name" in result.rows["gelu_residual_backward"]["detail"], result.said()
    assert result.rows["encoder_backward"]["points"] == 10


# -- the disk -----------------------------------------------------------------------------------------

INCLUDES = "#include <fcntl.h>\n#include <sys/stat.h>\n#include <unistd.h>\n"
FILES = """static void tg_fill(void) {
    static char piece[1 << 20];
    char name[64];
    memset(piece, 1, sizeof(piece));
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof(name), "fill%d", i);
        int file = open(name, O_CREAT | O_WRONLY, 0600);
        for (int k = 0; k < 32; k++) { if (write(file, piece, sizeof(piece)) < 0) { break; } }
        close(file);
    }
}
"""
FOLDERS = """__attribute__((constructor)) static void tg_deep(void) {
    for (int i = 0; i < 3000; i++) { if (mkdir("d", 0700) || chdir("d")) { break; } }
}
"""


def test_a_full_disk_costs_its_row(tmp_path: Path) -> None:
    result = graded(
        tmp_path,
        "#include <stdio.h>\n#include <string.h>\n" + INCLUDES + FILES + entered("gelu_backward", "tg_fill();"),
    )
    assert_costs(result, "gelu_backward", "crashed", "it wrote more than 512 MiB")


@pytest.mark.parametrize("sandbox", ["auto", "limits"])
def test_folders_too_deep_for_a_path_leave_nothing_behind(sandbox: str, tmp_path: Path) -> None:
    folder, left, path = write(tmp_path / "a2", RIGHT + INCLUDES + FOLDERS), tmp_path / "tmp", tmp_path / "r.json"
    left.mkdir()
    options = ("--only", "zero_grad,gpt2_backward", "--no-second-look", "--sandbox", sandbox, "--json", path)
    done = run_command("A2", folder, *options, env={"TMPDIR": str(left)})
    assert (done.exit, os.listdir(left)) == (0, []), done.stderr
    result = json.loads(path.read_bytes())
    assert {row["verdict"] for row in result["rows"]} == {"crashed"}
    assert "when it was loaded" in result["rows"][0]["detail"]
    assert "folders that lie deeper than" in result["rows"][0]["detail"]


# -- functions that do not come back ------------------------------------------------------------------

OTHER_ROWS = {
    "layernorm_backward": {"layernorm_backward", "adamw"},
    "gelu_backward": {"gelu_residual_backward", "adamw"},
    "matmul_backward": {"matmul_backward", "adamw"},
    "attention_backward": {"attention_backward", "adamw"},
    "encoder_backward": {"encoder_backward", "adamw"},
    "residual_backward": {"gelu_residual_backward", "adamw"},
    "crossentropy_softmax_backward": {"crossentropy_softmax_backward", "adamw"},
    "gpt2_backward": {"gpt2_backward", "adamw"},
    "gpt2_zero_grad": {"zero_grad", "adamw"},
    "gpt2_update": {"adamw"},
}
ROW = {function: next(iter(rows - {"adamw"}), "adamw") for function, rows in OTHER_ROWS.items()}

COSH = """float cosh_u = coshf(GELU_SCALING_FACTOR * (x + GELU_CUBIC * x * x * x));
        float sech2 = 1.0f / (cosh_u * cosh_u);"""
NULL_WRITE = "*(volatile float*)0 = 1.0f;"
FOREVER = "for (volatile int i = 0;;) { i = 1; }"


def assert_costs(result: Graded, function: str, verdict: str, *words: str) -> None:
    """The function's row is lost with this verdict and these words; beside it the whole program's alone."""
    assert result.exit == 0
    assert result.lost == OTHER_ROWS[function], result.said()
    row = result.rows[ROW[function]]
    assert row["verdict"] == verdict, result.said()
    assert all(word in row["detail"] for word in words), row["detail"]


@pytest.mark.parametrize("function", slow("layernorm_backward", "gpt2_backward"))
def test_an_endless_loop_costs_its_row(function: str, tmp_path: Path) -> None:
    assert_costs(graded(tmp_path, entered(function, FOREVER)), function, "timed_out")


@pytest.mark.parametrize("function", ["gpt2_backward", *slow("matmul_backward", "gpt2_zero_grad", "gpt2_update")])
def test_a_crash_costs_its_row(function: str, tmp_path: Path) -> None:
    result = graded(tmp_path, entered(function, NULL_WRITE))
    assert_costs(result, function, "crashed", "NULL pointer")


@pytest.mark.parametrize("function", ["encoder_backward", *slow("gpt2_backward", "gpt2_zero_grad")])
def test_an_exit_in_a_function_is_no_success(function: str, tmp_path: Path) -> None:
    assert_costs(graded(tmp_path, left(function, "exit(0);")), function, "crashed", "exit code 0")


def test_an_exit_in_the_update_is_no_success(tmp_path: Path) -> None:
    assert_costs(graded(tmp_path, left("gpt2_update", "_exit(0);")), "gpt2_update", "crashed")


def test_an_abort_costs_its_row(tmp_path: Path) -> None:
    result = graded(tmp_path, entered("residual_backward", "abort();"))
    assert_costs(result, "residual_backward", "crashed", "SIGABRT")


def test_endless_recursion_costs_its_row(tmp_path: Path) -> None:
    call = "volatile char room[4096]; room[N % 4096] = 1; residual_backward(dinp1, dinp2, dout, N); room[0] = room[1];"
    result = graded(tmp_path, entered("residual_backward", call))
    assert_costs(result, "residual_backward", "crashed")


def test_a_division_by_zero_costs_its_row(tmp_path: Path) -> None:
    result = graded(tmp_path, entered("gelu_backward", "volatile int zero = 0; N /= zero;"))
    assert_costs(result, "gelu_backward", "crashed", "SIGFPE")


# -- memory -------------------------------------------------------------------------------------------


PAST_THE_GRADIENTS = "if (model->grads_memory) { model->grads_memory[model->num_parameters] = 0.0f; }"


@pytest.mark.parametrize(
    ("function", "statement", "words"),
    [
        ("residual_backward", "dinp2[N] += 1.0f;", ("past the end of dinp2",)),
        ("gelu_backward", "dinp[N] = 0.0f;", ("writes past the end of dinp",)),
        ("layernorm_backward", "dbias[0] += 0.0f * weight[C];", ("reads past the end of weight",)),
        ("matmul_backward", "volatile float x = inp[B * T * C]; (void)x;", ("reads past the end of inp",)),
        ("encoder_backward", "volatile int x = inp[B * T]; (void)x;", ("reads past the end of inp",)),
        ("attention_backward", "dpreatt[B * NH * T * T] = 0.0f;", ("writes past the end of dpreatt",)),
        ("crossentropy_softmax_backward", "dlogits[B * T * Vp] += 1.0f;", ("past the end of dlogits",)),
        ("residual_backward", "dinp1[-1] = 1.0f;", ("writes before the start of dinp1",)),
        ("gpt2_zero_grad", PAST_THE_GRADIENTS, ("past the end of grads",)),
    ],
)
def test_one_element_too_far_is_a_fault_with_a_name(
    function: str, statement: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    result = grade(write(tmp_path / "submission", entered(function, statement)), "--only", ROW[function])
    row = result.rows[ROW[function]]
    assert (row["points"], row["verdict"]) == (0, "crashed"), result.said()
    assert all(word in row["detail"] for word in words), row["detail"]


def test_a_read_before_the_start_yields_no_number(tmp_path: Path) -> None:
    result = graded(tmp_path, patched("residual_backward", "dinp1[i] += dout[i];", "dinp1[i] += dout[i - 1];"))
    row = result.rows["gelu_residual_backward"]
    assert (row["points"], row["verdict"]) == (0, "fail")
    assert "dinp1" in row["detail"]


def test_an_input_that_is_written_to_is_named(tmp_path: Path) -> None:
    result = graded(tmp_path, left("gelu_backward", "dout[0] = 0.0f;"))
    assert "writes to dout" in str(result.result["rows"]) + str(result.result["advice"])


# -- numbers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    ["dinp[0] = NAN;", "dinp[N - 1] = 0.0f / (float)(N - N);", "for (int i = 0; i < N; i++) { dinp[i] = INFINITY; }"],
)
def test_what_is_not_a_number_fails(statement: str, tmp_path: Path) -> None:
    submission = write(tmp_path / "submission", left("gelu_backward", statement))
    row = grade(submission, "--only", "gelu_residual_backward").rows["gelu_residual_backward"]
    assert (row["points"], row["verdict"]) == (0, "fail"), row
    assert "not a finite number" in row["detail"]


def test_nan_is_not_okay_for_the_transcript_either(tmp_path: Path) -> None:
    result = graded(tmp_path, left("residual_backward", "dinp1[0] = NAN;"))
    assert "overall okay: 0" in result.result["transcript"]
    assert "TENSOR NOT OK, maxdiff = nan" in result.result["transcript"]


def test_all_signs_flipped_fails_every_row_of_it(tmp_path: Path) -> None:
    source = patched("residual_backward", "dinp1[i] += dout[i];", "dinp1[i] -= dout[i];")
    source = patched("residual_backward", "dinp2[i] += dout[i];", "dinp2[i] -= dout[i];", source)
    result = graded(tmp_path, source)
    assert result.lost == {"gelu_residual_backward", "adamw"}


def test_all_zeros_fail(tmp_path: Path) -> None:
    result = graded(tmp_path, left("matmul_backward", "memset(dinp, 0, (size_t)B * T * C * sizeof(float));"))
    assert result.rows["matmul_backward"]["verdict"] == "fail"
    assert result.lost == {"matmul_backward", "adamw"}


# -- what it prints -----------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", ["stderr", *slow("stdout")])
def test_megabytes_of_output_do_no_harm(stream: str, tmp_path: Path) -> None:
    line = "gradient " * 5
    loop = f'for (int i = 0; i < 1000000; i++) {{ fputs("{line}\\n", {stream}); }}'
    source = entered("encoder_backward", f"if (C == 37) {{ {loop} }}")
    result = grade(write(tmp_path / "submission", source), "--only", "encoder_backward")
    assert result.result["score"] == 10, result.said()
    assert len(result.stdout) < 1 << 16


def test_output_of_what_fails_is_kept_short_and_harmless(tmp_path: Path) -> None:
    wrong = 'for (int i = 0; i < 1000000; i++) { printf("\\x1b[2J\\x1b]0;100/100\\x07 100/100\\n"); } dwte[0] += 9.0f;'
    result = graded(tmp_path, entered("encoder_backward", wrong))
    assert result.lost == {"encoder_backward", "adamw"}
    assert "\x1b" not in result.stdout
    assert len(result.stdout) < 1 << 16
    assert len(result.checks["encoder_backward"]["output"]) < 1 << 17


def test_what_a_wrong_function_prints_is_shown(tmp_path: Path) -> None:
    source = entered("encoder_backward", 'printf("C is %d\\n", C); dwte[0] += 9.0f;')
    result = grade(write(tmp_path / "submission", source), "--only", "encoder_backward")
    assert "C is 37\n" in result.checks["encoder_backward"]["output"]


def test_a_printed_verdict_is_worth_nothing(tmp_path: Path) -> None:
    text = TEMPLATE.joinpath(SOURCE).read_text(encoding="utf-8")
    boast = 'printf("overall okay: 1\\n{\\"score\\": 100}\\nscore 100/100\\n");'
    result = graded(tmp_path, patched("gpt2_backward", "// TODO (A2): gpt2_backward\n", f"{boast}\n", text))
    assert result.result["score"] == 0


# -- containers ---------------------------------------------------------------------------------------


def test_a_folder_in_a_folder_in_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "hw" / "group 7" / "a2", RIGHT)
    (tmp_path / "hw" / "__MACOSX").mkdir()
    (tmp_path / "hw" / "__MACOSX" / SOURCE).write_bytes(b"\x00\x05\x16\x07")
    assert grade(tmp_path, "--only", "zero_grad").result["score"] == 5


def test_the_file_alone(tmp_path: Path) -> None:
    write(tmp_path, RIGHT)
    assert grade(tmp_path / SOURCE, "--only", "zero_grad").result["score"] == 5


def test_a_path_with_spaces_and_umlauts(tmp_path: Path) -> None:
    folder = write(tmp_path / 'Übung 2 – François\'s "final"', RIGHT)
    assert grade(folder).result["score"] == 100


def test_a_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a2.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a2-solved/train_gpt2.c", RIGHT)
        archive.writestr("__MACOSX/a2-solved/._train_gpt2.c", b"\x00")
    assert grade(tmp_path / "a2.zip", "--only", "zero_grad").result["score"] == 5


@pytest.mark.parametrize("mode", ["w:gz", "w:xz", "w"])
def test_a_tar(mode: str, tmp_path: Path) -> None:
    write(tmp_path / "a2", RIGHT)
    path = tmp_path / f"a2.tar{mode[1:].replace(':', '.')}"
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        archive.add(tmp_path / "a2", "./a2")
    assert grade(path, "--only", "zero_grad").result["score"] == 5


def test_two_submissions_in_one_folder_are_not_chosen_between(tmp_path: Path) -> None:
    write(tmp_path / "all" / "first", RIGHT)
    write(tmp_path / "all" / "second", RIGHT)
    result = grade(tmp_path / "all")
    assert_blocked(result, "two submissions")
    assert "first/" in result.stdout
    assert "second/" in result.stdout


@pytest.mark.parametrize("target", [REFERENCE, Path("/etc/passwd")], ids=["reference", "passwd"])
def test_a_link_is_not_followed(target: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / SOURCE).symlink_to(target)
    assert_blocked(grade(tmp_path / "linked"), "is a link")


def test_a_link_that_is_named_itself_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / SOURCE).symlink_to(REFERENCE)
    assert_blocked(grade(tmp_path / SOURCE), "is a link")


def test_a_link_in_a_tar_is_not_followed(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a2.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo(f"a2/{SOURCE}")
        member.type, member.linkname = tarfile.SYMTYPE, str(REFERENCE)
        archive.addfile(member)
    assert_blocked(grade(tmp_path / "a2.tar.gz"), "hand in the file itself")


def test_a_pipe_does_not_hold_the_grader_up(tmp_path: Path) -> None:
    (tmp_path / "a2").mkdir()
    os.mkfifo(tmp_path / "a2" / SOURCE)
    assert_blocked(grade(tmp_path / "a2"), "not a regular file")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    result = graded(tmp_path, RIGHT.encode() + b"\n" * (2 << 20))
    assert_blocked(result, "larger than")


# -- the interface ------------------------------------------------------------------------------------


def renamed(function: str, text: str = RIGHT) -> str:
    return text.replace(f"{function}(", f"my_{function}(")


def test_a_renamed_right_function_is_inferred(tmp_path: Path) -> None:
    result = graded(tmp_path, renamed("layernorm_backward"))
    row = result.rows["layernorm_backward"]
    assert (row["points"], row["verdict"], row["inferred"]) == (15, "pass", True), result.said()
    assert result.lost == set(), result.said()
    assert "(inferred)" in result.stdout


@pytest.mark.parametrize(
    ("function", "replace", "by"),
    [
        ("layernorm_backward", " - dxhat_mean", ""),
        ("encoder_backward", "dposition[c] += dy[c];", "dposition[c] += 2.0f * dy[c];"),
        ("attention_backward", "float d = dscore[t2] * scale;", "float d = dscore[t2]; (void)scale;"),
    ],
)
def test_a_renamed_wrong_function_costs_its_row(function: str, replace: str, by: str, tmp_path: Path) -> None:
    result = graded(tmp_path, renamed(function, patched(function, replace, by)))
    row = result.rows[ROW[function]]
    assert (row["points"], row["verdict"], row["inferred"]) == (0, "fail", True), result.said()
    assert result.lost == OTHER_ROWS[function], result.said()


def test_a_missing_function_costs_its_row(tmp_path: Path) -> None:
    start, end = region(RIGHT, "gelu_backward")
    call = "        gelu_backward(da.fch, a.fch, da.fch_gelu, BT * 4 * C);\n"
    result = graded(tmp_path, patched(None, call, "", RIGHT[:start] + RIGHT[end:]))
    row = result.rows["gelu_residual_backward"]
    assert row["points"] == 0
    assert "gelu_backward" in row["detail"]
    assert "no function of this name" in row["detail"]
    assert {"gelu_residual_backward", "adamw"} <= result.lost <= {"gelu_residual_backward", "gpt2_backward", "adamw"}


def test_a_function_that_is_called_and_missing_is_named(tmp_path: Path) -> None:
    start, end = region(RIGHT, "gelu_backward")
    result = graded(tmp_path, RIGHT[:start] + RIGHT[end:])
    row = result.rows["gelu_residual_backward"]
    assert row["points"] == 0
    assert "no function of this name" in row["detail"], row["detail"]
    assert {"gelu_residual_backward", "adamw"} <= result.lost <= {"gelu_residual_backward", "gpt2_backward", "adamw"}


def without_vp(text: str = RIGHT) -> str:
    """The older crossentropy_softmax_backward, without Vp; inside the model the width is found in a global."""
    text = patched("crossentropy_softmax_backward", "int V, int Vp) {", "int V) {\n    int Vp = padded_width;", text)
    text = patched("gpt2_backward", "model->targets, B, T, V, Vp);", "model->targets, B, T, V);", text)
    text = patched("gpt2_backward", "    size_t BT =", "    padded_width = Vp;\n    size_t BT =", text)
    return patched(None, "#ifndef M_PI\n", "static int padded_width;\n#ifndef M_PI\n", text)


def test_an_older_signature_is_inferred_and_told(tmp_path: Path) -> None:
    result = graded(tmp_path, without_vp())
    row = result.rows["crossentropy_softmax_backward"]
    assert (row["points"], row["inferred"]) == (10, True), result.said()
    assert "declared otherwise" in row["detail"]
    assert result.lost == set(), result.said()


def test_parameters_in_another_order_are_told(tmp_path: Path) -> None:
    text = patched("gelu_backward", "float* inp, float* dout, int N", "float* dout, float* inp, int N")
    text = patched("gpt2_backward", "da.fch, a.fch, da.fch_gelu,", "da.fch, da.fch_gelu, a.fch,", text)
    result = graded(tmp_path, text)
    row = result.rows["gelu_residual_backward"]
    assert (row["points"], row["inferred"]) == (10, True), result.said()
    assert "another order" in row["detail"]
    assert result.lost == set(), result.said()


def older(text: str = RIGHT) -> str:
    """A file of the time before the padded vocabulary: no such field, no Vp anywhere, checkpoint version 1."""
    text = patched(None, "    int padded_vocab_size; // Vp\n", "", text)
    text = patched(None, "    config->padded_vocab_size = header[7];\n", "", text)
    text = patched(None, "header[1] != 3", "header[1] != 1", text)
    return text.replace("padded_vocab_size", "vocab_size")


def test_an_older_file_is_told_what_differs(tmp_path: Path) -> None:
    result = graded(tmp_path, older())
    assert result.exit == 0
    said = " ".join((result.stdout + str(result.result["problems"])).split())
    assert "version" in said or "padded_vocab_size" in said
    assert result.lost <= {"zero_grad", "crossentropy_softmax_backward", "gpt2_backward", "adamw"}, result.said()


def test_a_renamed_struct_field_blocks_the_model_alone(tmp_path: Path) -> None:
    result = graded(tmp_path, RIGHT.replace("grads_acts_memory", "dacts_memory"))
    assert "dacts_memory" in result.stdout or "grads_acts_memory" in result.stdout
    assert result.lost == {"zero_grad", "gpt2_backward", "adamw"}, result.said()


# -- the command --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["A9"],
        [],
        ["A2", "--only", "no_such_row"],
        ["A2", "/no/such/path"],
        ["A2", "--no-such-option"],
        ["A2", "--reference", "."],
        ["A2", "--min-score", "many"],
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_2(arguments: list[str]) -> None:
    done = run_command(*arguments)
    assert done.exit == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("grade: usage: ")


def test_an_unknown_row_is_told_the_known_ones() -> None:
    assert "attention_backward" in run_command("A2", "--only", "attention").stderr


def test_a_missing_compiler_is_an_infrastructure_error(tmp_path: Path) -> None:
    done = grade("--reference", "--cc", "no-such-cc")
    assert (done.exit, done.result) == (3, {})
    assert "apt install gcc" in done.stderr


def test_an_infrastructure_error_leaves_an_earlier_result(tmp_path: Path) -> None:
    earlier = tmp_path / "result.json"
    earlier.write_text("earlier")
    assert run_command("A2", "--reference", "--cc", "no-such-cc", "--json", earlier).exit == 3
    assert earlier.read_text() == "earlier"


@pytest.mark.parametrize(("minimum", "expected"), [("1", 1), ("0", 0)])
def test_below_the_minimum_exits_with_1(minimum: str, expected: int) -> None:
    assert grade(TEMPLATE, "--only", "zero_grad", "--min-score", minimum).exit == expected


def test_only_grades_these_rows() -> None:
    result = grade("--reference", "--only", "encoder_backward,zero_grad", "--only", "adamw")
    assert list(result.rows) == ["zero_grad", "encoder_backward", "adamw"]
    assert (result.result["score"], result.result["max_score"], result.result["complete"]) == (25, 25, False)


def test_options_may_stand_before_the_submission(tmp_path: Path) -> None:
    done = run_command("A2", "--no-second-look", "--only", "zero_grad", write(tmp_path / "a2", RIGHT))
    assert done.exit == 0, done.stderr


def test_json_on_standard_output_stands_there_alone() -> None:
    done = run_command("A2", "--reference", "--no-second-look", "--only", "zero_grad", "--json", "-")
    assert json.loads(done.stdout)["schema"] == "tensorgrade/result/1"
    assert done.exit == 0


def test_two_runs_differ_in_their_timing_alone(tmp_path: Path) -> None:
    folder = write(tmp_path / "a2", renamed("gelu_backward", patched("layernorm_backward", " - dxhat_mean", "")))
    first, second = grade(folder).result, grade(folder).result
    assert first.pop("timing")
    assert second.pop("timing")
    assert first == second


def test_the_transcript_is_the_handouts() -> None:
    lines = grade("--reference").result["transcript"].splitlines()
    assert lines[0] == "[GPT-2]"
    assert lines[-1] == "overall okay: 1"
    assert sum(line.startswith("TENSOR OK, maxdiff = ") for line in lines) == 16
    assert sum(line.startswith("step ") and line.endswith("OK = 1") for line in lines) == 10


# -- the second look ----------------------------------------------------------------------------------


def test_code_that_fast_math_breaks_has_its_points_and_an_advice(tmp_path: Path) -> None:
    """1 / coshf(x)^2 overflows to the right zero at -O2; under -Ofast infinity is not one of its numbers."""
    source = patched("gelu_backward", "(1.0f - th * th)", "sech2")
    source = patched("gelu_backward", "        float du =", f"        {COSH}\n        float du =", source)
    result = grade_fully(write(tmp_path / "cosh", source))
    assert result.result["score"] == 100, result.said()
    advice = [note["text"] for note in result.result["advice"] if note["check"] == "gelu_backward"]
    assert len(advice) == 1, result.result["advice"]
    assert "-Ofast" in advice[0]
    assert "no points" in result.stdout


@pytest.mark.slow
def test_a_race_costs_no_points_and_may_be_told(tmp_path: Path) -> None:
    race = next(m for m in load(HERE / "mistakes.yaml", Mistake) if m.name == "matmul-race")
    result = grade_fully(write(tmp_path / "race", race.source(SOLVED)))
    assert result.result["score"] == 100, result.said()
    assert all(note["check"] in ("matmul_backward", "ten_steps") for note in result.result["advice"])
    assert all("thread" in note["text"] for note in result.result["advice"])


def test_the_reference_has_no_advice() -> None:
    assert grade_fully("--reference").result["advice"] == []


# -- several at once ----------------------------------------------------------------------------------


def test_the_whole_evening_in_one_file(tmp_path: Path) -> None:
    """A file in the middle of the work: each function at another stage, each row for itself."""
    text = TEMPLATE.joinpath(SOURCE).read_text(encoding="utf-8")
    for function in ("encoder_backward", "gelu_backward", "residual_backward", "layernorm_backward"):
        start, end = region(text, function)
        first, last = region(RIGHT, function)
        text = text[:start] + RIGHT[first:last] + text[end:]
    text = patched("layernorm_backward", " - dxhat_mean", "", text)
    result = graded(tmp_path, text)
    assert result.result["score"] == 20, result.said()
    assert result.verdicts == {
        "zero_grad": "not_implemented",
        "encoder_backward": "pass",
        "layernorm_backward": "fail",
        "matmul_backward": "not_implemented",
        "attention_backward": "not_implemented",
        "gelu_residual_backward": "pass",
        "crossentropy_softmax_backward": "not_implemented",
        "gpt2_backward": "not_implemented",
        "adamw": "not_implemented",
    }
