"""Classroom 50's ``result.json`` (``classroom50/result/v1``), beside which a runner of Classroom 50 calls the grader.

The runner's environment says whose submission it is; scores are integers, as ours are.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from grader.errors import NotShownError
from grader.report.plain import dumps, one_line, row_text
from grader.report.target import put
from grader.result import Result, RowResult

SCHEMA = "classroom50/result/v1"
NEEDED = ("CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL", "REVIEW_URL")
OWNER = ("OWNER", "USERNAME")  # the first that is there
FORM = "%Y-%m-%dT%H:%M:%SZ"
MOST_OF_A_TEST = 4_000  # characters


def write(result: Result, target: str) -> None:
    """Writes it.

    Raises:
        NotShownError: it cannot be written, or the runner's environment is not there.
    """
    put(render(result, os.environ, commit_time(os.environ)), target)


def commit_time(environment: Mapping[str, str]) -> datetime:
    """When the graded commit was made; it stays the same however often it is graded."""
    command = ["git", "log", "-1", "--format=%ct", environment.get("GITHUB_SHA", "HEAD"), "--"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return datetime.fromtimestamp(int(done.stdout), UTC)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise NotShownError("classroom50: the current folder is no clone that holds the graded commit") from error


def render(result: Result, environment: Mapping[str, str], committed: datetime) -> str:
    """The result as Classroom 50 reads it.

    Raises:
        NotShownError: the environment lacks what the runner gives.
    """
    owner = next((environment[name] for name in OWNER if environment.get(name)), "")
    lacking = [name for name in NEEDED if not environment.get(name)] + ([] if owner else list(OWNER[:1]))
    if lacking:
        raise NotShownError(f"classroom50: the runner's {', '.join(lacking)} are not in the environment")
    classroom, assignment, submission, commit, release, review = (environment[name] for name in NEEDED)
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "classroom": classroom,
        "assignment": assignment,
        "assignment_type": environment.get("ASSIGNMENT_TYPE") or "individual",
        "owner": owner,
        "submission": submission,
        "commit": commit,
        "release": release,
        "review": review,
        "datetime": committed.strftime(FORM),
        "score": result.score,
        "max-score": result.max_score,
        "tests": [_test(row) for row in result.rows],
    }
    return dumps(content)


def _test(row: RowResult) -> dict[str, Any]:
    return {
        "test-name": one_line(row.title) or row.id,
        "passed": row.verdict == "pass",
        "score": row.points,
        "max-score": row.max_points,
        "output": row_text(row, MOST_OF_A_TEST),
    }
