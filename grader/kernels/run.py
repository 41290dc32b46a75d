"""Judging a submission's kernels in the execution model: build, calls, verdicts. No GPU, and no CUDA, is needed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from grader import __version__, tensorfile, tolerances
from grader.assignment import Assignment
from grader.engine import Built, CaseInput, Engine, Probed
from grader.home import ROOT
from grader.kernels import cases as kernel_cases
from grader.kernels.cases import ADDRESSED, KernelCase
from grader.kernels.judge import blocked, in_words, judge, lacking
from grader.kernels.result import KernelResult, KernelsResult
from grader.kernels.settings import ADDRESS, BUILD, MODEL, Kernel, as_assignment, load
from grader.layout import compile_drivers
from grader.parallel import processors
from grader.progress import News, Progress, silent
from grader.result import BuildInfo, SubmissionInfo
from grader.sandbox import Sandbox
from grader.sanitize.sentences import Source
from grader.stage import find_compiler, stage_files, version_of
from grader.submission import Taken
from grader.workplace import work_folder

MODEL_NAME = "the execution model on the host"


@dataclass(frozen=True)
class Options:
    """What the user may choose.

    Attributes:
        compiler: the C++ compiler; none: the first of g++, clang++, c++ that is there.
        only: ids of the kernels to try; none: all.
    """

    compiler: str | None = None
    only: Sequence[str] = ()


def run(
    assignment: Assignment, taken: Taken, sandbox: Sandbox, options: Options | None = None, progress: Progress = silent
) -> KernelsResult:
    """Judges the kernels of what was taken by `settings.Settings.submission`.

    Raises:
        UsageError: the assignment has no kernels.
        InfrastructureError: the machine cannot judge them.
    """
    options, settings, started = options or Options(), load(assignment), time.monotonic()
    wanted = [kernel for kernel in settings.kernels if not options.only or kernel.id in options.only]
    compiler = find_compiler(options.compiler, "C++")
    problems = list(taken.problems)
    results = [blocked(kernel, problems[0]) for kernel in wanted] if problems else []
    if not problems:
        with work_folder() as work, ThreadPoolExecutor(processors()) as pool:
            trial = Trial(as_assignment(assignment, settings), taken, sandbox, compiler, work, pool, progress)
            results = trial.all(wanted)
            problems = trial.problems
    return KernelsResult(
        grader=__version__,
        assignment=assignment.id,
        where=MODEL_NAME,
        sandbox=sandbox.name,
        submission=SubmissionInfo(
            origin=taken.origin, hashes=taken.hashes, ignored=taken.ignored, refused=taken.refused
        ),
        build=BuildInfo(compiler=compiler, version=version_of(compiler), flags=settings.builds[BUILD].flags),
        problems=problems,
        kernels=results,
        timing={"total": round(time.monotonic() - started, 3)},
    )


class Trial:
    """The kernels of one submission under way."""

    def __init__(
        self,
        assignment: Assignment,
        taken: Taken,
        sandbox: Sandbox,
        compiler: str,
        work: Path,
        pool: ThreadPoolExecutor,
        progress: Progress,
    ) -> None:
        self.assignment = assignment
        self.taken = taken
        self.work = work
        self.pool = pool
        self.progress = progress
        self.problems: list[str] = []
        stage = work / "stage"
        stage.mkdir()
        stage_files(assignment, taken, stage)
        compile_drivers(assignment)
        self.engine = Engine(assignment, sandbox, stage, work, compiler, hidden=(ROOT,))

    @property
    def source(self) -> Source:
        """The student's file."""
        name = self.assignment.submission.files[0]
        return Source(name, self.taken.files[name].decode("utf-8", "replace"))

    def all(self, wanted: Sequence[Kernel]) -> list[KernelResult]:
        """Builds, and tries every kernel."""
        self.progress(News("begun", "build"))
        model = {MODEL: self.engine.support(MODEL, [])}
        address = self.pool.submit(self.engine.build, ADDRESS, model)
        building = self.pool.submit(self.engine.build, BUILD, model)
        cases = {kernel.id: kernel_cases.build(kernel.id) for kernel in wanted}
        inputs = {case.id: write_case(self.work / "inputs", case) for made in cases.values() for case in made}
        if not (built := building.result()).report.ok:
            return self._not_built(built, wanted)
        self.progress(News("checks", count=len(wanted)))
        lacks = built.report.unavailable
        tried = [kernel for kernel in wanted if kernel.function not in lacks]
        chosen = [inputs[case.id] for kernel in tried for case in cases[kernel.id] if case.id in ADDRESSED]
        more = self.pool.submit(self._address, address.result(), chosen)
        probes = {k.id: self.pool.submit(self._probe, k, built, [inputs[c.id] for c in cases[k.id]]) for k in tried}
        results = [lacking(kernel, lacks[kernel.function]) for kernel in wanted if kernel.function in lacks]
        for kernel in tried:
            probed = probes[kernel.id].result()
            results.append(judge(kernel, cases[kernel.id], probed, self.source, tolerances.load(), more.result()))
            self.progress(News("ended", kernel.id, in_words(results[-1].verdict)))
        order = [kernel.id for kernel in wanted]
        return sorted(results, key=lambda result: order.index(result.id))

    def _address(self, built: Built, inputs: Sequence[CaseInput]) -> Probed | None:
        """What AddressSanitizer says of some cases; None where it is not there."""
        if not (built.report.ok and inputs):
            return None
        return self.engine.probe(ADDRESS, self.assignment.checks[ADDRESS], built, inputs, {})

    def _probe(self, kernel: Kernel, built: Built, inputs: Sequence[CaseInput]) -> Probed:
        self.progress(News("begun", kernel.id))
        return self.engine.probe(kernel.id, self.assignment.checks[kernel.id], built, inputs, {})

    def _not_built(self, built: Built, wanted: Sequence[Kernel]) -> list[KernelResult]:
        self.problems += built.report.lost("does not compile")
        return [blocked(kernel, "it does not compile") for kernel in wanted]


def write_case(folder: Path, case: KernelCase) -> CaseInput:
    """A case's arguments as a file: ``<call>.<function>.<position>.<kind>.<name>`` each."""
    path = folder / f"{case.id.replace('/', '-')}.safetensors"
    path.parent.mkdir(exist_ok=True)
    tensors = {
        f"{number:03d}.{call.function}.{position:02d}.{'array' if value.ndim else 'scalar'}.{name}": value
        for number, call in enumerate(case.calls)
        for position, (name, value) in enumerate(call.arguments)
    }
    tensorfile.write(path, tensors)
    return CaseInput(case.id, {}, path)
