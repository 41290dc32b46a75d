"""Grading a hostile submission as a user does, and what came of it."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox import choose
from tests.hostile.attacks import Attack, Base, Outcome, write_c, write_python
from tests.support import LAUNCHER, LONGEST_S, ROOT, Graded

# What a CI service has in its environment; a submission that sees one of them spoils its own answer.
SECRETS = dict.fromkeys(("GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "GH_TOKEN", "API_KEY"), "tensorgrade-secret")
QUICK = {"A2": ["--cflags=-O0", "--no-second-look"], "HW2": ["--no-training"]}


@dataclass(frozen=True)
class Place:
    """Where it is graded: whose launcher, with which home."""

    launcher: Path = LAUNCHER
    home: str = os.environ.get("GRADE_HOME", str(ROOT / ".venv"))

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self.launcher.parent


HERE = Place()


def new_mark() -> str:
    """A word that nothing else on this machine bears; short enough for a process's name."""
    return f"tg{uuid.uuid4().hex[:10]}"


def known(mark: str, port: int, place: Place = HERE) -> dict[str, str]:
    """What the fragments may name."""
    return {"MARK": mark, "PORT": str(port), "ROOT": str(place.root), "HOME": str(Path.home()), "GRADE": place.home}


def laid(assignment: str, attack: Attack, base: Base, folder: Path, names: dict[str, str]) -> Path:
    """The submission in a folder."""
    return (write_c if assignment == "A2" else write_python)(attack, base, folder, names)


def graded(
    assignment: str,
    submission: Path,
    *options: str,
    place: Place = HERE,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Graded:
    """Runs ``./grade`` on it, with secrets in the environment, and reads the JSON that it wrote beside it."""
    written = submission.parent / f"{submission.name}.json"
    command = [place.launcher, assignment, submission, "--quiet", "--json", written]
    done = subprocess.run(
        [*map(str, command), *QUICK[assignment], *options],
        cwd=cwd,
        env={**os.environ, **SECRETS, "GRADE_HOME": place.home, "COLUMNS": "200", **(environment or {})},
        capture_output=True,
        timeout=LONGEST_S,
        check=False,
    )
    stdout, stderr = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    assert "Traceback" not in stderr, stderr
    result = json.loads(written.read_bytes()) if written.exists() else {}
    return Graded(done.returncode, stdout, stderr, result)


def words_of(result: Graded) -> str:
    """All that the result says of the submission."""
    checks = [f"{check['detail']} {check['calls_differ']} {check['output']}" for check in result.checks.values()]
    rows = [row["detail"] for row in result.rows.values()]
    advice = [note["text"] for note in result.result["advice"]]
    return "\n".join([*result.result["problems"], *rows, *checks, *advice])


def assert_outcome(result: Graded, outcome: Outcome) -> None:
    """What came of it is what had to."""
    assert result.exit == 0, result.stderr
    assert result.lost == set(outcome.lost), result.said()
    if outcome.verdict:
        assert {result.rows[row]["verdict"] for row in outcome.lost} == {outcome.verdict}, result.said()
    words = words_of(result)
    assert not [text for text in outcome.says if text not in words], words
    assert not [text for text in outcome.shows if text not in result.stdout], result.stdout
    assert not [text for text in outcome.hides if text in result.stdout], result.stdout
    assert "tensorgrade-secret" not in result.stdout + words


def usable(sandbox: str) -> str | None:
    """Why that sandbox cannot be used here; None where it can."""
    from grader.errors import UsageError
    from grader.sandbox import NAMES

    if sandbox not in NAMES:
        return f"there is no sandbox `{sandbox}` yet"
    try:
        choose(sandbox)
    except UsageError as error:
        return str(error)
    return None
