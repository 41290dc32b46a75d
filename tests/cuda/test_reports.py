"""What is told of kernels, wherever results are shown; times are told where times may be told."""

from __future__ import annotations

from grader.report import html, markdown
from grader.report.kernels import kernel_lines
from grader.report.plain import remarks
from grader.result import KernelLine, Kernels, Result
from tests.grader import builders

WRONG = KernelLine(
    id="map",
    title="map, one function of each element",
    verdict="fail",
    cases=6,
    failed_cases=[f"map/{i}" for i in range(6)],
    told=["a thread writes past the end (src/combine.cu:97)"],
)


def kernels(**changes: object) -> Kernels:
    fields: dict[str, object] = {
        "file": "src/combine.cu",
        "compiled": True,
        "compiler": "nvcc 13.0.88",
        "errors": [],
        "ran_on": "",
        "not_on_gpu": "there is no NVIDIA GPU here",
        "rows_on": "numpy",
        "rows_why": "there is no NVIDIA GPU here",
        "kernels": [],
        "notes": [],
    }
    return Kernels.model_validate({**fields, **changes})


def result(told: Kernels | None) -> Result:
    timing = {"total": 2.0, "one epoch on simple": 31.26, "one epoch on numpy": 0.1234}
    return builders.result().model_copy(update={"kernels": told, "timing": timing})


def test_without_a_look_nothing_is_told() -> None:
    assert kernel_lines(result(None)) == []
    assert "CUDA" not in html.text(result(None))


def test_what_compiles_and_is_not_run() -> None:
    assert kernel_lines(result(kernels())) == [
        "src/combine.cu: compiles with nvcc 13.0.88, not run: there is no NVIDIA GPU here",
        "the rows were judged on the backend numpy",
        "one epoch of the reference's network: numpy 0.123 s, simple 31.3 s",
    ]


def test_what_does_not_compile_is_told_with_its_errors() -> None:
    error = "src/combine.cu:3: error: <b>"
    told = kernels(compiled=False, errors=[error], not_on_gpu="they do not compile", rows_why="they do not compile")
    lines = kernel_lines(result(told))
    assert lines[:2] == ["src/combine.cu: does not compile with nvcc 13.0.88", f"  {error}"]
    assert "error: &lt;b&gt;" in html.text(result(told))


def test_wrong_kernels_are_told_with_their_cases() -> None:
    told = kernels(ran_on="NVIDIA X", not_on_gpu="", rows_why="the kernels are not right: map", kernels=[WRONG])
    lines = kernel_lines(result(told))
    assert lines[0] == "src/combine.cu: compiles with nvcc 13.0.88, run on NVIDIA X"
    assert lines[1].endswith("fail in 6 of 6 cases: map/0, map/1, map/2, map/3 and 2 more")
    assert lines[2] == "  a thread writes past the end (src/combine.cu:97)"
    assert lines[3] == "the rows were judged on the backend numpy, since the kernels are not right: map"


def test_pages_and_texts_show_them_and_texts_have_no_times() -> None:
    told = result(kernels(kernels=[WRONG], ran_on="NVIDIA X", not_on_gpu=""))
    page, text = html.text(told), remarks(told)
    assert "CUDA kernels, at no points" in page
    assert "a thread writes past the end" in page
    assert "31.3 s" in page
    assert "a thread writes past the end" in text
    assert "a thread writes past the end" in markdown.render(told)
    assert "31.3" not in text
