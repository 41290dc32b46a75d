"""The kernels' result as text: a line for each kernel, then what is wrong with it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from grader.kernels.result import KernelResult, KernelsResult, Mistake
from grader.report.plain import dumps, one_line
from grader.report.texts import printable
from grader.result import words

MOST_PROBLEM = 4000  # characters
MOST_PRINTED = 8  # lines


def as_json(result: KernelsResult) -> str:
    """JSON; the same kernels give the same bytes but for ``timing``."""
    return dumps(result.model_dump(mode="json", by_alias=True))


def as_text(result: KernelsResult, width: int) -> str:
    """For a terminal, a pipe or a log."""
    return "\n".join([*_lines(result, width), ""])


def _lines(result: KernelsResult, width: int) -> Iterator[str]:
    yield f"{result.assignment}: the kernels of {one_line(result.submission.origin)}, in {result.where}"
    yield ""
    for text in result.problems:
        yield printable(text[:MOST_PROBLEM])
    names = max(len(kernel.title) for kernel in result.kernels)
    for kernel in result.kernels:
        share = f"{kernel.cases - len(kernel.failed_cases)}/{kernel.cases} cases" if kernel.cases else ""
        yield f"  {kernel.title:<{names}}  {words(kernel.verdict):<15}  {share}".rstrip()
    for kernel in result.kernels:
        if kernel.verdict not in ("pass", "blocked"):
            yield from _kernel(kernel, width)
    for kernel in result.kernels:
        for note in kernel.notes:
            yield from _wrapped(f"worth knowing ({kernel.function}): {note}", width, "")
    yield ""
    right = sum(kernel.verdict == "pass" for kernel in result.kernels)
    yield f"{right} of {len(result.kernels)} kernels are right; they cost no points (sandbox: {result.sandbox})"


def _kernel(kernel: KernelResult, width: int) -> Iterator[str]:
    yield ""
    yield f"{kernel.function}: {words(kernel.verdict)}"
    for mistake in kernel.mistakes:
        yield from _mistake(mistake, width)
    for evidence in kernel.evidence[:3]:
        if all(mistake.kind != "values" for mistake in kernel.mistakes):
            yield from _wrapped(f"{evidence.call}: {evidence.wrong} of {evidence.size} elements are wrong", width, "  ")
    printed = kernel.output.splitlines()[:MOST_PRINTED]
    if printed:
        yield "  it printed:"
        yield from (f"  | {one_line(line)}" for line in printed)


def _mistake(mistake: Mistake, width: int) -> Iterator[str]:
    yield from _wrapped(mistake.text, width, "  ")
    if mistake.hint:
        yield from _wrapped(f"hint: {mistake.hint}", width, "    ")
    if mistake.cases:
        more = f" and {len(mistake.cases) - 4} more" if len(mistake.cases) > 4 else ""
        yield from _wrapped(f"seen in {', '.join(mistake.cases[:4])}{more}", width, "    ")


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(
        printable(text), width, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False
    )
