"""In a container that forbids namespaces the next best wall is taken, and everything is graded as elsewhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.home import ROOT
from tests.grader.sandbox.container import contained
from tests.support import LAUNCHER

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"), reason="it takes root, and setpriv, to make a container"
)
QUICK = ("A2", "--reference", "--only", "zero_grad", "--no-second-look", "--cflags=-O0", "--quiet", "--json", "-")
SOMEBODY = 47_900
SYSTEM_PYTHON = Path(f"/usr/bin/python3.{sys.version_info.minor}")


def run(command: list[str], landlock: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(contained(command, landlock=landlock), capture_output=True, text=True, check=False)


def graded(done: subprocess.CompletedProcess[str]) -> tuple[str, int]:
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    return result["sandbox"], result["score"]


def test_root_grades_as_other_users() -> None:
    assert graded(run([str(LAUNCHER), *QUICK, "--require-sandbox"])) == ("user", 5)


def test_bubblewrap_that_is_asked_for_does_not_work() -> None:
    done = run([str(LAUNCHER), *QUICK, "--sandbox", "bubblewrap"])
    assert (done.returncode, done.stdout) == (2, "")
    assert "no sandbox works here; bubblewrap: bubblewrap does not work here" in done.stderr


def test_the_doctor_says_what_to_allow() -> None:
    done = run([str(LAUNCHER), "doctor", "--json"])
    assert done.returncode == 0, done.stdout + done.stderr
    found = {entry["name"]: entry for entry in json.loads(done.stdout)["found"]}
    assert (found["bubblewrap"]["state"], found["sandbox that is taken"]["found"]) == ("absent", "user")
    assert found["bubblewrap"]["advice"]


@pytest.mark.slow
def test_root_whose_temporary_files_nobody_else_reaches_grades_behind_landlock(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(0o700)
    done = run(["env", f"TMPDIR={tmp_path}/closed", str(LAUNCHER), *QUICK, "--require-sandbox"])
    assert graded(done) == ("landlock", 5)


def test_without_landlock_what_is_secret_has_to_be_closed() -> None:
    """The repository's fixtures are open to all: then another user is no wall."""
    done = run([str(LAUNCHER), *QUICK, "--sandbox", "user"], landlock=False)
    assert done.returncode == 2
    assert "everybody can read" in done.stderr
    assert f"chmod -R o-rwx {ROOT}" in done.stderr


@pytest.fixture
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository whose secrets are closed to others."""
    folder = Path("/tmp") / f"closed-{os.getpid()}"
    left_out = shutil.ignore_patterns(".git", ".venv", "tests", "__pycache__", ".mypy_cache", ".hypothesis")
    shutil.copytree(ROOT, folder, ignore=left_out)
    for secret in (folder / "reference", *folder.glob("fixtures/*/*/expected")):
        secret.chmod(0o700)
    return folder


@pytest.mark.slow
def test_without_landlock_permissions_keep_what_is_secret(closed: Path) -> None:
    try:
        assert graded(run([str(closed / "grade"), *QUICK, "--sandbox", "user"], landlock=False)) == ("user", 5)
    finally:
        shutil.rmtree(closed)


def usable_by_others() -> bool:
    there = SYSTEM_PYTHON.exists() and shutil.which("setpriv")
    command = ["setpriv", "--reuid", str(SOMEBODY), "--clear-groups", "--regid", str(SOMEBODY), "test", "-r"]
    return bool(there) and subprocess.run([*command, str(ROOT / "grade")], check=False).returncode == 0


@pytest.mark.skipif(not usable_by_others(), reason="nobody else can start the grader here")
def test_somebody_grades_behind_landlock(tmp_path: Path) -> None:
    packages = Path(next(path for path in sys.path if path.endswith("site-packages")))
    command = contained([str(SYSTEM_PYTHON), "-P", "-m", "grader", *QUICK, "--require-sandbox"], user=SOMEBODY)
    places = {"PYTHONPATH": f"{ROOT}:{packages}", "GRADE_HOME": "/tmp/nowhere", "HOME": "/tmp"}
    done = subprocess.run(
        command, env={**os.environ, **places}, cwd="/tmp", capture_output=True, text=True, check=False
    )
    assert graded(done) == ("landlock", 5)
