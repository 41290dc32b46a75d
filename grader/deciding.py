"""Grading against several fixture sets: the public one, and a private one beside it. The worse counts, check by check.

A check that the public set fails is told with the public evidence, whatever the private one makes of it; what a
private set alone fails is told without values. What both sets ask alike (a training run) is run once.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader import fixtures
from grader.assignment import Assignment
from grader.errors import UsageError
from grader.fixtures import FixtureSet
from grader.grading import Grading, SoFar
from grader.inference import scored
from grader.options import Options
from grader.progress import Progress
from grader.result import CheckResult, Result
from grader.sandbox import Sandbox
from grader.submission import Taken
from grader.tolerances import Tolerances
from grader.versions.recall import Recall
from grader.workplace import work_folder

VARIABLE = "GRADE_FIXTURES"


def asked_for(assignment_id: str, folder: Path | None) -> Path | None:
    """The folder of the set to grade against beside the public one: as asked for, or as ``GRADE_FIXTURES`` names it.

    The variable names a set, or a folder with a set for each assignment in it, by the assignments' ids.

    Raises:
        UsageError: the variable names neither.
    """
    named = os.environ.get(VARIABLE, "")
    if folder is not None or not named:
        return folder
    places = (Path(named), Path(named) / assignment_id)
    found = next((place for place in places if (place / fixtures.MANIFEST).is_file()), None)
    if found is None:
        raise UsageError(f"{VARIABLE}: {named} is no fixture set, and holds none in {assignment_id}")
    return found


def sets(assignment_id: str, folder: Path | None) -> list[FixtureSet]:
    """The public set and, where a private one is asked for, that one behind it; see `asked_for`.

    Raises:
        UsageError: there is none in the folder, or it is another assignment's.
        InfrastructureError: one is damaged.
    """
    public = fixtures.asked_for(assignment_id, None)
    asked = fixtures.asked_for(assignment_id, asked_for(assignment_id, folder))
    return [asked] if asked.public else [public, asked]


def grade(
    assignment: Assignment,
    taken: Taken,
    against: Sequence[FixtureSet],
    sandbox: Sandbox,
    tolerances: Tolerances,
    options: Options,
    progress: Progress,
    so_far: SoFar | None = None,
) -> Result:
    """Grades against each of the sets in turn, and puts the results together.

    The public set comes first: nothing that the code keeps of it can be of a private one's values.
    """
    if len(against) == 1:
        return Grading(assignment, taken, against[0], sandbox, tolerances, options, progress, so_far).run()
    found: Result | None = None
    hidden = [one.folder.resolve() for one in against]
    with work_folder() as kept:
        around = Recall(kept).around(assignment)
        for one in against:
            look = options.second_look and found is None
            how = replace(options, hidden=hidden, second_look=look, around=around)
            tell = _telling(assignment, found, so_far)
            result = Grading(assignment, taken, one, sandbox, tolerances, how, progress, tell).run()
            found = result if found is None else together(assignment, found, result)
    assert found is not None
    return found


def _telling(assignment: Assignment, first: Result | None, so_far: SoFar | None) -> SoFar | None:
    """Who is told how far it is: with the first set's result, what the second has not judged yet counts nothing."""
    if so_far is None or first is None:
        return so_far
    return lambda result: so_far(together(assignment, first, result))


def together(assignment: Assignment, public: Result, private: Result) -> Result:
    """One result of two of the same submission."""
    mine, theirs = ({check.id: check for row in r.rows for check in row.checks} for r in (public, private))
    names = (public.fixtures.set, private.fixtures.set)
    checks = {name: _worse(mine[name], check, names) for name, check in theirs.items()}
    rows = scored(assignment, [assignment.row(row.id) for row in private.rows], checks)
    told = {(note.check, note.text) for note in public.advice}
    seconds = {name: round(public.timing.get(name, 0.0) + took, 3) for name, took in private.timing.items()}
    changes = {
        "score": sum(row.points for row in rows),
        "max_score": sum(row.max_points for row in rows),
        "complete": public.complete and private.complete,
        "fixtures": private.fixtures,
        "beside": [public.fixtures],
        "problems": list(dict.fromkeys([*public.problems, *private.problems])),
        "rows": rows,
        "advice": [*public.advice, *(note for note in private.advice if (note.check, note.text) not in told)],
        "timing": {**public.timing, **seconds},
    }
    return public.model_copy(update=changes)


def _worse(public: CheckResult, private: CheckResult, names: tuple[str, str]) -> CheckResult:
    """The check by the set that fails it, by the public one where both do; it says what each makes of it."""
    if public.verdict == "hidden":
        return public
    first = private.verdict == "pass" or public.verdict != "pass"
    shown, of = (public, names[0]) if first else (private, names[1])
    verdicts = dict(zip(names, (public.verdict, private.verdict), strict=True))
    return shown.model_copy(update={"verdicts": verdicts, "evidence_of": of})
