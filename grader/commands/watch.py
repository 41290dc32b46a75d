"""``./grade <ID> PATH --watch``: grades at each save the rows that it can have touched."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from grader import again
from grader import submission as submissions
from grader.assignment import Assignment
from grader.errors import GraderError
from grader.home import ROOT
from grader.result import Result
from grader.submission import Taken

GradeRows = Callable[[list[str]], Result]
Show = Callable[[Result, Result], None]
LOOK_MS = 500  # how soon what was saved before the watching began is seen


class Watch:
    """A submission that is graded again and again.

    Attributes:
        grade: grades some rows, or all for none.
        show: is given what was graded just now, and all of it with the rows as they were before.
        asked: the rows that are wanted; none: all.
        quiet: says nothing but errors.
    """

    def __init__(
        self,
        assignment: Assignment,
        path: Path,
        asked: list[str],
        grade: GradeRows,
        show: Show,
        quiet: bool = False,
    ) -> None:
        self.assignment = assignment
        self.path = path
        self.asked = asked
        self.grade = grade
        self.show = show
        self.quiet = quiet
        self.seen: Taken | None = None
        self.result: Result | None = None

    def look(self, announced: bool = True) -> None:
        """Grades what has changed since the last look; an error is told, and the next save is waited for."""
        try:
            ours = ROOT / "student_template" / self.assignment.id
            taken = submissions.take(self.path, self.assignment.submission, ours)
            rows = self._rows(taken)
            if rows == []:
                if announced:
                    self.say("nothing that counts has changed")
                return
            self._graded(rows or [])
            self.seen = taken
        except GraderError as error:
            self.seen = None  # whole at the next save
            print(f"grade: {error.kind}: {error}", file=sys.stderr, flush=True)

    def say(self, text: str) -> None:
        """Tells on standard error how it goes."""
        if not self.quiet:
            print(f"grade: {text}", file=sys.stderr, flush=True)

    def _rows(self, taken: Taken) -> list[str] | None:
        """The rows to grade; None: all that are wanted."""
        if self.seen is None or self.result is None or not again.trusted(self.result):
            return None
        touched = again.touched(self.assignment, self.seen, taken)
        graded = [row.id for row in self.result.rows]
        return None if touched is None else [row for row in touched if row in graded]

    def _graded(self, rows: list[str]) -> None:
        if rows:
            self.say(f"this touches: {', '.join(rows)}")
        new = self.grade(rows or self.asked)
        self.result = again.beside(self.assignment, self.result, new) if rows and self.result else new
        names = [row.id for row in new.rows]
        fresh = new.model_copy(update={"rows": [row for row in self.result.rows if row.id in names]})
        self.show(fresh, self.result)


def saves(assignment: Assignment, path: Path) -> Iterator[bool]:
    """True each time that a file of the submission that counts has been written; at first False: it is looked at."""
    from watchfiles import watch

    names = {Path(name).name for name in assignment.submission.files}
    folder, names = (path, names) if path.is_dir() else (path.parent, {path.name})
    looked_at = False
    for changes in watch(
        folder,
        watch_filter=lambda _, file: Path(file).name in names,
        yield_on_timeout=True,
        rust_timeout=LOOK_MS,
    ):
        if changes or not looked_at:
            looked_at = True
            yield bool(changes)


def run(watch: Watch) -> Result | None:
    """Grades now and at each save, until the user ends it with Ctrl-C; the last result."""
    try:
        watch.look()
        for saved in saves(watch.assignment, watch.path):
            if saved:
                watch.say(f"saved at {time.strftime('%H:%M:%S')}")
            watch.look(announced=saved)  # at first for what was saved while nobody looked
            watch.say("waiting for the next save (Ctrl-C ends)")
    except KeyboardInterrupt:
        watch.say("ended")
    return watch.result
