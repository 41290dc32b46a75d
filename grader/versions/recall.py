"""What a probe gave is the same under two versions that ask the same of it: it is run once, and judged twice.

So a score that changes has changed for what differs between the versions, and not since a run went otherwise.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

from grader.assignment import Assignment
from grader.engine import Probed
from grader.options import Around, Probing

# of a check, what only the judge and the reports look at
JUDGED = {"title", "role", "official", "context", "calls", "fallback", "cases_min", "cases_of", "derive", "instead"}
JUDGED |= {"training", "says", "visibility", "at", "curves"}


class Recall:
    """The outcomes of one submission's probes, kept in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, Probed] = {}
        self._lock = threading.Lock()

    def around(self, assignment: Assignment) -> Around:
        """For `Options.around`: runs what is not known yet."""

        def recalled(probing: Probing, run: Callable[[], Probed]) -> Probed:
            key = _key(assignment, probing)
            if key not in self._known:
                kept = self._kept(run())
                with self._lock:
                    self._known.setdefault(key, kept)
            return self._known[key]

        return recalled

    def _kept(self, probed: Probed) -> Probed:
        """The outcome, its tensors copied to where they stay: links and whatever else is no file are not followed."""
        with self._lock:
            folder = self.folder / str(len(list(self.folder.iterdir())))
            folder.mkdir()
        places = {case: folder / f"{number}.tensors" for number, case in enumerate(probed.outputs)}
        for case, path in probed.outputs.items():
            if path.is_file() and not path.is_symlink():
                shutil.copyfile(path, places[case], follow_symlinks=False)
        return Probed(probed.statuses, places, probed.outcome, probed.seconds)


def _key(assignment: Assignment, probing: Probing) -> str:
    """A hash of all that a probe's outcome rests on, beside the submission."""
    check = probing.how
    asked = {
        "check": check.model_dump(mode="json", exclude=JUDGED),
        "builds": {name: assignment.builds[name].model_dump(mode="json") for name in [check.build, *check.support]},
        "limits": assignment.limits_of(check).model_dump(mode="json"),
        "policies": assignment.policies,
        "cases": [(case.id, case.entry.params, case.entry.inputs) for case in probing.cases],
        "own": sorted(probing.own),
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
