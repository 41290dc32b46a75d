"""Grading one submission: the one way through the house, from files to a result."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from grader import __version__, advice, inference, places, provenance, redact
from grader.assignment import Assignment, Check, Row
from grader.cuda.asked import NUMPY, Asked
from grader.engine import Built, CaseInput, Engine, Follow, Probed
from grader.errors import InfrastructureError
from grader.explain.levels import DEFAULT, Level
from grader.explain.run import explain_failures
from grader.fixtures import FixtureCase, FixtureSet
from grader.framework import OURS
from grader.home import ROOT
from grader.judge import Judge, Judged, ending_of
from grader.layout import compile_drivers
from grader.parallel import processors
from grader.progress import News, Progress
from grader.result import (
    BuildInfo,
    CheckResult,
    Chosen,
    FixtureInfo,
    Kernels,
    Provenance,
    Result,
    SubmissionInfo,
    words,
)
from grader.sandbox import Sandbox
from grader.sanitize import Watch
from grader.stage import find_compiler, stage_files, version_of, why_broken
from grader.submission import Taken
from grader.tolerances import Tolerances
from grader.transcript import transcript_of
from grader.workplace import require_executable, work_folder

if TYPE_CHECKING:
    from grader.cuda.look import Look


@dataclass(frozen=True)
class Probing:
    """A probe that is about to run.

    Attributes:
        check: the check's id.
        how: the check, as it is run.
        cases: what it is run on.
        own: operators that are left to the student where ours would be interposed.
    """

    check: str
    how: Check
    cases: Sequence[FixtureCase]
    own: Sequence[str]


Around = Callable[[Probing, Callable[[], Probed]], Probed]


@dataclass(frozen=True)
class Options:
    """What the user may choose.

    Attributes:
        rows: ids of the rows to grade; none: all.
        compiler: the compiler; none: the first of gcc, clang, cc that is there.
        flags: appended to the flags of the submission's builds.
        second_look: whether to build as the Makefile does too, for advice.
        sanitize: whether the sanitizers look at what passes too.
        training: whether to make the checks that train for real.
        replaced: cases that stand in for a check's own, e.g. the real 124M files.
        probe_options: options handed to a check's probe, and files it may read on top.
        changed_checks: checks that run otherwise than the assignment says, e.g. on real files.
        follow: who is told of a check's progress.
        unseen: whether to make the checks that students do not see.
        after_due: whether students see those that they see after the due date.
        explain: how much is told of a failure's cause.
        full: whether training goes on to the end; `with_training` has done it, and the result says so.
        backend: the backend that was asked for; `with_backend` has done it, and the result says so.
        framework: whose framework it is; the same.
        real_files: whether a check runs on files that the user brought; `with_real_files` has done it.
        hidden: folders that no box may see, beside the fixtures and the repository.
        around: called in place of each probe, and calls it: for who looks at outcomes, or has them already.
        kernels: the look at the submission's CUDA kernels; none: they are left alone.
    """

    rows: Sequence[str] = ()
    compiler: str | None = None
    flags: Sequence[str] = ()
    second_look: bool = True
    training: bool = True
    sanitize: bool = False
    replaced: Mapping[str, FixtureCase] = field(default_factory=dict)
    probe_options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    changed_checks: Mapping[str, Check] = field(default_factory=dict)
    follow: Mapping[str, Follow] = field(default_factory=dict)
    unseen: bool = False
    after_due: bool = False
    explain: Level = DEFAULT
    full: bool = False
    backend: str | None = None
    framework: str = OURS
    real_files: bool = False
    hidden: Sequence[Path] = ()
    around: Around | None = None
    kernels: Asked | None = None


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
            options=_chosen(self.options),
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


def _chosen(options: Options) -> Chosen:
    return Chosen(
        rows=list(options.rows),
        compiler=options.compiler,
        flags=list(options.flags),
        second_look=options.second_look,
        sanitize=options.sanitize,
        training=options.training,
        full=options.full,
        real_files=options.real_files,
        explain=options.explain,
        staff=options.unseen,
        after_due=options.after_due,
        backend=options.backend,
        framework=options.framework,
    )


class Run:
    """The builds and probes of one grading, spread over the processors."""

    def __init__(self, grading: Grading, engine: Engine, pool: ThreadPoolExecutor) -> None:
        self.grading = grading
        self.engine = engine
        self.pool = pool
        self.assignment = grading.assignment
        self.supports: dict[str, Path] = {}
        self.stood_in: dict[str, tuple[str, Judged]] = {}  # by check, the one that stands in for it, and how it failed
        self.aside = {look for row in grading.rows for look in row.looks}  # advice is about no backend

    def all(self) -> None:
        """Everything, in the order in which results are wanted: build, rows, inference, advice."""
        self.grading.progress(News("begun", "build"))
        plain = self.pool.submit(self.engine.build, "plain")
        supports = {name: self.pool.submit(self.engine.support, name, []) for name in self._supports_needed()}
        second = self._second_build()
        built = plain.result()
        self.grading.timing["build"] = built.seconds
        if not built.report.ok:
            self._not_built(built)
            return
        loading = built.report.loading
        if loading and (ended := ending_of(loading)) is not None:  # so would every check end, each in its whole time
            self.grading.judged |= {name: Judged(ended[0], detail=ended[1]) for name in self.grading.checks}
            return
        self.supports = {name: future.result() for name, future in supports.items()}
        self._notes(built)
        look = self._look_at_kernels()
        if look is not None:
            look.before_rows(built)
        self._probe_all(built)
        if look is not None:
            look.judge_again(built)
        inference.infer(self, built)
        inference.blame(self)
        watch = Watch(self, self.assignment.sanitizers) if self.assignment.sanitizers else None
        if second is not None or (watch is not None and watch.checks):
            self.grading.progress(News("begun", "a second look"))
        if watch is not None:
            watch.start()
        notes = advice.second_look(self, second.result()) if second is not None else []
        self.grading.advice += notes
        if watch is not None:
            self.grading.advice += watch.notes([note.check for note in notes])
        if look is not None:
            self.grading.kernels = look.end(built)

    def _look_at_kernels(self) -> Look | None:
        if self.grading.options.kernels is None:
            return None
        from grader.cuda.look import Look  # few gradings need it

        return Look(self, self.grading.options.kernels)

    def again(self, name: str, built: Built) -> Judged:
        """Probes a check once more, as it is probed for its row."""
        return self._probe_or_instead(name, self.grading.check(name), built, ())

    def _supports_needed(self) -> list[str]:
        return list(dict.fromkeys(s for check in self.grading.checks.values() for s in check.support))

    def _second_build(self) -> Future[Built] | None:
        look = self.assignment.advice
        if not self.grading.options.second_look or look is None:
            return None
        return self.pool.submit(self.engine.build, look.build)

    def _not_built(self, built: Built) -> None:
        if self.engine.compiler and (broken := why_broken(self.engine.compiler)):
            raise InfrastructureError(broken)
        self.grading.problems += built.report.lost("does not compile" if self.engine.compiler else "cannot be imported")

    def _notes(self, built: Built) -> None:
        self.grading.advice += [advice.Note("build", text) for text in built.report.notes]
        self.grading.problems += [text for text in built.report.problems if text not in self.grading.problems]
        if (problem := built.report.unavailable.get("model")) is not None:
            self.grading.problems.append(problem)

    def _probe_all(self, built: Built) -> None:
        unavailable = built.report.unavailable
        own = inference.declared_otherwise(built) if self.assignment.submission.language == "c" else []
        waiting: dict[str, Future[Judged]] = {}
        self.grading.progress(News("checks", count=len(self.grading.checks)))
        for name, check in self.grading.checks.items():
            missing = [part for part in check.needs if part in unavailable]
            if missing:
                detail = f"{missing[0]}: {unavailable[missing[0]]}"
                self.grading.judged[name] = Judged("blocked", detail=detail)
                self.grading.progress(News("ended", name, words("blocked")))
            else:
                waiting[name] = self.pool.submit(self._followed, name, check, built, own)
        looks = advice.start_looks(self, built)
        for name, future in waiting.items():
            judged = self.grading.judged[name] = future.result()
            self.grading.advice += [advice.Note(name, text) for text in judged.advice]
            self.grading.tell_so_far()
        self.grading.advice += advice.looked_at(self.grading, looks)

    def _followed(self, name: str, check: Check, built: Built, own: Sequence[str]) -> Judged:
        """Probes a check, and tells when that begins and ends."""
        self.grading.progress(News("begun", name))
        judged = self._probe_or_instead(name, check, built, own)
        self.grading.progress(News("ended", name, words(judged.verdict)))
        return judged

    def _probe_or_instead(self, name: str, check: Check, built: Built, own: Sequence[str]) -> Judged:
        """Probes a check and, where it fails, what may stand in for it: the first that passes, or else the last."""
        judged = first = self._probe_in_its_build(name, check, built, own)
        for other in check.instead:
            if judged.verdict == "pass":
                break
            judged = self.probe(other, self.grading.check(other), built, own)
            if judged.verdict == "pass":
                judged.detail = self.grading.check(other).title
                self.stood_in[name] = other, first
        return judged

    def _probe_in_its_build(self, name: str, check: Check, plain: Built, own: Sequence[str]) -> Judged:
        """Probes a check in the build that it names; the plain one is there already."""
        if check.build == "plain":
            return self.probe(name, check, plain, own)
        built = self.engine.build(check.build)
        if not built.report.ok:
            return Judged("blocked", detail=f"it does not compile with {' '.join(built.report.flags)}")
        return self.probe(name, check, built, own)

    def probe(self, name: str, check: Check, built: Built, own: Sequence[str] = (), timed: bool = True) -> Judged:
        """Runs and judges one check; ``own`` operators are left to the student where ours are interposed."""
        cases = self.grading.cases(name)

        def run() -> Probed:
            return self.probed(name, check, built, own)

        around = self.grading.options.around
        probed = around(Probing(name, check, cases, own), run) if around else run()
        if timed:
            self.grading.timing[name] = probed.seconds
        return self.grading.judge.check(name, check, cases, probed, inference.left_to_the_student(built))

    def probed(
        self,
        name: str,
        check: Check,
        built: Built,
        own: Sequence[str] = (),
        support: Mapping[str, str] = MappingProxyType({}),
    ) -> Probed:
        """Runs one check, for whoever wants to look at what comes of it; ``support``: builds in place of others."""
        cases = self.grading.cases(name)
        for case in cases:
            case.check_inputs()
        inputs = [CaseInput(case.id, case.entry.params, case.inputs_path) for case in cases]
        supports = {s: self.support(support.get(s, s), own) for s in check.support}
        files = {option: str(ROOT / path) for option, path in check.files.items()}
        options = {**files, **self.grading.options.probe_options.get(name, {})}
        readable = [Path(path) for path in options.values()]
        follow = self.grading.options.follow.get(name)
        backend = NUMPY if name in self.aside and self.engine.backend else None
        return self.engine.probe(name, check, built, inputs, supports, options, readable, follow, backend)

    def support(self, name: str, own: Sequence[str] = ()) -> Path:
        """A build of our own, made before or now; ``own`` functions are left to the student."""
        return self.engine.support(name, own) if own or name not in self.supports else self.supports[name]
