"""Grading one submission: the one way through the house, from files to a result."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from grader import __version__, advice, inference, places, provenance, redact
from grader.assignment import Assignment, Check, Row
from grader.engine import Engine
from grader.explain.run import explain_failures
from grader.fixtures import FixtureCase, FixtureSet
from grader.home import ROOT
from grader.judge import Judge, Judged
from grader.layout import compile_drivers
from grader.options import Options, chosen
from grader.parallel import processors
from grader.progress import Progress
from grader.result import (
    BuildInfo,
    CheckResult,
    FixtureInfo,
    Kernels,
    Provenance,
    Result,
    SubmissionInfo,
)
from grader.run import Run
from grader.sandbox import Sandbox
from grader.stage import find_compiler, stage_files, version_of
from grader.submission import Taken
from grader.tolerances import Tolerances
from grader.transcript import transcript_of
from grader.workplace import require_executable, work_folder

if TYPE_CHECKING:
    pass


SoFar = Callable[[Result], None]
NOT_JUDGED_YET = "not judged yet"


class Grading:
    """One submission under way."""

    def __init__(
        self,
        assignment: Assignment,
        taken: Taken,
        fixtures: FixtureSet,
        sandbox: Sandbox,
        tolerances: Tolerances,
        options: Options,
        progress: Progress,
        so_far: SoFar | None = None,
    ) -> None:
        self.assignment = assignment
        self.taken = taken
        self.fixtures = fixtures
        self.sandbox = sandbox
        self.options = options
        self.progress = progress
        self.so_far = so_far
        self.rows = self._wanted()
        self.tolerances = tolerances
        self.judge = Judge(assignment, tolerances, values=fixtures.manifest.set == redact.PUBLIC)
        self.judged: dict[str, Judged] = {}
        self.timing: dict[str, float] = {}
        self.problems = list(taken.problems)
        self.advice: list[advice.Note] = []
        self.kernels: Kernels | None = None
        fixtures.require(assignment.cases_min())

    def _wanted(self) -> list[Row]:
        """The rows that were asked for; without those that train, where training is left out."""
        rows = [self.assignment.row(name) for name in self.options.rows] or list(self.assignment.rows)
        if self.options.training:
            return rows
        return [row for row in rows if not any(self.assignment.checks[c].training for c in row.checks)]

    @property
    def usable(self) -> bool:
        """Whether there is something to judge: where the assignment says so, one of several files is enough."""
        rules = self.assignment.submission
        lacking = tuple(name for name in rules.files if name not in self.taken.files)
        enough = rules.partial and len(lacking) < len(rules.files)
        return not self.problems or (enough and all(text.startswith(lacking) for text in self.problems))

    @property
    def checks(self) -> dict[str, Check]:
        """The checks that the wanted rows rest on, as far as they are made."""
        names = dict.fromkeys(check for row in self.rows for check in row.checks)
        return {name: self.check(name) for name in names if self.made(name)}

    def seen(self, name: str) -> bool:
        """Whether students see what comes of a check."""
        return redact.seen(self.assignment.checks[name].visibility, self.options.after_due)

    def made(self, name: str) -> bool:
        """Whether a check is made: what is not shown is left out where nobody is to see it."""
        return self.options.unseen or self.seen(name)

    def check(self, name: str) -> Check:
        """A check, as it is to be run now."""
        return self.options.changed_checks.get(name, self.assignment.checks[name])

    def run(self) -> Result:
        """Grades; the result has a verdict for every row."""
        started = time.monotonic()
        build: BuildInfo | None = None
        if self.usable:
            build = self._in_work_folder()
        explain_failures(self)
        reason = self.problems[0].split(":")[0] if self.problems else ""
        for name in self.checks:
            self.judged.setdefault(name, Judged("blocked", detail=reason))
        self.timing["total"] = time.monotonic() - started
        return self._result(build, self.judged)

    def _in_work_folder(self) -> BuildInfo | None:
        compiler = find_compiler(self.options.compiler) if self.assignment.submission.language == "c" else ""
        with work_folder() as work, ThreadPoolExecutor(processors()) as pool:
            if compiler:
                require_executable(work)
            stage = work / "stage"
            stage.mkdir()
            stage_files(self.assignment, self.taken, stage)
            hidden = (ROOT, self.fixtures.folder.resolve(), *self.options.hidden)
            kernels = self.options.kernels
            equipped = kernels.equipped(self.assignment) if kernels else self.assignment
            engine = Engine(equipped, self.sandbox, stage, work, compiler, self.options.flags, hidden)
            compile_drivers(self.assignment)
            run = Run(self, engine, pool)
            try:
                run.all()
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
            flags = [*self.assignment.builds["plain"].flags, *self.options.flags]
            return BuildInfo(compiler=compiler, version=version_of(compiler), flags=flags) if compiler else None

    def cases(self, name: str) -> list[FixtureCase]:
        """The cases of a check, or those that stand in for them."""
        replaced = self.options.replaced.get(name)
        return [replaced] if replaced else self.fixtures.cases(self.check(name).cases_of or name)

    def tell_so_far(self) -> None:
        """Hands out the result as it is now, to whoever wants to have it should grading be stopped."""
        if self.so_far is None:
            return
        waiting = {name: Judged("blocked", detail=NOT_JUDGED_YET) for name in self.checks if name not in self.judged}
        result = self._result(None, {**self.judged, **waiting})
        problem = f"grading has not ended: what is `{NOT_JUDGED_YET}` counts 0"
        self.so_far(result.model_copy(update={"complete": False, "problems": [*result.problems, problem]}))

    def _result(self, build: BuildInfo | None, judged: Mapping[str, Judged]) -> Result:
        results = {name: self._check_result(name, found) for name, found in judged.items()}
        left_out = [name for row in self.rows for name in row.checks if not self.made(name)]
        results |= {name: redact.untold(name, self.assignment.checks[name]) for name in left_out}
        rows = inference.scored(self.assignment, self.rows, results)
        return Result(
            grader=__version__,
            assignment=self.assignment.id,
            title=self.assignment.title,
            score=sum(row.points for row in rows),
            max_score=sum(row.max_points for row in rows),
            complete=len(rows) == len(self.assignment.rows),
            sandbox=self.sandbox.name,
            fixtures=FixtureInfo(
                set=self.fixtures.manifest.set, seed=self.fixtures.manifest.seed, digest=self.fixtures.digest
            ),
            submission=SubmissionInfo(
                origin=self.taken.origin,
                hashes=self.taken.hashes,
                ignored=self.taken.ignored,
                refused=self.taken.refused,
            ),
            build=build,
            problems=self.problems,
            rows=rows,
            advice=[note.record() for note in self.advice],
            kernels=self.kernels,
            transcript=transcript_of(self.assignment, judged) if self.judge.values else "",
            provenance=self._provenance(),
            options=chosen(self.options),
            machine=provenance.of_machine(),
            timing={name: round(seconds, 3) for name, seconds in list(self.timing.items())},
        )

    def _provenance(self) -> Provenance:
        """What decides this result; the seeds of public cases alone are told."""
        public = self.fixtures.public
        cases = [case for name in self.checks for case in self.cases(name)] if public else []
        return provenance.of_run(self.assignment, self.tolerances, cases, self.options.replaced)

    def _check_result(self, name: str, judged: Judged) -> CheckResult:
        """The check as it stands in the result, with the place in the student's files."""
        check = self.check(name)
        place = places.find(self.taken, check.at or check.function)
        result = self.judge.result(name, check, judged)
        return result.model_copy(update={"file": place.file, "line": place.line}) if place else result
