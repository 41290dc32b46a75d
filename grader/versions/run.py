"""Grading saved submissions under two versions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader import submission as submissions
from grader.assignment import Assignment
from grader.batch.find import HandedIn, find
from grader.batch.work import one_place
from grader.errors import UsageError
from grader.grading import Grading
from grader.home import ROOT
from grader.options import Options
from grader.parallel import spread
from grader.report.batch import Student
from grader.result import Result
from grader.sandbox import Sandbox
from grader.submission import Taken
from grader.training import with_training
from grader.versions.differences import Change, change
from grader.versions.recall import Recall
from grader.versions.version import Version
from grader.workplace import work_folder


def saved(folder: Path, assignment: Assignment) -> list[HandedIn]:
    """The submissions in a folder, as a batch finds them, by label; or the folder itself.

    Raises:
        UsageError: there are none.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder of submissions at {folder}")
    if any((folder / name).is_file() for name in assignment.submission.files):
        return [HandedIn(folder.name, Student(name=folder.name), [folder], folder.name)]
    return sorted(find(folder, None, every=True).submissions, key=lambda one: one.label)


@dataclass(frozen=True)
class Comparing:
    """How saved submissions are graded.

    Attributes:
        versions: A and B.
        sandbox: behind which wall.
        training: whether to make the checks that train.
    """

    versions: tuple[Version, Version]
    sandbox: Sandbox
    training: bool

    def run(self, submissions: Sequence[HandedIn], jobs: int, tell: Callable[[Change], None]) -> list[Change]:
        """Grades each submission under both versions."""

        def work(one: HandedIn) -> Change:
            made = self.compare(one)
            tell(made)
            return made

        return spread(work, submissions, jobs)

    def compare(self, one: HandedIn) -> Change:
        """One submission under both."""
        with work_folder() as folder, one_place([str(path) for path in one.paths]) as path:
            recall = Recall(folder)
            a, b = (self._graded(path, version, recall) for version in self.versions)
            return change(one.label, a, b)

    def _graded(self, path: Path, version: Version, recall: Recall) -> Result:
        assignment = version.assignment
        try:
            taken = submissions.take(path, assignment.submission, ROOT / "student_template" / assignment.id)
        except UsageError as error:  # a note among the submissions
            taken = Taken(path.name, problems=[str(error)])
        options = Options(second_look=False, unseen=True, after_due=True, explain="none")
        options = with_training(assignment, options, self.training, False, lambda _: None)
        options = replace(options, around=recall.around(assignment))
        silent = Grading(assignment, taken, version.fixtures, self.sandbox, version.tolerances, options, lambda _: None)
        return silent.run()
