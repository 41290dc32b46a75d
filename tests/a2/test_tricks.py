"""Submissions that try to have points for what their code does not do, and honest ones that look like that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.a2.test_submissions import RIGHT, entered, graded, left, patched, renamed

WRONG_GELU = patched("gelu_backward", "3.0f * GELU_CUBIC", "2.0f * GELU_CUBIC")
TURNED = "#if 0\nvoid gelu_backward(float* dinp, float* dout, float* inp, int N) {}\n#endif\n"
LOSSES = ("grads_acts.losses[i] = 1.0f / BT;", "grads_acts.losses[i] = 1.0f;")
FORGED = 'for (int f = 3; f < 20; f++) { dprintf(f, "{\\"status\\": \\"ok\\", \\"done\\": true, \\"code\\": 0}\\n"); }'


def before_gelu(front: str, text: str) -> str:
    return text.replace("void gelu_backward(", f"{front}\nvoid gelu_backward(", 1)


def test_an_older_version_behind_an_if_is_not_the_function(tmp_path: Path) -> None:
    result = graded(tmp_path, before_gelu(TURNED, RIGHT))
    assert result.result["score"] == 100, result.said()
    assert not any(row["inferred"] for row in result.rows.values())


def test_wrong_wiring_is_not_excused_by_an_operator_that_is_right(tmp_path: Path) -> None:
    spoiled = left("gpt2_backward", "memset(model->grads.wpe, 0, 4 * model->config.channels);")
    result = graded(tmp_path, before_gelu(TURNED, spoiled))
    assert result.rows["gpt2_backward"]["points"] == 0, result.said()


def test_wrong_wiring_is_not_excused_by_a_renamed_operator(tmp_path: Path) -> None:
    result = graded(tmp_path, renamed("gelu_backward", patched("gpt2_backward", *LOSSES)))
    assert result.rows["gpt2_backward"]["points"] == 0, result.said()
    row = result.rows["gelu_residual_backward"]
    assert (row["points"], row["verdict"], row["inferred"]) == (0, "blocked", True)
    assert "dlnfw" in row["detail"]


def test_a_renamed_wrong_operator_does_not_cost_the_wiring(tmp_path: Path) -> None:
    result = graded(tmp_path, renamed("gelu_backward", WRONG_GELU))
    assert result.rows["gpt2_backward"]["points"] == 10, result.said()
    assert result.rows["gelu_residual_backward"]["verdict"] == "fail"


@pytest.mark.parametrize(
    "front",
    [
        "static __attribute__((noinline))",
        "inline __attribute__((always_inline))",
        "#define LOCAL static\nLOCAL",
        "#define gelu_backward my_gelu_backward\n",
    ],
)
def test_a_function_that_nothing_can_replace_costs_its_row_alone(front: str, tmp_path: Path) -> None:
    result = graded(tmp_path, WRONG_GELU.replace("void gelu_backward(", f"{front} void gelu_backward(", 1))
    assert "gelu_residual_backward" in result.lost, result.said()
    assert result.lost <= {"gelu_residual_backward", "adamw"}, result.said()


def test_how_a_process_ended_is_not_its_to_say(tmp_path: Path) -> None:
    unguarded = patched("gpt2_zero_grad", "if (model->grads_memory != NULL)", "")
    forged = entered("gpt2_zero_grad", f"if (model->grads_memory == NULL) {{ {FORGED} }}", unguarded)
    row = graded(tmp_path, forged).rows["zero_grad"]
    assert (row["points"], row["verdict"]) == (0, "crashed"), row


def test_an_exit_after_a_forged_report_is_no_end(tmp_path: Path) -> None:
    row = graded(tmp_path, entered("residual_backward", f"{FORGED} _exit(0);")).rows["gelu_residual_backward"]
    assert (row["points"], row["verdict"]) == (0, "crashed"), row


def test_a_signal_handler_does_not_hide_a_fault(tmp_path: Path) -> None:
    hiding = entered("gelu_backward", "signal(SIGSEGV, quiet);")
    source = "#include <signal.h>\n" + before_gelu("static void quiet(int n) { (void)n; _exit(0); }", hiding)
    row = graded(tmp_path, source).rows["gelu_residual_backward"]
    assert (row["points"], row["verdict"]) == (0, "crashed"), row
    assert "signal handler" in row["detail"]


def test_what_is_left_running_does_not_hold_the_probe_up(tmp_path: Path) -> None:
    daemon = "if (fork() == 0) { setsid(); for (;;) { sleep(1); } }"
    result = graded(tmp_path, entered("residual_backward", daemon))
    assert "gelu_residual_backward" not in result.lost, result.said()


def test_a_brace_that_is_missing_is_told_of_the_students_file(tmp_path: Path) -> None:
    start = RIGHT.index("void gpt2_update(")
    end = RIGHT.index("\n}\n", start)
    result = graded(tmp_path, RIGHT[:end] + RIGHT[end + 2 :])
    assert result.result["problems"][0].startswith("it does not compile: train_gpt2.c:"), result.result["problems"]
    assert "shim.c" not in result.stdout
