"""A submission's compiled kernels on a GPU: the calls of `grader.kernels.cases`, judged as in the execution model."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from grader import tolerances
from grader.cuda import sanitizer
from grader.cuda.asked import CUDA, Asked
from grader.engine import Built, CaseInput, Probed
from grader.kernels import cases as kernel_cases
from grader.kernels.judge import judge
from grader.kernels.result import KernelResult
from grader.kernels.run import write_case
from grader.kernels.settings import Kernel, load
from grader.progress import News
from grader.result import KernelLine, words
from grader.sanitize.sentences import Source

if TYPE_CHECKING:
    from grader.run import Run

GPU = "gpu"


def line(result: KernelResult) -> KernelLine:
    """A kernel's result as it stands beside the rows."""
    return KernelLine(
        id=result.id,
        title=result.title,
        verdict=result.verdict,
        cases=result.cases,
        failed_cases=result.failed_cases,
        told=[f"{m.text} ({m.file}:{m.line})" if m.line else m.text for m in result.mistakes],
    )


class Trial:
    """The kernels on the GPU."""

    def __init__(self, run: Run, built: Built, asked: Asked, library: Path) -> None:
        self.run = run
        self.built = built
        self.asked = asked
        self.library = library
        self.kernels = load(run.assignment).kernels

    @cached_property
    def cases(self) -> dict[str, list[kernel_cases.KernelCase]]:
        """What each kernel is called with."""
        return {kernel.id: kernel_cases.build(kernel.id) for kernel in self.kernels}

    @cached_property
    def inputs(self) -> dict[str, list[CaseInput]]:
        """The same as files; each tool of compute-sanitizer takes them again."""
        folder = self.run.engine.work / "kernel-inputs"
        return {name: [write_case(folder, case) for case in cases] for name, cases in self.cases.items()}

    def device(self) -> tuple[str, str]:
        """The GPU's name as a box sees it; or why it cannot be used there."""
        check = self.asked.settings.check("gpu", GPU)
        probed = self.run.engine.probe(GPU, check, self.built, [CaseInput(GPU, {}, self.library)], {}, backend=CUDA)
        status = probed.statuses.get(GPU, {})
        if status.get("status") == "ok":
            return str(status.get("device"))[:200], ""
        return "", str(status.get("detail") or "the driver gave no answer")[:300]

    def all(self) -> list[KernelLine]:
        """Tries each kernel."""
        return [line(self._tried(kernel)) for kernel in self.kernels]

    def _tried(self, kernel: Kernel) -> KernelResult:
        self.run.grading.progress(News("begun", kernel.id))
        source = Source(self.asked.settings.source, (self.asked.source or b"").decode("utf-8", "replace"))
        result = judge(kernel, self.cases[kernel.id], self._probed(kernel), source, tolerances.load())
        self.run.grading.progress(News("ended", kernel.id, words(result.verdict)))
        return result

    def _probed(self, kernel: Kernel, through: list[str] | None = None, readable: list[Path] | None = None) -> Probed:
        options = {"library": str(self.library)}
        check = self.asked.settings.check("gpu_kernels", kernel.function)
        return self.run.engine.probe(
            f"kernel-{kernel.id}",
            check,
            self.built,
            self.inputs[kernel.id],
            {},
            options,
            [self.library, *(readable or [])],
            backend=CUDA,
            through=through or [],
        )

    def sanitized(self) -> list[str]:
        """What compute-sanitizer says of each kernel, or why it says nothing."""
        program = self.asked.nvcc.sanitizer if self.asked.nvcc else None
        if program is None:
            return ["compute-sanitizer could not look at them: it is not installed with the toolkit"]
        found: list[str] = []
        for tool in sanitizer.TOOLS:
            for kernel in self.kernels:
                probed = self._probed(kernel, sanitizer.command(program, tool), [program.parent])
                out = next(iter(probed.outputs.values())).parent
                told = sanitizer.read(out, tool, self.asked.settings.source)
                found += [f"compute-sanitizer ({tool}): {text}" for text in told]
                if not any(out.glob(f"{sanitizer.LOG}.{tool}.*.log")):
                    return [*found, f"compute-sanitizer could not be run: {_first(probed.outcome.output)}"]
        return list(dict.fromkeys(found)) or ["compute-sanitizer: clean"]


def _first(output: str) -> str:
    return next((text[:200] for text in output.splitlines() if text.strip()), "it gave no reason")
