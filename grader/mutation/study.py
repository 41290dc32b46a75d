"""The study: every mutant through the grader, as a submission goes; in parallel, and going on where it was stopped."""

from __future__ import annotations

import hashlib
import random
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grader import submission as submissions
from grader import tolerances
from grader.assignment import Assignment
from grader.fixtures import FixtureSet
from grader.grading import Grading
from grader.home import ROOT
from grader.mutation.changes import Mutant
from grader.mutation.outcome import Journal, Outcome, of_result, ran_out_of_time
from grader.mutation.proof import FURTHER_SEEDS, Observatory, Proof, checks_of
from grader.mutation.regions import reference_file, row_of
from grader.options import Options
from grader.parallel import spread
from grader.result import Result
from grader.sandbox import Sandbox
from grader.submission import Taken
from grader.workplace import work_folder

UNOPTIMISED = ("-O0",)  # half of a grading is the compiler's time; what a mutant computes does not depend on it
Tell = Callable[[Outcome], None]


@dataclass(frozen=True)
class Setting:
    """How the mutants are graded.

    Attributes:
        fixtures: the set that they are graded against.
        sandbox: behind which wall.
        own_row: grade the mutant's own row alone: tells what is killed, not where the points went.
        flags: for the compiler, where there is one.
    """

    fixtures: FixtureSet
    sandbox: Sandbox
    own_row: bool = False
    flags: Sequence[str] = UNOPTIMISED


def sampled(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """``count`` of the mutants, drawn by the seed, from each region alike as far as it goes; in their own order."""
    rng = random.Random(seed)
    piles: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        piles.setdefault(mutant.region.name, []).append(mutant)
    for pile in piles.values():
        rng.shuffle(pile)
    drawn: set[str] = set()
    while len(drawn) < count and any(piles.values()):
        drawn |= {pile.pop().id for pile in list(piles.values())[: count - len(drawn)] if pile}
        piles = {name: pile for name, pile in piles.items() if pile}
    return [mutant for mutant in mutants if mutant.id in drawn]


class Study:
    """The grading of an assignment's mutants."""

    def __init__(self, assignment: Assignment, setting: Setting, journal: Journal) -> None:
        self.assignment = assignment
        self.setting = setting
        self.journal = journal
        self._lock = threading.Lock()  # of the journal
        self._proving = threading.Lock()
        self._proofs: dict[tuple[str, ...], Proof] = {}

    @cached_property
    def context(self) -> str:
        """A hash of all that a grading rests on beside the mutant: the assignment, its fixtures, the grader."""
        folders = [
            self.assignment.folder,
            *(ROOT / top / self.assignment.id for top in ("reference", "student_template")),
        ]
        code = [ROOT / "assignments" / "common", ROOT / "grader" / "sandbox"]
        files = [path for folder in [*folders, *code] for path in folder.rglob("*") if path.is_file()]
        files += [*(ROOT / "grader").glob("*.py"), ROOT / "grader" / "mutation" / "proof.py", tolerances.PATH]
        digest = hashlib.sha256(self.setting.fixtures.digest.encode())
        for path in sorted(path for path in set(files) if path.suffix != ".pyc"):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
        how = (self.setting.own_row, *self.setting.flags, self.setting.sandbox.name, *FURTHER_SEEDS)
        digest.update(repr(how).encode())
        return digest.hexdigest()

    def key(self, mutant: Mutant) -> str:
        """The journal's key of a mutant."""
        return hashlib.sha256(self.context.encode() + mutant.id.encode() + mutant.source).hexdigest()[:32]

    def known(self, mutants: Iterable[Mutant]) -> list[Outcome]:
        """What the journal has of these already."""
        return [self.journal.known[key] for key in map(self.key, mutants) if key in self.journal.known]

    def run(self, mutants: Sequence[Mutant], jobs: int, tell: Tell) -> list[Outcome]:
        """Grades those that the journal lacks; the outcomes of all, in their order.

        Stopped by Ctrl-C, what is under way is brought to its end and kept.
        """

        def work(mutant: Mutant) -> None:
            outcome = self.grade(mutant)
            with self._lock:
                self.journal.add(outcome)
                tell(outcome)

        spread(work, [mutant for mutant in mutants if self.key(mutant) not in self.journal.known], jobs)
        return self.known(mutants)

    def grade(self, mutant: Mutant) -> Outcome:
        """One mutant's outcome."""
        row = row_of(self.assignment, mutant.region)
        with work_folder() as folder:
            taken = self.taken(folder, mutant)
            result = self._graded(taken, row)
            if ran_out_of_time(result):  # a busy machine may be at fault: only what does so twice counts
                result = self._graded(taken, row)
            outcome = of_result(mutant, self.key(mutant), row, result)
            return self._proved(outcome, taken) if outcome.state == "survived" else outcome

    def _graded(self, taken: Taken, row: str) -> Result:
        options = Options(
            rows=[row] if self.setting.own_row else (),
            flags=self.setting.flags if self.assignment.submission.language == "c" else (),
            second_look=False,
            training=False,
            explain="none",
        )
        setting, limits = self.setting, tolerances.load()
        grading = Grading(self.assignment, taken, setting.fixtures, setting.sandbox, limits, options, lambda _: None)
        return grading.run()

    def _proved(self, outcome: Outcome, taken: Taken) -> Outcome:
        proof = self._proof([outcome.row] if self.setting.own_row else [])
        differs = proof.difference(taken, self.assignment.row(outcome.row).checks)
        return outcome.model_copy(update={"state": "survived" if differs else "equivalent", "differs": differs})

    def _proof(self, rows: list[str]) -> Proof:
        """The reference's outputs for these rows, or for all; made when they are first needed."""
        checks = checks_of(self.assignment, rows)
        with self._proving, work_folder() as folder:
            if (known := self._proofs.get(tuple(checks))) is not None:
                return known
            observatory = Observatory(self.assignment, self.setting.fixtures, self.setting.sandbox, self.setting.flags)
            proof = self._proofs[tuple(checks)] = Proof(observatory, self.taken(folder, None), checks)
            return proof

    def taken(self, folder: Path, mutant: Mutant | None) -> Taken:
        """The reference's files as a submission, one of them mutated."""
        for name in self.assignment.submission.files:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            mutated = mutant is not None and mutant.region.file == name
            source = mutant.source if mutant is not None and mutated else None
            path.write_bytes(source or reference_file(self.assignment, name).read_bytes())
        template = ROOT / "student_template" / self.assignment.id
        return submissions.take(folder, self.assignment.submission, template)
