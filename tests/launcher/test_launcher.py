"""The launcher: from wherever it is called, with whatever the machine lacks, set up once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.home import ROOT
from tests.support import ready_home

LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "tests", "bench", "docs", "data")
QUICK = ["A2", "--reference", "--only", "gelu_residual_backward", "--no-second-look", "--sandbox", "limits", "--quiet"]
TOOLS = ["cat", "cmp", "cp", "kill", "mkdir", "readlink", "rm", "sleep"]
REQUIREMENTS = ROOT / "grader" / "requirements.txt"

# Stands in for Python where packages would be installed: writes down what it was asked for.
FAKE_PYTHON = """\
#!/bin/sh
case "$*" in
*"-m venv "*)
    for folder; do :; done
    mkdir -p "$folder/bin"
    cp "$0" "$folder/bin/python"
    echo venv >>"$LOG" ;;
*"-m pip install "*)
    echo pip >>"$LOG"
    sleep "${PIP_SLEEP:-0}"
    exit "${PIP_EXIT:-0}" ;;
*) exec PYTHON "$@" ;;
esac
"""


@dataclass(frozen=True)
class Machine:
    """A place to set up in, with a Python that installs nothing."""

    folder: Path
    launcher: Path

    @property
    def home(self) -> Path:
        return self.folder / "home of grade"

    @property
    def log(self) -> list[str]:
        path = self.folder / "log"
        return path.read_text().split() if path.exists() else []

    def environment(self, **changes: str) -> dict[str, str]:
        fixed = {"GRADE_PYTHON": str(self.folder / "python"), "LOG": str(self.folder / "log")}
        return {**plain(), **fixed, "GRADE_HOME": str(self.home), **changes}

    def start(self, **changes: str) -> subprocess.Popen[str]:
        """Starts a quick command in a process group of its own."""
        command = [str(self.launcher), "--help"]
        return subprocess.Popen(
            command, env=self.environment(**changes), stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    def run(self, **changes: str) -> subprocess.CompletedProcess[str]:
        return launch(self.launcher, "--help", env=self.environment(**changes))


def plain() -> dict[str, str]:
    """The environment without what steers the launcher."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("GRADE_", "XDG_", "PYTHON"))}


def launch(
    launcher: Path, *arguments: str, env: dict[str, str], cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [launcher, *arguments], env=env, cwd=cwd, capture_output=True, text=True, timeout=300, check=False
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done


def without_compiler(folder: Path, *more: str) -> str:
    """A PATH that holds what the launcher needs and nothing else."""
    folder.mkdir()
    for tool in (*TOOLS, *more):
        found = shutil.which(tool)
        assert found is not None, tool
        (folder / tool).symlink_to(found)
    return str(folder)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project under a path with spaces."""
    folder = tmp_path_factory.mktemp("a clone") / "of the course's repository"
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return ready_home(tmp_path / "ready home")


@pytest.fixture
def machine(tmp_path: Path, clone: Path) -> Machine:
    fake = tmp_path / "python"
    fake.write_text(FAKE_PYTHON.replace("PYTHON", f"'{sys.executable}'"))
    fake.chmod(0o755)
    return Machine(tmp_path, clone / "grade")


def with_home(home: Path) -> dict[str, str]:
    return {**plain(), "GRADE_HOME": str(home)}


# -- from wherever it is called ---------------------------------------------------------------------------


def test_from_another_folder_and_with_spaces_in_the_path(clone: Path, home: Path, tmp_path: Path) -> None:
    done = launch(clone / "grade", *QUICK, env=with_home(home), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "score 10/10" in done.stdout
    assert done.stderr == ""
    assert list(clone.glob(".venv")) == []


@pytest.mark.parametrize("relative", [True, False])
def test_through_links(relative: bool, clone: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "clone").symlink_to(clone)
    target = tmp_path / "clone" / "grade"
    (tmp_path / "bin" / "second").symlink_to(os.path.relpath(target, tmp_path / "bin") if relative else target)
    (tmp_path / "first").symlink_to("bin/second" if relative else tmp_path / "bin" / "second")
    for launcher in (tmp_path / "first", target):
        done = launch(launcher, "template", "--check", env=with_home(home), cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr


def test_found_on_the_path(clone: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "grade").symlink_to(clone / "grade")
    env = with_home(home)
    env["PATH"] = f"{tmp_path / 'bin'}:{env['PATH']}"
    assert launch(Path("grade"), "--help", env=env, cwd=tmp_path).returncode == 0


def test_handed_to_a_shell(clone: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "grade").symlink_to(clone / "grade")
    for folder in (clone, tmp_path):
        assert launch(Path("/bin/sh"), "grade", "--help", env=with_home(home), cwd=folder).returncode == 0


def test_the_current_folder_is_no_source_of_modules(clone: Path, home: Path, tmp_path: Path) -> None:
    for name in ("numpy.py", "grader.py", "sitecustomize.py", "json.py", "yaml.py"):
        (tmp_path / name).write_text("raise SystemExit('caught')\n")
    done = launch(clone / "grade", "--help", env=with_home(home), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


# -- a clone that cannot be written -----------------------------------------------------------------------


def test_bytecode_is_kept_where_it_is_not_wanted_beside_the_sources(clone: Path, home: Path) -> None:
    environment = {**with_home(home), "PYTHONDONTWRITEBYTECODE": "1"}
    for folder in list((clone / "grader").rglob("__pycache__")):  # other tests'
        shutil.rmtree(folder)
    for _ in range(2):
        done = launch(clone / "grade", "--version", env=environment)
        assert done.returncode == 0, done.stderr
    kept = [path.name for path in (home / "cache" / "bytecode").rglob("*.pyc")]
    assert any(name.startswith("cli.") for name in kept)
    assert list((clone / "grader").rglob("__pycache__")) == []


def bubblewrap_works() -> bool:
    command = ["bwrap", "--dev-bind", "/", "/", "true"]
    return (
        shutil.which("bwrap") is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0
    )


def with_read_only(
    folder: Path, launcher: Path, *arguments: str, env: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Launches with ``folder`` mounted read-only: permissions alone would not stop root."""
    if not bubblewrap_works():
        pytest.skip("bubblewrap is not installed, or does not work here")
    wrapper = ["--dev-bind", "/", "/", "--ro-bind", str(folder), str(folder)]
    return launch(Path("bwrap"), *wrapper, str(launcher), *arguments, env=env)


def test_a_read_only_clone_with_its_home_elsewhere(clone: Path, home: Path) -> None:
    done = with_read_only(clone, clone / "grade", *QUICK, env=with_home(home))
    assert done.returncode == 0, done.stderr
    assert "score 10/10" in done.stdout


def test_a_read_only_clone_falls_back_to_the_users_cache(clone: Path, tmp_path: Path) -> None:
    ready_home(tmp_path / ".cache" / "tensorgrade")
    ready_home(tmp_path / "xdg" / "tensorgrade")
    for more in ({}, {"XDG_CACHE_HOME": str(tmp_path / "xdg")}):
        done = with_read_only(clone, clone / "grade", "--help", env={**plain(), "HOME": str(tmp_path), **more})
        assert (done.returncode, done.stderr) == (0, "")


def test_a_read_only_clone_sets_up_in_the_users_cache(clone: Path, machine: Machine, tmp_path: Path) -> None:
    env = machine.environment(HOME=str(tmp_path))
    del env["GRADE_HOME"]
    done = with_read_only(clone, clone / "grade", "--help", env=env)
    assert f"setting up {tmp_path}/.cache/tensorgrade" in done.stderr
    assert (tmp_path / ".cache" / "tensorgrade" / "stamp").read_bytes() == REQUIREMENTS.read_bytes()


def test_a_read_only_home_that_is_ready_will_do(clone: Path, home: Path) -> None:
    """An image of the TAs': the environment is part of it, and nothing can be kept there."""
    done = with_read_only(home, clone / "grade", *QUICK, env=with_home(home))
    assert done.returncode == 0, done.stderr


# -- what a machine may lack ------------------------------------------------------------------------------


def test_no_python(clone: Path, tmp_path: Path) -> None:
    env = {"PATH": without_compiler(tmp_path / "bin"), "HOME": str(tmp_path), "GRADE_HOME": str(tmp_path / "home")}
    done = launch(clone / "grade", "A2", env=env)
    assert (done.returncode, done.stdout) == (3, "")
    assert "nothing was scored: no Python >= 3.11 was found; install one (Debian, Ubuntu: apt install" in done.stderr
    assert not (tmp_path / "home").exists()


def test_a_python_too_old(clone: Path, tmp_path: Path) -> None:
    path = without_compiler(tmp_path / "bin")
    (tmp_path / "bin" / "python3").write_text("#!/bin/sh\nexit 1\n")  # what the version check of an old one gives
    (tmp_path / "bin" / "python3").chmod(0o755)
    done = launch(
        clone / "grade", "A2", env={"PATH": path, "HOME": str(tmp_path), "GRADE_HOME": str(tmp_path / "home")}
    )
    assert done.returncode == 3
    assert "no Python >= 3.11 was found" in done.stderr


def test_no_compiler(clone: Path, home: Path, tmp_path: Path) -> None:
    done = launch(clone / "grade", *QUICK, env={**with_home(home), "PATH": without_compiler(tmp_path / "bin")})
    assert (done.returncode, done.stdout) == (3, "")
    assert "no C compiler (gcc, clang, cc) was found; install one: `apt install gcc`" in done.stderr


@pytest.mark.parametrize("place", ["/dev/null/home", "/proc/home"])
def test_a_home_that_cannot_be_made(place: str, machine: Machine) -> None:
    done = machine.run(GRADE_HOME=place)
    assert done.returncode == 3
    assert f"{place} cannot be made; set GRADE_HOME to a folder that can be written" in done.stderr


def test_packages_that_cannot_be_installed(machine: Machine) -> None:
    done = machine.run(PIP_EXIT="1")
    assert (done.returncode, done.stdout) == (3, "")
    assert "installing the packages of" in done.stderr
    assert machine.run().returncode == 0, "the next try is hindered by the last"


def test_uv_is_used_where_it_is_and_pip_where_it_fails(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    uv = tmp_path / "bin" / "uv"
    for code, steps in ((0, ["venv", "uv"]), (1, ["venv", "uv", "pip"])):
        uv.write_text(f'#!/bin/sh\necho uv >>"$LOG"\nexit {code}\n')
        uv.chmod(0o755)
        (tmp_path / "log").unlink(missing_ok=True)
        done = machine.run(PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}", GRADE_HOME=str(tmp_path / f"uv-{code}"))
        assert (done.returncode, machine.log) == (0, steps)


def test_an_environment_that_lacks_a_package(clone: Path, tmp_path: Path) -> None:
    """As after an upgrade of the system's Python: the stamp is there, the packages are another one's."""
    home = tmp_path / "home"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    shutil.copyfile(REQUIREMENTS, home / "stamp")
    done = launch(clone / "grade", "A2", env=with_home(home))
    assert (done.returncode, done.stdout) == (3, "")
    assert f"the environment {home} is not whole: remove it, and ./grade makes it anew" in done.stderr


# -- set up once ------------------------------------------------------------------------------------------


def test_set_up_once(machine: Machine) -> None:
    first, second = machine.run(), machine.run()
    assert (first.returncode, second.returncode, machine.log) == (0, 0, ["venv", "pip"])
    assert "setting up" in first.stderr
    assert second.stderr == ""
    assert not (machine.home / "lock").exists()


@pytest.mark.parametrize(
    ("command", "torch"),
    [("fixtures", False), ("fixtures burn", False), ("template --check Z9", False), ("fixtures verify Z9", True)],
)
def test_torch_is_for_what_needs_it(command: str, torch: bool, machine: Machine) -> None:
    done = launch(machine.launcher, *command.split(), env=machine.environment())
    assert done.returncode == 2, done.stderr
    assert (machine.home / "stamp-test").exists() == torch


@pytest.mark.parametrize(
    ("backend", "driver", "set_up"), [("cuda", True, True), ("cuda", False, False), ("auto", True, False)]
)
def test_pycuda_is_for_a_machine_with_a_driver_that_is_asked_for(
    backend: str, driver: bool, set_up: bool, machine: Machine, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    if driver:
        (tmp_path / "bin" / "nvidia-smi").write_text("#!/bin/sh\n")
        (tmp_path / "bin" / "nvidia-smi").chmod(0o755)
    env = machine.environment(PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    done = launch(machine.launcher, "Z9", "--backend", backend, env=env)
    assert done.returncode == 2, done.stderr
    assert (machine.home / "stamp-cuda").exists() == set_up


def test_other_requirements_are_installed_anew(machine: Machine) -> None:
    machine.run()
    (machine.home / "stamp").write_text("numpy==1.0\n")
    assert machine.run().returncode == 0
    assert machine.log == ["venv", "pip", "pip"]


def test_an_environment_whose_python_is_gone_is_made_anew(machine: Machine) -> None:
    machine.run()
    python = machine.home / "bin" / "python"
    python.unlink()
    python.symlink_to("/absent/python")
    assert machine.run().returncode == 0
    assert machine.log == ["venv", "pip", "venv", "pip"]


def test_two_at_once_wait_for_one_another(machine: Machine) -> None:
    both = [machine.start(PIP_SLEEP="1") for _ in range(2)]
    told = [process.communicate(timeout=60)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert machine.log == ["venv", "pip"]
    assert sum("setting up" in text for text in told) == 1


def interrupted(machine: Machine, number: signal.Signals) -> int:
    """Ends a set-up while it installs; returns its exit status."""
    process = machine.start(PIP_SLEEP="60")
    while "pip" not in machine.log:
        time.sleep(0.02)
    os.killpg(process.pid, number)
    process.communicate(timeout=60)
    return process.returncode


def test_one_that_was_stopped_leaves_nothing_in_the_way(machine: Machine) -> None:
    assert interrupted(machine, signal.SIGTERM) == 130
    assert not (machine.home / "lock").exists()
    assert machine.run().returncode == 0


def test_one_that_was_killed_leaves_nothing_in_the_way(machine: Machine) -> None:
    assert interrupted(machine, signal.SIGKILL) == -signal.SIGKILL
    assert (machine.home / "lock").exists()
    assert machine.run().returncode == 0
    assert machine.log == ["venv", "pip", "venv", "pip"]
    assert not (machine.home / "lock").exists()


def test_a_real_set_up_after_a_killed_one(clone: Path, tmp_path: Path) -> None:
    """With pip and the pinned packages, in place of what a killed one left."""
    home = tmp_path / "a home"
    (home / "lock").mkdir(parents=True)
    (home / "lock" / "pid").write_text("999999999\n")
    (home / "bin").mkdir()
    (home / "bin" / "python").symlink_to("/absent/python")
    done = launch(clone / "grade", *QUICK, env=with_home(home))
    assert done.returncode == 0, done.stderr
    assert "score 10/10" in done.stdout
    assert "1/2 a virtual environment" in done.stderr
    installed = {path.name.split("-")[0] for path in home.glob("lib/*/site-packages/*.dist-info")}
    assert {"numpy", "pydantic", "rich", "safetensors"} <= installed
    assert installed & {"torch", "pytest"} == set()
    assert launch(clone / "grade", "--help", env=with_home(home)).stderr == ""
