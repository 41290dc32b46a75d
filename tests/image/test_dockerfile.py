"""What the image is made from, as far as that can be told without building it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
SCRIPTS = sorted((ROOT / "packages" / "image").glob("*.sh"))
IGNORED = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line and line[0] != "#"]


def test_the_base_is_pinned_by_its_digest_and_can_be_another() -> None:
    (base,) = re.findall(r"^ARG BASE_IMAGE=(\S+)$", DOCKERFILE, re.MULTILINE)
    assert re.fullmatch(r"python:3\.1\d-slim-\w+@sha256:[0-9a-f]{64}", base)


def test_each_stage_comes_from_that_base_and_the_last_is_the_image() -> None:
    stages = re.findall(r"^FROM (\S+)(?: AS (\S+))?$", DOCKERFILE, re.MULTILINE)
    known = {"${BASE_IMAGE}"}
    for source, name in stages:
        assert source in known, source
        known.add(name)
    assert stages[-1] == ("grader", "")
    assert {"grader", "cuda"} <= known


def test_neither_image_is_root_s() -> None:
    for stage in ("grader", "cuda"):
        (body,) = re.findall(rf"^FROM \S+ AS {stage}\n(.*?)(?=^FROM )", DOCKERFILE, re.MULTILINE | re.DOTALL)
        assert re.findall(r"^USER (\S+)$", body, re.MULTILINE)[-1] == "1000:1000"


def test_what_is_not_named_stays_out() -> None:
    """All is left out first: a private set, results or a key that lie about cannot come in by being forgotten."""
    assert IGNORED[0] == "*"
    assert IGNORED.index("fixtures/*/*") < IGNORED.index("!fixtures/*/public")
    named = [line.lstrip("!") for line in IGNORED if line.startswith("!")]
    assert {"grade", "grader", "assignments", "reference", "student_template", "tolerances.yaml"} <= set(named)
    assert all((ROOT / name).exists() for name in named if "*" not in name)


def test_everything_is_pinned() -> None:
    lines = (ROOT / "grader" / "requirements-cuda.txt").read_text("utf-8").splitlines()
    assert all(re.fullmatch(r"#.*|-r \S+|[\w.-]+==[\w.]+", line) for line in lines if line)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_the_scripts_are_the_shell_s(script: Path) -> None:
    shells = [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)]
    for shell in shells:
        command = [shell, *(["sh"] if shell == "busybox" else []), "-n", str(script)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    assert "set -eu\n" in script.read_text("utf-8") or script.name == "pip.sh"
