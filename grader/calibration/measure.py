"""Measuring: every sample through the grader, every fault of the dictionary against what is right."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from grader import faults as dictionary
from grader import submission as submissions
from grader import tensorfile, tolerances
from grader.assignment import Assignment
from grader.calibration.limits import Place, Written, is_exact, nominal
from grader.calibration.samples import Sample
from grader.cases import Case
from grader.compare import compare
from grader.fixtures import FixtureCase, FixtureSet
from grader.grading import Grading
from grader.home import ROOT
from grader.options import Options
from grader.parallel import spread
from grader.result import Result
from grader.sandbox import Sandbox
from grader.tolerances import Evidence, Limit
from grader.workplace import work_folder

FACTOR = 5.0  # a limit keeps this far from right and from wrong
TOUCHED = 1 / FACTOR  # of a limit: what a mistake moves by less, it does not move


@dataclass(frozen=True)
class Seen:
    """One error that was seen: of which limit and tensor, by what, and how large as a share of that limit."""

    place: Place
    tensor: str
    source: str
    wrong: bool
    share: float


@dataclass
class Measured:
    """All that was seen of one limit.

    Attributes:
        place: where it is written.
        limit: what it is.
        judged: whether a point rests on it; some tensors are shown alone.
        honest: the errors of right code, as shares of the limit.
        wrong: those of wrong code.
    """

    place: Place
    limit: Limit
    judged: bool
    honest: dict[str, float] = field(default_factory=dict)
    wrong: dict[str, float] = field(default_factory=dict)

    @property
    def largest_honest(self) -> float:
        """The largest error of right code."""
        return max(self.honest.values(), default=0.0)

    @property
    def smallest_wrong(self) -> float | None:
        """The smallest error of wrong code that this tensor shows."""
        return min(self.wrong.values(), default=None)

    @property
    def below(self) -> float:
        """The margin to right code: how many times larger the limit is."""
        return 1 / self.largest_honest if self.largest_honest else math.inf

    @property
    def above(self) -> float | None:
        """The margin to wrong code; None where none is known."""
        return self.smallest_wrong

    @property
    def problems(self) -> list[str]:
        """Why it cannot stand: it lacks evidence, or room on a side."""
        if is_exact(self.limit):
            return []
        found = []
        if not self.honest:
            found.append("no right code was measured")
        elif self.below < FACTOR:
            found.append(f"right code comes within a factor {self.below:.1f}")
        if self.judged and self.above is None:
            found.append("no wrong code is known")
        elif self.above is not None and self.above < FACTOR:
            found.append(f"wrong code comes within a factor {self.above:.1f}")
        return found

    def evidence(self) -> Evidence:
        """As it is written into the file, in the limit's own metric."""
        unit = nominal(self.limit)
        honest_is = max(self.honest, key=lambda name: self.honest[name], default="")
        wrong_is = min(self.wrong, key=lambda name: self.wrong[name], default="")
        wrong = None if self.smallest_wrong is None else self.smallest_wrong * unit
        return Evidence(honest=self.largest_honest * unit, honest_is=honest_is, wrong=wrong, wrong_is=wrong_is)


class Calibration:
    """Measures an assignment's limits."""

    def __init__(self, assignment: Assignment, fixtures: FixtureSet, sandbox: Sandbox, rows: Sequence[str]) -> None:
        self.assignment = assignment
        self.fixtures = fixtures
        self.sandbox = sandbox
        self.rows = list(rows)
        self.tolerances = tolerances.load()
        self.written = Written(tolerances.PATH.read_text("utf-8"), assignment.id)

    def wanted(self, samples: Sequence[Sample]) -> list[Sample]:
        """Those that say something of the rows that are looked at."""
        return [sample for sample in samples if not self.rows or sample.row in ("", *self.rows)]

    def run(self, samples: Sequence[Sample], jobs: int, tell: Callable[[str], None]) -> list[Measured]:
        """Grades the samples and computes the faults; what was seen, in the order of the file."""

        def work(sample: Sample) -> list[Seen]:
            found = list(self._seen(sample, self.graded(sample)))
            tell(sample.name)
            return found

        parts = spread(work, samples, jobs)
        return self.collected([seen for part in parts for seen in part] + list(self.of_faults()))

    def collected(self, seen: Sequence[Seen]) -> list[Measured]:
        """What was seen, by limit; limits of which nothing was to be seen are there as well."""
        limits = self.tolerances.measured[self.assignment.id]
        found: dict[Place, Measured] = {}
        for place in self.written.places:
            if self._is_wanted(place):
                shown = self.assignment.checks[place.check].context
                found[place] = Measured(place, limits[place.check][place.tensor], place.tensor not in shown)
        largest: dict[tuple[Place, str, str, bool], float] = {}  # of a tensor's cases: one that shows it is enough
        for one in seen:
            key = (one.place, one.tensor, one.source, one.wrong)
            largest[key] = max(largest.get(key, 0.0), one.share)
        for (place, _, source, wrong), share in largest.items():
            if place in found and wrong:  # of several tensors under one limit, the one that comes nearest to it
                found[place].wrong[source] = min(found[place].wrong.get(source, math.inf), share)
            elif place in found:
                found[place].honest[source] = max(found[place].honest.get(source, 0.0), share)
        return list(found.values())

    def _is_wanted(self, place: Place) -> bool:
        rows = [row for row in self.assignment.rows if not self.rows or row.id in self.rows]
        checks = {check for row in rows for check in [*row.checks, *row.looks]}
        checks |= {other for check in checks for other in self.assignment.checks[check].instead}
        return place.check in checks

    # -- samples ------------------------------------------------------------------------------------------

    def graded(self, sample: Sample) -> Result:
        """The result of grading a sample; of a wrong one, its own row alone."""
        with work_folder() as folder:
            for name, text in sample.files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text, "utf-8")
            taken = submissions.take(folder, self.assignment.submission, ROOT / "student_template" / self.assignment.id)
            taken.files.update({name: text.encode() for name, text in sample.files.items()})  # the framework's, too
        rows = [sample.row] if sample.row else self.rows
        in_c = self.assignment.submission.language == "c"
        options = Options(
            rows=rows,
            compiler=sample.compiler,
            flags=sample.flags if in_c else (),
            second_look=False,
            training=False,
            unseen=True,
            explain="none",
        )
        assignment = _with_environment(self.assignment, sample.environment)
        grading = Grading(assignment, taken, self.fixtures, self.sandbox, self.tolerances, options, lambda _: None)
        return grading.run()

    def _seen(self, sample: Sample, result: Result) -> Iterator[Seen]:
        """The measured errors of a result."""
        for row in result.rows:
            for check in row.checks if not sample.row or row.id == sample.row else []:
                if self.assignment.checks[check.id].official:
                    continue
                for found in check.evidence:
                    place = self.written.place(check.id, found.tensor)
                    if place is not None and found.error is not None and found.limit > 0:
                        yield from _counted(
                            Seen(place, found.tensor, sample.name, bool(sample.row), found.error / found.limit)
                        )

    # -- the dictionary -----------------------------------------------------------------------------------

    def of_faults(self) -> Iterator[Seen]:
        """What each fault of the dictionary moves, on the fixture set's cases."""
        for fault in dictionary.load(self.assignment.id):
            if fault.formula is not None and (not self.rows or fault.row in self.rows):
                for case in self.fixtures.cases(fault.check):
                    yield from self._of_case(fault, case)

    def _of_case(self, fault: dictionary.Fault, case: FixtureCase) -> Iterator[Seen]:
        given = Case(fault.check, case.id.split("/")[1], case.entry.params, tensorfile.read(case.inputs_path))
        with np.errstate(all="ignore"):
            tensors = fault.tensors(given)
        for name, right in case.expected.items():
            place = self.written.place(fault.check, name)
            if name not in tensors or place is None:
                continue
            limit = self.tolerances.limit(self.assignment.id, fault.check, name, False)
            found = compare(case.id, name, tensors[name], right, limit)
            if found.limit > 0 and math.isfinite(found.error):
                yield from _counted(Seen(place, name, fault.id, True, found.error / found.limit))


def _counted(seen: Seen) -> Iterator[Seen]:
    """An error that counts: a mistake that moves a tensor by next to nothing says nothing of its limit."""
    if not seen.wrong or seen.share > TOUCHED:
        yield seen


def _with_environment(assignment: Assignment, environment: Mapping[str, str]) -> Assignment:
    """The assignment with variables set for what runs."""
    if not environment:
        return assignment
    builds = {
        name: build.model_copy(update={"environment": {**build.environment, **environment}})
        for name, build in assignment.builds.items()
    }
    return assignment.model_copy(update={"builds": builds})
