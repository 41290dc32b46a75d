"""Grading saved submissions under two versions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader import submission as submissions
from grader.assignment import Assignment
from grader.errors import UsageError
from grader.grading import Grading, Options
from grader.home import ROOT
from grader.parallel import spread
from grader.result import Result
from grader.sandbox import Sandbox
from grader.submission import NOT_LOOKED_AT
from grader.training import with_training
from grader.versions.differences import Change, change
from grader.versions.recall import Recall
from grader.versions.version import Version
from grader.workplace import work_folder

ARCHIVES = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst")


def saved(folder: Path, assignment: Assignment) -> list[Path]:
    """The submissions in a folder: its folders, archives and files that count, by name; or the folder itself.

    Raises:
        UsageError: there are none.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder of submissions at {folder}")
    if any((folder / name).is_file() for name in assignment.submission.files):
        return [folder]
    counting = {Path(name).name for name in assignment.submission.files}
    found = [p for p in sorted(folder.iterdir()) if not p.name.startswith(".") and p.name not in NOT_LOOKED_AT]
    wanted = [p for p in found if p.is_dir() or p.suffix.lower() in ARCHIVES or p.name in counting]
    if not wanted:
        raise UsageError(f"{folder} holds no submission: neither a folder, nor an archive")
    return wanted


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

    def run(self, paths: Sequence[Path], jobs: int, tell: Callable[[Change], None]) -> list[Change]:
        """Grades each submission under both versions."""

        def work(path: Path) -> Change:
            made = self.compare(path)
            tell(made)
            return made

        return spread(work, paths, jobs)

    def compare(self, path: Path) -> Change:
        """One submission under both."""
        with work_folder() as folder:
            recall = Recall(folder)
            a, b = (self._graded(path, version, recall) for version in self.versions)
            return change(path.name, a, b)

    def _graded(self, path: Path, version: Version, recall: Recall) -> Result:
        assignment = version.assignment
        taken = submissions.take(path, assignment.submission, ROOT / "student_template" / assignment.id)
        options = Options(second_look=False, unseen=True, after_due=True, explain="none")
        options = with_training(assignment, options, self.training, False, lambda _: None)
        options = replace(options, around=recall.around(assignment))
        silent = Grading(assignment, taken, version.fixtures, self.sandbox, version.tolerances, options, lambda _: None)
        return silent.run()
