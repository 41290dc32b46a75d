"""When the sanitizers are run, on which checks, and what is told of it. Advice, unless a policy says otherwise."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from grader import inference
from grader.advice import Note
from grader.assignment import Memory, Races, Sanitizers
from grader.engine import Built, Probed
from grader.errors import InfrastructureError
from grader.result import Explanation
from grader.sanitize.reports import Report, parse, plain, read_places, unusable
from grader.sanitize.sentences import Source, sentence

if TYPE_CHECKING:
    from grader.run import Run

MOST_TOLD = 4  # sentences of one check
WATCHED = ("fail", "crashed")  # verdicts after which memory is looked at unasked


@dataclass(frozen=True)
class Found:
    """What a tool has found in some checks.

    Attributes:
        kind: the kind of explanation.
        told: sentences by check.
        looked_at: how many checks it was run on.
        failed: why it could not look at all of them.
    """

    kind: Literal["memory", "race"]
    told: Mapping[str, list[str]]
    looked_at: int = 0
    failed: str = ""


class Watch:
    """The sanitizers' part in one grading."""

    def __init__(self, run: Run, rules: Sanitizers) -> None:
        self.run = run
        self.rules = rules
        self.asked = run.grading.options.sanitize
        self.unasked = run.grading.options.second_look and run.grading.options.explain != "none"
        name = run.assignment.submission.files[0]
        blob = run.grading.taken.files.get(name, b"")
        self.source = Source(name, blob.decode("utf-8", "replace").removeprefix("\ufeff"))
        self.threads = re.search(rules.races.marks, self.source.text) is not None
        self.memory: Future[Built] | None = None
        self.checks = self._suspects()

    def _suspects(self) -> list[str]:
        """The checks whose memory is looked at: what failed, or all where that was asked for.

        A line is told of once. What students do not see is not looked at, since it would take that from what they see.
        """
        wanted = (*WATCHED, "pass") if self.asked else WATCHED if self.unasked else ()
        judged, replaced = self.run.grading.judged, self.run.grading.options.replaced
        return [
            name
            for name in self.run.grading.checks
            if judged[name].verdict in wanted and not judged[name].inferred and name not in replaced
            if self.run.grading.seen(name)
        ]

    def start(self) -> None:
        """Begins to build, so that other looks need not wait for it."""
        if self.checks:
            self.memory = self.run.pool.submit(self.run.engine.build, self.rules.memory.build)

    def notes(self, doubtful: Sequence[str]) -> list[Note]:
        """What there is to say; ``doubtful`` checks came out otherwise with threads and the Makefile's flags."""
        started = time.monotonic()
        memory, races = self._memory(), self._races(doubtful)
        notes = [note for found in (memory, races) for note in self._advice(found)]
        notes += [Note("sanitize", found.failed) for found in (memory, races) if found.failed]
        if self.asked and not (notes or memory.told or races.told):
            notes.append(Note("sanitize", self._clean(memory, races)))
        if memory.looked_at or races.looked_at:
            self.run.grading.timing["sanitizers"] = time.monotonic() - started
        return notes

    def _advice(self, found: Found) -> list[Note]:
        """What was found in checks that have passed. To one that has not, it is the explanation."""
        notes = []
        for name, texts in found.told.items():
            judged = self.run.grading.judged[name]
            if judged.verdict == "pass":
                notes += [Note(name, text) for text in texts]
            else:
                judged.found += [_explanation(found.kind, text) for text in texts]
        return notes

    def _clean(self, memory: Found, races: Found) -> str:
        threads = f"{races.looked_at} of them with threads" if self.threads else "it starts no threads"
        return f"sanitizers: clean ({memory.looked_at} checks; {threads})"

    def _memory(self) -> Found:
        if self.memory is None:
            return Found("memory", {})
        return self._look(self.rules.memory, self.memory, self.checks)

    def _races(self, doubtful: Sequence[str]) -> Found:
        judged, races = self.run.grading.judged, self.rules.races
        costly = [c for row in self.run.grading.rows if row.id in races.costs for c in row.checks]
        checks = [
            name
            for name in races.checks
            if name in self.run.grading.checks
            and self.run.grading.seen(name)
            and (self.asked or name in doubtful or name in costly)
            and judged[name].verdict in ("pass", "fail")
            and not judged[name].inferred
            and name not in self.run.grading.options.replaced
        ]
        if not self.threads or not checks:
            return Found("race", {})
        found = self._look(races, self._build_of_races(), checks)
        if costly and found.failed:
            raise InfrastructureError(f"the rows {', '.join(races.costs)} depend on races; {found.failed}")
        for name in set(costly) & set(found.told):
            judged[name].verdict, judged[name].detail = "fail", found.told[name][0]
        return found

    def _build_of_races(self) -> Future[Built] | None:
        name = self.rules.races.build
        compiler = self.run.assignment.builds[name].compiler
        if compiler is not None and shutil.which(compiler) is None:
            return None
        return self.run.pool.submit(self.run.engine.build, name)

    def _look(self, rules: Memory | Races, build: Future[Built] | None, checks: Sequence[str]) -> Found:
        """Probes the checks in a build with a sanitizer and reads its reports."""
        kind: Literal["memory", "race"] = "memory" if isinstance(rules, Memory) else "race"
        missing = f"{rules.title} could not look at it; that needs {rules.needs}"
        try:
            built = build.result() if build is not None else None
            if built is None or not built.report.ok:
                error = self._error(built)
                return Found(kind, {}, failed=f"{rules.title} could not look at it: {error}" if error else missing)
            grading, lacking = self.run.grading, built.report.unavailable
            usable = [name for name in checks if not any(p in lacking for p in grading.check(name).needs)]
            futures = {n: self.run.pool.submit(self._probe, n, built, rules) for n in usable}
            probed = {name: future.result() for name, future in futures.items()}
        except InfrastructureError as error:
            return Found(kind, {}, failed=f"{rules.title} could not be run: {error}")
        seen: set[int] = set()
        told = {name: texts for name, one in probed.items() if (texts := self._told(one, seen))}
        why = next((why for one in probed.values() if (why := _unusable(one))), "")
        ended = [name for name, one in probed.items() if not self._ended(name, one)]
        why = why or (f"it came to no end with {', '.join(ended)}" if ended else "")
        return Found(kind, told, len(usable), f"{rules.title} could not look at all of it: {why}" if why else "")

    def _error(self, built: Built | None) -> str:
        """What the tool's compiler says against the student's file, which another has compiled; empty: nothing."""
        lines = built.report.messages.splitlines() if built is not None else []
        found = next((line for line in lines if line.startswith(self.source.name) and "error: " in line), "")
        return plain(f"it does not compile with {built.report.compiler}: {found}") if built and found else ""

    def _ended(self, name: str, probed: Probed) -> bool:
        """Whether each case came to its end, or to a report: one that did not may have hidden something."""
        if any(parse(str(s.get("report", "")), {}, [self.source.name]) for s in probed.statuses.values()):
            return True
        ended = [probed.statuses.get(case.id, {}).get("status") for case in self.run.grading.cases(name)]
        return all(status is not None and status != "timed_out" for status in ended)

    def _probe(self, name: str, built: Built, rules: Memory | Races) -> Probed:
        check = self.run.grading.check(name)
        changed = check.model_copy(update={"limits": self.rules.limits, "build": rules.build})
        support = rules.support if isinstance(rules, Memory) else {}
        return self.run.probed(name, changed, built, inference.declared_otherwise(built), support)

    def _told(self, probed: Probed, seen: set[int]) -> list[str]:
        """A sentence for each line of the student's that is reported, and that no check before has told of."""
        reports: dict[int, Report] = {}
        for status in probed.statuses.values():
            places = read_places(status.get("places"))
            for report in parse(str(status.get("report", "")), places, [self.source.name]):
                reports.setdefault(report.frame.line if report.frame else 0, report)
        new = [reports[line] for line in sorted(reports) if line not in seen]  # in threads' order they differ each time
        seen.update(line for line in reports if line)
        return list(dict.fromkeys(sentence(report, self.source) for report in new))[:MOST_TOLD]


def _unusable(probed: Probed) -> str:
    """Why the tool itself could not begin; empty where it did."""
    return next((why for s in probed.statuses.values() if (why := unusable(str(s.get("report", ""))))), "")


def _explanation(kind: Literal["memory", "race"], text: str) -> Explanation:
    return Explanation(kind=kind, text=text, hint="", fault=None, tensors=[], cases=[])
