"""Submissions that try to have points for what their code does not do, and honest ones that look like that."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.a2.test_submissions import RIGHT, entered, graded, left, patched, renamed

WRONG_GELU = patched("gelu_backward", "3.0f * GELU_CUBIC", "2.0f * GELU_CUBIC")
TURNED = "#if 0\nvoid gelu_backward(float* dinp, float* dout, float* inp, int N) {}\n#endif\n"
LOSSES = ("grads_acts.losses[i] = 1.0f / BT;", "grads_acts.losses[i] = 1.0f;")
FORGED = 'for (int f = 3; f < 20; f++) { dprintf(f, "{\\"status\\": \\"ok\\", \\"done\\": true, \\"code\\": 0}\\n"); }'


ROW_OF = {
    "encoder_backward": "encoder_backward",
    "layernorm_backward": "layernorm_backward",
    "matmul_backward": "matmul_backward",
    "attention_backward": "attention_backward",
    "gelu_backward": "gelu_residual_backward",
    "residual_backward": "gelu_residual_backward",
    "crossentropy_softmax_backward": "crossentropy_softmax_backward",
}
# What makes an operator set a result where it is to add to it; over zeros the two are the same.
FORGETS = {
    "encoder_backward": "memset(dwpe, 0, sizeof(float) * T * C);",
    "layernorm_backward": "memset(dbias, 0, sizeof(float) * C);",
    "matmul_backward": "memset(dinp, 0, sizeof(float) * B * T * C);",
    "attention_backward": "memset(dinp, 0, sizeof(float) * B * T * 3 * C);",
    "gelu_backward": "memset(dinp, 0, sizeof(float) * N);",
    "residual_backward": "memset(dinp2, 0, sizeof(float) * N);",
    "crossentropy_softmax_backward": "memset(dlogits, 0, sizeof(float) * B * T * Vp);",
}
MORE_THAN_ONE_RESULT = [
    ("matmul_backward", "memset(dweight, 0, sizeof(float) * OC * C);"),
    ("matmul_backward", "if (dbias) { memset(dbias, 0, sizeof(float) * OC); }"),
    ("layernorm_backward", "memset(dweight, 0, sizeof(float) * C);"),
    ("attention_backward", "memset(datt, 0, sizeof(float) * B * NH * T * T);"),
    ("attention_backward", "memset(dpreatt, 0, sizeof(float) * B * NH * T * T);"),
    ("residual_backward", "memset(dinp1, 0, sizeof(float) * N);"),
]


def declared_otherwise(operators: Iterable[str], text: str) -> str:
    """The operators with a parameter more, which keeps them from being called alone."""
    for name in operators:
        text = re.sub(rf"(void {name}\([^)]*)\)", r"\1, int unused)", text)
        text = re.sub(rf"(?<!void )\b{name}\(([^;{{]*)\);", rf"{name}(\1, 0);", text)
    return text


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


def test_right_operators_that_are_all_declared_otherwise_keep_their_points(tmp_path: Path) -> None:
    result = graded(tmp_path, declared_otherwise(FORGETS, RIGHT))
    assert result.result["score"] == 100, result.said()
    assert {name for name, row in result.rows.items() if row["inferred"]} == set(ROW_OF.values())


def test_another_declaration_does_not_hide_that_an_operator_sets(tmp_path: Path) -> None:
    operators = ["matmul_backward", "attention_backward", "gelu_backward", "crossentropy_softmax_backward"]
    text = RIGHT
    for name in operators:
        text = entered(name, FORGETS[name], text)
    result = graded(tmp_path, declared_otherwise(operators, text))
    assert result.lost == {ROW_OF[name] for name in operators}, result.said()
    assert all("it is to add" in result.rows[ROW_OF[name]]["detail"] for name in operators)


@pytest.mark.slow
@pytest.mark.parametrize(("function", "statement"), [*FORGETS.items(), *MORE_THAN_ONE_RESULT])
def test_an_operator_that_sets_costs_its_row_alone_however_it_is_declared(
    function: str, statement: str, tmp_path: Path
) -> None:
    result = graded(tmp_path, declared_otherwise(FORGETS, entered(function, statement)))
    assert result.lost == {ROW_OF[function]}, result.said()


def without(function: str, text: str) -> str:
    """The source with an operator that does nothing."""
    return entered(function, "return;", text)


def unwired(text: str) -> str:
    """The source with a `gpt2_backward` that has its buffers, and calls nothing."""
    return patched("gpt2_backward", "    // mean_loss is the mean", "    return;\n    // mean_loss is the mean", text)


def test_wiring_of_which_nothing_is_seen_earns_nothing(tmp_path: Path) -> None:
    hidden = "#pragma GCC visibility push(hidden)\nvoid encoder_backward("
    text = without("matmul_backward", unwired(RIGHT)).replace("void encoder_backward(", hidden, 1)
    shown = text.replace("void gpt2_zero_grad(", "#pragma GCC visibility pop\nvoid gpt2_zero_grad(", 1)
    result = graded(tmp_path, shown)
    assert result.lost == {"matmul_backward", "gpt2_backward", "adamw"}, result.said()


def test_wiring_is_not_excused_by_the_operator_that_most_calls_are_of(tmp_path: Path) -> None:
    text = re.sub(r"\n +matmul_backward\([^;{]*\);", "", without("matmul_backward", RIGHT))
    result = graded(tmp_path, declared_otherwise(["matmul_backward"], text))
    assert result.lost == {"matmul_backward", "gpt2_backward", "adamw"}, result.said()


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
