"""Whether a mutant that costs nothing is the reference in other words: every output of both, to the byte.

The cases are those of the fixture set and of some further sets of other sizes and values, made for this from fixed
seeds. Buffers are prefilled, tensors are compared as bytes, and so is what each case reports (how it ended, the calls
that it made). So the proof covers what the probes can see on these cases, and nothing beyond: not memory that is
never handed back, not sizes that no case has, not speed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from grader import tensorfile
from grader.assignment import Assignment, Check
from grader.engine import Built, CaseInput, Engine, Probed
from grader.errors import InfrastructureError
from grader.fixture_build import reference
from grader.fixtures import FixtureSet
from grader.home import ROOT
from grader.parallel import processors
from grader.sandbox import Sandbox
from grader.stage import find_compiler, stage_files
from grader.submission import Taken
from grader.workplace import work_folder

FURTHER_SEEDS = (11, 23, 47)  # of the further sets; other seeds would do as well
ADDRESSES = ("regions",)  # of a status: they differ from run to run
Digests = Mapping[str, str]


def checks_of(assignment: Assignment, rows: Sequence[str]) -> list[str]:
    """The checks that these rows rest on or look at, without those that train; of no rows: of all."""
    wanted = [row for row in assignment.rows if not rows or row.id in rows]
    names = dict.fromkeys(name for row in wanted for name in [*row.checks, *row.looks])
    return [name for name in names if not assignment.checks[name].training]


class Observatory:
    """Runs a submission on every case, and keeps a hash of all that came back of each."""

    def __init__(self, assignment: Assignment, fixtures: FixtureSet, sandbox: Sandbox, flags: Sequence[str]) -> None:
        self.assignment = assignment
        self.fixtures = fixtures
        self.sandbox = sandbox
        self.flags = flags
        self.compiler = find_compiler(None) if assignment.submission.language == "c" else ""

    def _cases(self, folder: Path) -> dict[str, list[CaseInput]]:
        """The cases by check; the further sets' inputs are written to a folder."""
        found: dict[str, list[CaseInput]] = {}
        for entry in self.fixtures.manifest.cases:
            path = self.fixtures.folder / "inputs" / f"{entry.id}.safetensors"
            found.setdefault(entry.check, []).append(CaseInput(entry.id, entry.params, path))
        for seed in FURTHER_SEEDS:
            for case in reference(self.assignment.id, "cases").build(seed, f"mutation-{seed}"):
                path = folder / str(seed) / f"{case.id}.safetensors"
                tensorfile.write(path, dict(case.inputs))
                named = f"{seed}/{case.id}"  # one name for each, and the case's own at its end
                found.setdefault(case.check, []).append(CaseInput(named, dict(case.params), path))
        return found

    def of(self, taken: Taken, checks: Sequence[str]) -> Digests:
        """The hashes by check and case; a submission that does not build has none."""
        with work_folder() as work, ThreadPoolExecutor(processors()) as pool:
            stage = work / "stage"
            stage.mkdir()
            stage_files(self.assignment, taken, stage)
            cases = self._cases(work / "cases")
            hidden = (ROOT, self.fixtures.folder.resolve())
            engine = Engine(self.assignment, self.sandbox, stage, work, self.compiler, self.flags, hidden)
            built = engine.build("plain")
            if not built.report.ok:
                return {}
            parts = [
                pool.submit(_observed, engine, built, name, self.assignment.checks[name], cases) for name in checks
            ]
            return {case: digest for part in parts for case, digest in part.result().items()}


def _observed(engine: Engine, built: Built, name: str, check: Check, cases: Mapping[str, list[CaseInput]]) -> Digests:
    """The hashes of one check's cases."""
    given = cases.get(check.cases_of or name, [])
    supports = {support: engine.support(support, ()) for support in check.support}
    probed = engine.probe(name, check, built, given, supports)
    return {f"{name}: {case.id}": _digest(probed, case.id) for case in given}


def _digest(probed: Probed, case: str) -> str:
    """The hash of what a case reported and handed back."""
    told = probed.statuses.get(case, {"status": "none"})
    status = json.dumps({key: value for key, value in told.items() if key not in ADDRESSES}, sort_keys=True)
    try:
        tensors = probed.outputs[case].read_bytes()
    except OSError:
        tensors = b"none"
    return hashlib.sha256(status.encode() + b"\0" + tensors).hexdigest()


class Proof:
    """The reference's outputs of some checks, against which a mutant's are held.

    Attributes:
        right: the hashes that two runs of the reference agree on.
        left_out: the cases that they do not, since these draw at random.
    """

    def __init__(self, observatory: Observatory, taken: Taken, checks: Sequence[str]) -> None:
        self.observatory = observatory
        self.checks = checks
        first, again = observatory.of(taken, checks), observatory.of(taken, checks)
        if not first:
            raise InfrastructureError("the reference itself does not build")
        self.right = {case: digest for case, digest in first.items() if again.get(case) == digest}
        self.left_out = sorted(first.keys() - self.right.keys())

    def difference(self, taken: Taken, own: Sequence[str]) -> str:
        """The first case whose output is not the reference's; empty: there is none, and no check of ``own`` draws."""
        differs = self._differing(taken)
        if differs:  # a busy machine may have let a case run out of time: what is different is so twice
            again = self._differing(taken)
            differs = [case for case in differs if case in again]
        drawn = next((case for case in self.left_out if case.partition(":")[0] in own), "")
        return next(iter(differs), "") or (f"{drawn} draws at random: outputs cannot tell" if drawn else "")

    def _differing(self, taken: Taken) -> list[str]:
        found = self.observatory.of(taken, self.checks)
        return [case for case, digest in self.right.items() if found.get(case) != digest]
