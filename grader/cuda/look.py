"""A look at a submission's CUDA kernels while its rows are graded. Whatever comes of it costs no points."""

from __future__ import annotations

import re
from concurrent.futures import Future
from typing import TYPE_CHECKING

from grader import statuses
from grader.cuda import gpu as on_gpu
from grader.cuda import speed
from grader.cuda.asked import CUDA, NUMPY, Asked
from grader.cuda.machine import NO_NVCC, Gpu
from grader.engine import Built, CaseInput, Probed
from grader.errors import InfrastructureError
from grader.progress import News
from grader.result import Kernels, words

if TYPE_CHECKING:
    from grader.run import Run

COMPILE = "nvcc"
MOST_ERRORS = 20
MOST_LINE = 300  # characters
# nvcc's own form: src/combine.cu(12): error: …; the host compiler's: src/combine.cu:12:5: error: …
_NVCC_LINE = re.compile(
    r"^(?P<file>[^\s(:]+)\((?P<line>\d+)\): (?P<kind>(?:catastrophic |fatal )?error)(?: #[\w-]+)?: (?P<text>.+)$"
)
_HOST_LINE = re.compile(r"^(?P<file>[^\s(:]+):(?P<line>\d+):(?:\d+:)? (?P<kind>(?:fatal )?error): (?P<text>.+)$")


def errors(messages: str) -> list[str]:
    """nvcc's errors as ``file:line: error: text``; what has no such form, as it stands, where nothing else is said."""
    found = []
    for line in messages.splitlines():
        if match := _NVCC_LINE.match(line) or _HOST_LINE.match(line):
            found.append(f"{match['file']}:{match['line']}: {match['kind']}: {match['text']}"[:MOST_LINE])
    plain = [line[:MOST_LINE] for line in messages.splitlines() if line.strip()]
    return list(dict.fromkeys(found))[:MOST_ERRORS] or plain[:3] or ["nvcc gave no reason"]


class Look:
    """The look in one grading.

    Attributes:
        record: what is known so far.
    """

    def __init__(self, run: Run, asked: Asked) -> None:
        self.run = run
        self.asked = asked
        self.settings = asked.settings
        self.compiling: Future[Probed | None] | None = None
        self.record = Kernels(
            file=self.settings.source,
            sha256=asked.sha256,
            compiled=None,
            compiler=f"nvcc {asked.nvcc.version}" if asked.nvcc else "",
            errors=[],
            ran_on="",
            not_on_gpu="",
            rows_on=NUMPY,
            rows_why="",
            kernels=[],
            notes=[],
        )
        if asked.brought:
            self._note(f"{self.settings.library} was handed in, and is not used: kernels are compiled here")

    def _set(self, **changes: object) -> None:
        self.record = self.record.model_copy(update=changes)

    def _note(self, text: str) -> None:
        self._set(notes=[*self.record.notes, text])

    def before_rows(self, built: Built) -> None:
        """Compiles the kernels and, where there is a GPU, tries them; right ones are what the rows run on."""
        self.run.grading.progress(News("begun", "kernels"))
        if isinstance(self.asked.gpu, Gpu):
            self._settle(built, self._compiled(built))
        else:
            self.compiling = self.run.pool.submit(self._compiled, built)

    def _settle(self, built: Built, probed: Probed | None) -> None:
        """What follows from nvcc's outcome."""
        why = self._why_not_on_gpu(probed)
        self._set(not_on_gpu=why, rows_why=why)
        if probed is None or why or isinstance(self.asked.gpu, str):
            return
        self.run.engine.gpu = self.asked.gpu
        self._on_gpu(built, probed)

    def _why_not_on_gpu(self, compiled: Probed | None) -> str:
        if compiled is None:
            return self.asked.problem or NO_NVCC
        if not self.record.compiled:
            return "they do not compile"
        return "" if isinstance(self.asked.gpu, Gpu) else self.asked.gpu

    def _compiled(self, built: Built) -> Probed | None:
        """nvcc's outcome; None: there is nothing to compile, or nothing to compile it with."""
        nvcc, source = self.asked.nvcc, self.asked.source
        if nvcc is None or source is None:
            return None
        staged = self.run.engine.stage / self.settings.source
        staged.parent.mkdir(parents=True, exist_ok=True)
        staged.write_bytes(source)
        flags = [*self.settings.flags, *(["-lineinfo"] if self.asked.sanitize else [])]
        options = {"nvcc": str(nvcc.program), "flags": " ".join(flags), "source": self.settings.source}
        probed = self.run.engine.probe(
            COMPILE,
            self.settings.check("nvcc", self.settings.source),
            built,
            [CaseInput(COMPILE, {}, staged)],
            {},
            options,
            nvcc.readable,
        )
        self.run.grading.timing["kernels compiled"] = probed.seconds
        status = probed.statuses.get(COMPILE, {})
        compiled = status.get("status") == "ok"
        said = str(status.get("messages") or status.get("detail") or "")
        self._set(compiled=compiled, errors=[] if compiled else errors(said))
        return probed

    def _on_gpu(self, built: Built, compiled: Probed) -> None:
        """Tries the kernels on the GPU; where all are right, the rows run on them."""
        library = compiled.outputs[COMPILE].parent / "combine.so"
        trial = on_gpu.Trial(self.run, built, self.asked, library)
        device, problem = trial.device()
        if problem:
            why = f"a GPU is there, and cannot be used: {problem}"
            self._set(not_on_gpu=why, rows_why=why)
            return
        lines = trial.all()
        self._set(ran_on=device, kernels=lines)
        for text in trial.sanitized() if self.asked.sanitize else []:
            self._note(text)
        wrong = [line.id for line in lines if line.verdict != "pass"]
        if wrong:
            self._set(rows_why=f"the kernels are not right: {', '.join(wrong)}")
        elif self.asked.lacking:
            self._set(rows_why=self.asked.lacking)
        else:
            target = self.run.engine.stage / self.settings.library
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(statuses.read_bounded(library))
            self.run.engine.backend = CUDA
            self._set(rows_on=CUDA, rows_why="")

    def judge_again(self, built: Built) -> None:
        """Has NumPy answer where a check fails on the kernels: rows are about what runs on them."""
        if self.run.engine.backend != CUDA:
            return
        self.run.engine.backend = None
        judged = self.run.grading.judged
        for name in [name for name, found in judged.items() if found.verdict not in ("pass", "blocked")]:
            before = judged[name]
            judged[name] = self.run.again(name, built)
            if judged[name].verdict == "pass":
                detail = f": {before.detail}" if before.detail else ""
                self._note(f"{name} passes on NumPy, and on the kernels: {words(before.verdict)}{detail}")

    def end(self, built: Built) -> Kernels:
        """What else can be told: the kernels in the execution model where no GPU was there, and what an epoch takes."""
        if self.compiling is not None:
            self._settle(built, self.compiling.result())
        if self.asked.source is not None and self.record.compiled is not False and not self.record.ran_on:
            self._in_model()
        measured = speed.measure(self.run, built, self.settings, self.record.rows_on == CUDA)
        self.run.grading.timing |= {speed.key(name): seconds for name, seconds in measured.items()}
        return self.record

    def _in_model(self) -> None:
        """Judges the kernels without a GPU; a machine that cannot do that is told, and is no error."""
        from grader.kernels.run import run as judge
        from grader.kernels.settings import load
        from grader.submission import take

        grading = self.run.grading
        known = load(grading.assignment)
        taken = take(self.asked.origin, known.submission, self.run.engine.stage)
        try:
            found = judge(grading.assignment, taken, grading.sandbox, progress=grading.progress)
        except InfrastructureError as error:
            self._note(f"the kernels could not be judged without a GPU: {error}")
            return
        if not found.problems:
            self._set(ran_on=found.where, kernels=[on_gpu.line(kernel) for kernel in found.kernels])
        elif not self.record.errors:
            self._set(errors=errors("\n".join(found.problems)))
