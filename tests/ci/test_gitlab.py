"""GitLab's pipeline for students: its lines are run in a clone, with the variables that GitLab gives."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.ci.repositories import TEMPLATE, commit, git
from tests.ci.runner import machine
from tests.support import ready_home

QUICK = "--only gelu_residual_backward --no-second-look --cflags=-O0"
LONGEST_S = 300.0


def expanded(variables: dict[str, str]) -> dict[str, str]:
    """Variables in which others stand, as GitLab expands them."""
    return {
        name: re.sub(r"\$(\w+)", lambda match: variables.get(match[1], ""), value) for name, value in variables.items()
    }


def run(job: str, repository: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a job's lines as one script, as GitLab's runner does."""
    pipeline: dict[str, Any] = yaml.safe_load((repository / ".gitlab-ci.yml").read_text())
    template = pipeline[pipeline[job]["extends"]]
    given = {**pipeline["variables"], "CI": "true", "CI_JOB_NAME": job, "CI_PROJECT_DIR": str(repository), **variables}
    script = "\n".join([*template["before_script"], *template["script"]])
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=repository,
        env={**machine(), **expanded(given)},
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )


def test_a_push_is_graded(student: Path, grader: Path, tmp_path: Path) -> None:
    git(grader, "init", "--quiet", "--initial-branch=main")
    commit(grader)
    home = str(ready_home(tmp_path / "ready"))
    found = {"TENSORGRADE": f"file://{grader}", "OPTIONS": QUICK, "MIN_SCORE": "1", "GRADE_HOME": home}
    done = run("A2", student, **found)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "score 0/10" in done.stdout
    reports = student / "reports" / "A2"
    assert json.loads((reports / "result.json").read_bytes())["score"] == 0
    assert {"junit.xml", "badge.svg"} <= set(os.listdir(reports))
    ignored = git(student, "status", "--porcelain").split("\n")
    assert sorted(line.split()[-1] for line in ignored) == [".tensorgrade/", "reports/"]


def test_what_it_keeps_is_what_it_writes() -> None:
    pipeline = yaml.safe_load((TEMPLATE / ".gitlab-ci.yml").read_text())
    assert pipeline[".grade"]["artifacts"]["reports"]["junit"] == "reports/*/junit.xml"
    assert pipeline["variables"]["GRADE_HOME"] == f"$CI_PROJECT_DIR/{pipeline['.grade']['cache']['paths'][0]}"
    for name, job in pipeline.items():
        if "extends" in job:
            assert job["rules"] == [{"changes": [f"{name}/**/*"]}]
