"""The builds and probes of one grading: what runs, in the order in which results are wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from grader import advice, inference
from grader.assignment import Check
from grader.cuda.asked import NUMPY
from grader.engine import Built, CaseInput, Engine, Probed
from grader.errors import InfrastructureError
from grader.home import ROOT
from grader.judge import Judged, ending_of
from grader.options import Probing
from grader.progress import News
from grader.result import words
from grader.sanitize import Watch
from grader.stage import why_broken

if TYPE_CHECKING:
    from grader.cuda.look import Look
    from grader.grading import Grading


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
