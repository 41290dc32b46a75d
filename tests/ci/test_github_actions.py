"""The workflow that students have, and the action that it calls, run step by step in a clean clone."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from grader import assignment as assignments
from grader.home import ROOT
from tests.ci.expressions import evaluate, fill
from tests.ci.repositories import TEMPLATE, commit, git
from tests.ci.runner import Job
from tests.support import ready_home

QUICK = "--only gelu_residual_backward --no-second-look --cflags=-O0"
ROW = "gelu_backward and residual_backward"
RIGHT = (ROOT / "reference" / "A2" / "train_gpt2.c").read_text()
NOTHING = "0" * 40


def wrong() -> str:
    """The reference with a mistake in ``gelu_backward``."""
    found = re.sub(r"(\bgelu_backward\(.*?)\+=", r"\1=", RIGHT, count=1, flags=re.DOTALL)
    assert found != RIGHT
    return found


def pushed(
    student: Path, grader: Path, tmp_path: Path, before: str, assignment: str, named: bool = True, **changes: str
) -> Job:
    """The job that a push starts; ``changes`` are what the student has written into the workflow."""
    workflow = yaml.safe_load((student / ".github" / "workflows" / "grade.yml").read_text())
    job = workflow["jobs"]["grade"]
    assert assignment in job["strategy"]["matrix"]["assignment"]
    job["steps"][-1]["with"].update({name.replace("_", "-"): value for name, value in changes.items()})
    home = tmp_path / f"machine {assignment}"
    home.mkdir()
    found = Job(
        workspace=tmp_path / f"workspace {assignment}",
        home=home,
        student=student,
        grader=grader,
        github={"ref": "refs/heads/main", "event": {"before": before}},
        ready=ready_home(tmp_path / f"ready {assignment}"),
        variables={"TENSORGRADE": "course/tensorgrade"} if named else {},
    )
    found.run(job, workflow["env"], {"assignment": assignment})
    return found


def commands(log: str) -> list[str]:
    """The commands that a runner reads: none of those between ``stop-commands`` and its token."""
    lines, token = [], None
    for line in log.splitlines():
        if line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
        elif token and line == f"::{token}::":
            token = None
        elif line.startswith("::") and token is None:
            lines.append(line)
    return lines


def test_a_push_is_graded_and_shown_at_the_lines_of_the_code(student: Path, grader: Path, tmp_path: Path) -> None:
    before = git(student, "rev-parse", "HEAD")
    (student / "A2" / "train_gpt2.c").write_text(wrong())
    commit(student)
    job = pushed(student, grader, tmp_path, before, "A2", options=QUICK, min_score="5")
    line = wrong()[: wrong().index("void gelu_backward(")].count("\n") + 1
    error, score, below = commands(job.log)
    assert error.startswith(f"::error file=A2/train_gpt2.c,line={line},title={ROW} (0/10)::fail")
    assert score.startswith("::notice title=score::A2: 0/10")
    assert below == "::error title=score::below the 5 points that are asked for"
    assert job.failed
    assert job.outputs == {"graded": "true", "score": "0"}
    assert f"| `{ROW}` | 0/10 | ❌ fail |" in job.summary
    assert job.artifacts == {"tensorgrade-A2": ["badge.svg", "junit.xml", "report.html", "result.json"]}
    assert "Traceback" not in job.log


def test_a_right_push_passes_and_the_cache_is_keyed_by_what_is_installed(
    student: Path, grader: Path, tmp_path: Path
) -> None:
    (student / "A2" / "train_gpt2.c").write_text(RIGHT)
    commit(student)
    job = pushed(student, grader, tmp_path, NOTHING, "A2", options=QUICK, min_score="10")
    assert not job.failed, job.log
    assert job.outputs["score"] == "10"
    (key,) = job.cache_keys
    assert re.fullmatch(r"tensorgrade-Linux-3\.\d+\.\d+-\w+-[0-9a-f]{16}", key)
    assert not (job.workspace / ".tensorgrade" / ".venv").exists()
    assert git(job.workspace, "status", "--porcelain", "--ignored") == "?? .tensorgrade/"


def test_what_has_not_changed_is_not_graded(student: Path, grader: Path, tmp_path: Path) -> None:
    before = git(student, "rev-parse", "HEAD")
    (student / "A2" / "train_gpt2.c").write_text(RIGHT)
    commit(student)
    job = pushed(student, grader, tmp_path, before, "HW2")
    assert not job.failed
    assert job.outputs == {"graded": "false", "score": ""}
    assert job.summary == "`HW2`: nothing has changed, nothing was graded\n"
    assert job.artifacts == {}
    assert "actions/cache@v5" not in job.used


def test_an_error_of_the_grader_s_is_no_score(student: Path, grader: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(grader, broken)
    (broken / "tolerances.yaml").write_text("")
    job = pushed(student, broken, tmp_path, NOTHING, "A2", options=QUICK)
    assert job.failed
    assert "nothing was scored" in job.log
    assert (job.outputs["score"], job.artifacts) == ("", {})


def test_a_workflow_that_names_no_grader_says_so(student: Path, grader: Path, tmp_path: Path) -> None:
    job = pushed(student, grader, tmp_path, NOTHING, "A2", named=False)
    assert job.failed
    assert job.used == []
    assert commands(job.log)[0].startswith("::error file=.github/workflows/grade.yml,title=no grader::")


@pytest.mark.slow
@pytest.mark.parametrize("assignment", assignments.known_ids())
def test_as_it_is_handed_out(assignment: str, student: Path, grader: Path, tmp_path: Path) -> None:
    for name in assignments.load(assignment).submission.files:
        shutil.copyfile(ROOT / "reference" / assignment / name, student / assignment / name)
    commit(student)
    job = pushed(student, grader, tmp_path, NOTHING, assignment)
    assert not job.failed, job.log
    assert job.outputs["score"] == "100"


def test_it_asks_for_no_secret_and_may_only_read() -> None:
    text = (TEMPLATE / ".github" / "workflows" / "grade.yml").read_text() + (ROOT / "action.yml").read_text()
    assert "secrets" not in text
    assert yaml.safe_load((TEMPLATE / ".github" / "workflows" / "grade.yml").read_text())["permissions"] == {
        "contents": "read"
    }


def test_nothing_of_the_student_s_is_put_into_a_script() -> None:
    """An expression within a script would run what it stands for: each value goes through a variable."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    workflow = yaml.safe_load((TEMPLATE / ".github" / "workflows" / "grade.yml").read_text())
    for step in [*action["runs"]["steps"], *workflow["jobs"]["grade"]["steps"]]:
        assert "${{" not in step.get("run", "")


def test_every_assignment_is_graded() -> None:
    workflow = yaml.safe_load((TEMPLATE / ".github" / "workflows" / "grade.yml").read_text())
    assert workflow["jobs"]["grade"]["strategy"]["matrix"]["assignment"] == assignments.known_ids()
    jobs = yaml.safe_load((TEMPLATE / ".gitlab-ci.yml").read_text())
    assert {name for name, job in jobs.items() if "extends" in job} == set(assignments.known_ids())


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("a.b || 'c'", "c"),
        ("x.y == 'YES' && !(1 >= 2)", True),
        ("startsWith(x.y, 'ye')", True),
        ("n <= 1 && 'few' || 'many'", "many"),
        ("a.b == ''", True),
        ("'it''s'", "it's"),
        ("success()", False),
    ],
)
def test_expressions_mean_what_they_mean_at_github_s(expression: str, value: Any) -> None:
    assert evaluate(expression, {"x": {"y": "yes"}, "n": "2", "success": False}) == value


def test_expressions_in_text() -> None:
    assert fill("a ${{ x }}-${{ y }}-${{ z }}", {"x": "1", "y": True}) == "a 1-true-"
    assert json.loads(fill('{"a": "${{ x }}"}', {"x": "b"})) == {"a": "b"}
