"""A submission's CUDA kernels, and what an epoch takes on each backend, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from grader.result import KernelLine, Kernels, Result, words

TITLE = "CUDA kernels, at no points"
MOST_CASES = 4  # that are named
EPOCH = "one epoch on "  # of the names in `timing`; see grader.cuda.speed


def kernel_lines(result: Result) -> list[str]:
    """What there is to say of the kernels; what belongs to the line above begins with two spaces."""
    return [] if result.kernels is None else [*_all(result.kernels), *speed_lines(result)]


def speed_lines(result: Result) -> list[str]:
    """The time of an epoch by backend, in one line; none where nothing was timed."""
    times = {name.removeprefix(EPOCH): value for name, value in result.timing.items() if name.startswith(EPOCH)}
    told = ", ".join(f"{name} {_seconds(value)}" for name, value in sorted(times.items(), key=lambda pair: pair[1]))
    return [f"one epoch of the reference's network: {told}"] if told else []


def _seconds(value: float) -> str:
    return f"{value:.3f} s" if value < 1 else f"{value:.1f} s"


def _all(kernels: Kernels) -> Iterator[str]:
    yield f"{kernels.file}: {compiled(kernels)}{ran(kernels)}"
    yield from (f"  {error}" for error in kernels.errors)
    for line in kernels.kernels:
        yield f"{line.title}: {words(line.verdict)}{_cases(line)}"
        yield from (f"  {text}" for text in line.told)
    why = f", since {kernels.rows_why}" if kernels.rows_why and kernels.rows_why != kernels.not_on_gpu else ""
    yield f"the rows were judged on the backend {kernels.rows_on}{why}"
    yield from kernels.notes


def compiled(kernels: Kernels) -> str:
    """What nvcc makes of the file."""
    if kernels.compiled is None:
        return "not compiled"
    return f"{'compiles' if kernels.compiled else 'does not compile'} with {kernels.compiler}"


def ran(kernels: Kernels) -> str:
    """What it ran on, and why that was no GPU; nothing of what does not compile."""
    if kernels.compiled is False:
        return ""
    why = f": {kernels.not_on_gpu}" if kernels.not_on_gpu else ""
    if kernels.ran_on and why:
        return f", judged in {kernels.ran_on}, and not run on a GPU{why}"
    return f", run on {kernels.ran_on}" if kernels.ran_on else f", not run{why}"


def _cases(line: KernelLine) -> str:
    if not line.failed_cases:
        return f" ({line.cases} cases)" if line.cases else ""
    more = len(line.failed_cases) - MOST_CASES
    named = ", ".join(line.failed_cases[:MOST_CASES]) + (f" and {more} more" if more > 0 else "")
    return f" in {len(line.failed_cases)} of {line.cases} cases: {named}"
