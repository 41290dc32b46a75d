"""A runner for our workflow and our action: every ``run`` is run, with the files and variables that GitHub's gives.

What ``uses`` names from elsewhere is stood in for: the clone is made with git, the artifacts are listed, the cache
holds an environment that is ready.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.ci.expressions import evaluate, fill, shown

Step = dict[str, Any]
LONGEST_S = 300.0


@dataclass
class Job:
    """One job: its machine, and what came of it.

    Attributes:
        workspace: where the student's repository is cloned to.
        home: of the machine; the runner's files lie there.
        student: the student's repository.
        grader: the course's.
        github: the ``github`` context.
        ready: an environment as the cache holds it; none: nothing is cached.
    """

    workspace: Path
    home: Path
    student: Path
    grader: Path
    github: dict[str, Any]
    ready: Path | None
    variables: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    log: str = ""
    summary: str = ""
    artifacts: dict[str, list[str]] = field(default_factory=dict)
    used: list[str] = field(default_factory=list)
    cache_keys: list[str] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)
    failed: bool = False

    def run(self, job: Step, workflow_environment: Mapping[str, str], matrix: Mapping[str, str]) -> None:
        """Runs the steps of a job of a workflow."""
        self.workspace.mkdir()
        context = {"github": self.github, "matrix": matrix, "vars": self.variables}
        self.environment = {name: fill(shown(value), context) for name, value in workflow_environment.items()}
        self._steps(job["steps"], {**context, "env": self.environment}, {})

    def _steps(self, steps: list[Step], context: dict[str, Any], place: dict[str, str]) -> dict[str, Any]:
        """Runs steps in order; after one has failed, those that do not say otherwise are left out."""
        found: dict[str, Any] = {}
        context = {**context, "steps": found}
        for step in steps:
            condition = str(step.get("if", "success()"))
            wanted = evaluate(condition.removeprefix("${{").removesuffix("}}"), {**context, "success": not self.failed})
            asks = any(word in condition for word in ("always()", "failure()", "cancelled()"))
            if not wanted or (self.failed and not asks):
                continue
            outputs = self._run(step, context, place) if "run" in step else self._use(step, context)
            if "id" in step:
                found[step["id"]] = {"outputs": outputs}
        return found

    def _run(self, step: Step, context: dict[str, Any], place: dict[str, str]) -> dict[str, str]:
        files = {name: self.home / f"{name}-{len(self.log)}" for name in ("OUTPUT", "ENV", "STEP_SUMMARY", "PATH")}
        for file in files.values():
            file.touch()
        own = {name: fill(shown(value), context) for name, value in step.get("env", {}).items()}
        environment = {
            **machine(),
            **{f"GITHUB_{name}": str(file) for name, file in files.items()},
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_OS": "Linux",
            "RUNNER_TEMP": str(self.home),
            **place,
            **self.environment,
            **own,
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", fill(step["run"], context)]
        done = subprocess.run(
            command,
            cwd=self.workspace,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
        self.log += done.stdout
        self.summary += files["STEP_SUMMARY"].read_text()
        self.environment.update(assignments(files["ENV"].read_text()))
        self.failed = self.failed or done.returncode != 0
        return assignments(files["OUTPUT"].read_text())

    def _use(self, step: Step, context: dict[str, Any]) -> dict[str, str]:
        given = {name: fill(shown(value), context) for name, value in step.get("with", {}).items()}
        name = step["uses"]
        self.used.append(name)
        if name.startswith("./"):
            return self._action(self.workspace / name, given, context)
        action = name.split("@")[0]
        if action == "actions/checkout":
            self._check_out(given)
        elif action == "actions/cache":
            self.cache_keys.append(given["key"])
            if self.ready is not None and not Path(given["path"]).exists():
                Path(given["path"]).symlink_to(self.ready)
        elif action == "actions/upload-artifact":
            folder = Path(given["path"])
            self.artifacts[given["name"]] = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*"))
        else:
            assert action == "actions/setup-python", name
        return {}

    def _check_out(self, given: dict[str, str]) -> None:
        assert given["persist-credentials"] == "false", "a token would lie in the workspace"
        if "repository" in given:
            shutil.copytree(self.grader, self.workspace / given["path"])
            return
        assert given["fetch-depth"] == "0", "what changed since cannot be told"
        subprocess.run(["git", "clone", "--quiet", self.student, self.workspace], check=True)

    def _action(self, folder: Path, given: dict[str, str], context: dict[str, Any]) -> dict[str, str]:
        """Runs a composite action."""
        action = yaml.safe_load((folder / "action.yml").read_text())
        unknown = given.keys() - action["inputs"].keys()
        assert not unknown, unknown
        for name, about in action["inputs"].items():
            assert name in given or not about.get("required"), name
        inputs = {name: given.get(name, about.get("default", "")) for name, about in action["inputs"].items()}
        own = {"github": self.github, "inputs": inputs, "env": context["env"]}
        for step in action["runs"]["steps"]:
            assert "uses" in step or step["shell"] == "bash", "a step of an action names its shell"
        found = self._steps(action["runs"]["steps"], own, {"GITHUB_ACTION_PATH": str(folder)})
        self.outputs = {name: fill(one["value"], {"steps": found}) for name, one in action["outputs"].items()}
        return self.outputs


def machine() -> dict[str, str]:
    """The environment of a fresh machine: none of ours but what finds programs."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}


def assignments(text: str) -> dict[str, str]:
    """What a step has written into one of its files: ``name=value`` lines."""
    pairs = [line.partition("=") for line in text.splitlines()]
    assert all(equals for _, equals, _ in pairs), text
    return {name: value for name, _, value in pairs}
