"""Packages for course sites: their scripts are run as the sites run them, in the sites' own folders."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from grader import assignment as assignments
from grader import package
from grader.cli import main
from grader.home import ROOT
from tests.support import run_command

RIGHT = (ROOT / "reference" / "A2" / "train_gpt2.c").read_text()
TEMPLATE = (ROOT / "student_template" / "A2" / "train_gpt2.c").read_text()
ROW = "gelu_residual_backward"
QUICK = ("--only", ROW, "--no-second-look", "--cflags=-O0")
STARTING = "this text has no declarations;"
LONGEST_S = 120.0
SLOW = pytest.mark.slow  # the same once more, at another site

Record = dict[str, Any]


def made(site: str, out: Path, *options: str) -> Path:
    """A package whose gradings take these options."""
    done = run_command("package", site, "A2", "--out", out, "--", *(options or QUICK))
    assert done.exit == 0, done.stderr
    return out


def run(script: Path, *arguments: str | Path, **environment: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs a script as a site does, from a folder of the site's choice."""
    found = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    command = ["sh", script, *arguments]
    return subprocess.run(command, cwd="/", env=found, capture_output=True, text=True, timeout=LONGEST_S, check=False)


def hand_in(folder: Path, text: str | None) -> None:
    """Puts a file of the student's there, or none."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if text is not None:
        (folder / "train_gpt2.c").write_text(text)


def read(path: Path) -> Record:
    found: Record = json.loads(path.read_bytes())
    return found


# -- Gradescope ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def autograder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``/autograder``, under another name: the zip is unpacked into ``source``."""
    root = tmp_path_factory.mktemp("grade scope")
    archive = made("gradescope", root / "a2.zip")
    with zipfile.ZipFile(archive) as content:
        content.extractall(root / "source")
        modes = {info.filename: info.external_attr >> 16 for info in content.infolist()}
    assert modes["run_autograder"] == modes["setup.sh"] == modes["tensorgrade/grade"] == 0o755
    shutil.copyfile(root / "source" / "run_autograder", root / "run_autograder")
    return root


@pytest.mark.parametrize(
    ("text", "score", "tag"),
    [(RIGHT, 10, "pass"), pytest.param(TEMPLATE, 0, "not_implemented", marks=SLOW), (None, 0, "blocked")],
)
def test_gradescope(text: str | None, score: int, tag: str, autograder: Path) -> None:
    hand_in(autograder / "submission", text)
    done = run(autograder / "run_autograder", AUTOGRADER=autograder)
    assert done.returncode == 0, done.stderr
    found = read(autograder / "results" / "results.json")
    (test,) = found["tests"]
    assert (found["score"], test["score"], test["max_score"], test["tags"]) == (score, score, 10, [tag])
    assert ("there is no train_gpt2.c" in found["output"]) == (text is None)


def test_gradescope_s_file_holds_what_was_done_when_the_time_is_up(autograder: Path, tmp_path: Path) -> None:
    root = tmp_path / "autograder"
    made("gradescope", root / "source", "--only", f"{ROW},adamw", "--no-second-look", "--cflags=-O0")
    hand_in(root / "submission", re.sub(r"(\bgpt2_update\([^;{]*\{)", r"\1 for (volatile int i = 0; ; i++) { }", RIGHT))
    results = root / "results" / "results.json"
    environment = {**os.environ, "AUTOGRADER": str(root)}
    running = subprocess.Popen(
        ["sh", root / "source" / "run_autograder"], env=environment, stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        until = time.monotonic() + LONGEST_S
        while not results.exists() and running.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        assert running.poll() is None, "it ended before it could be stopped"
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    found = read(results)
    assert found["extra_data"]["complete"] is False
    assert "grading has not ended" in found["output"]
    assert found["tests"][-1]["tags"] == ["blocked"]
    assert "not judged yet" in found["tests"][-1]["output"]


def test_gradescope_gets_no_score_where_nothing_was_graded(autograder: Path, tmp_path: Path) -> None:
    root = tmp_path / "autograder"
    shutil.copytree(autograder, root)
    hand_in(root / "submission", RIGHT)
    (root / "results").mkdir(exist_ok=True)
    (root / "results" / "results.json").write_text("{}")
    (root / "source" / "tensorgrade" / "tolerances.yaml").write_text("")
    done = run(root / "run_autograder", AUTOGRADER=root)
    assert done.returncode == 3
    assert "nothing was scored" in done.stderr
    assert not (root / "results" / "results.json").exists()


def test_the_set_up_installs_what_is_missing_and_grades_the_reference(autograder: Path, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("gcc", "apt-get"):
        (tools / name).write_text(
            f'#!/bin/sh\necho "{name} $*" >>"$LOG"\n[ {name} = gcc ] || exit 0\nexec /usr/bin/gcc "$@"\n'
        )
        (tools / name).chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    done = run(autograder / "source" / "setup.sh", AUTOGRADER=autograder, PATH=path, LOG=tmp_path / "log")
    assert done.returncode == 0, done.stderr
    assert "score 10/10" in done.stdout
    here = autograder / "source" / "tensorgrade"
    for secret in (here / "reference", here / "fixtures" / "A2" / "public" / "expected"):
        assert secret.stat().st_mode & 0o077 == 0
    installed = [line for line in (tmp_path / "log").read_text().splitlines() if line.startswith("apt-get install")]
    assert installed == ([] if shutil.which("bwrap") else ["apt-get install -y -qq --no-install-recommends bubblewrap"])


# -- PrairieLearn --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made("prairielearn", tmp_path_factory.mktemp("course") / "out")


@pytest.mark.parametrize(
    ("text", "gradable", "score"),
    [pytest.param(RIGHT, True, 1.0, marks=SLOW), pytest.param(TEMPLATE, True, 0.0, marks=SLOW), (STARTING, False, 0.0)],
)
def test_prairielearn(text: str, gradable: bool, score: float, course: Path, tmp_path: Path) -> None:
    hand_in(tmp_path / "student", text)
    done = run(course / "image" / "tensorgrade" / "run.sh", GRADE=tmp_path)
    assert done.returncode == 0, done.stderr
    found = read(tmp_path / "results" / "results.json")
    assert (found["gradable"], found["score"]) == (gradable, score)
    assert found.get("format_errors", ["it does not compile"])[0].startswith("it does not compile")


def test_prairielearn_s_question_names_image_and_files(course: Path) -> None:
    info = read(course / "questions" / "A2" / "info.json")
    options = info["externalGradingOptions"]
    assert (options["image"], options["entrypoint"]) == ("tensorgrade-a2", "/tensorgrade/run.sh")
    assert options["timeout"] <= 600
    page = (course / "questions" / "A2" / "question.html").read_text()
    assert 'file-names="train_gpt2.c"' in page
    assert "@" not in page
    docker = (course / "image" / "Dockerfile").read_text()
    assert "docker build -t tensorgrade-a2 ." in docker


# -- Autolab -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made("autolab", tmp_path_factory.mktemp("lab") / "out")


@pytest.mark.slow
@pytest.mark.parametrize(("text", "score"), [(RIGHT, 10), (TEMPLATE, 0)])
def test_autolab(text: str, score: int, lab: Path, tmp_path: Path) -> None:
    hand_in(tmp_path / "autolab", text)
    shutil.copyfile(lab / "a2" / "autograde-Makefile", tmp_path / "autolab" / "Makefile")
    shutil.copyfile(lab / "a2" / "autograde.tar", tmp_path / "autolab" / "autograde.tar")
    environment = {**os.environ, "TENSORGRADE": str(lab / "image" / "tensorgrade")}
    done = subprocess.run(
        ["make"],
        cwd=tmp_path / "autolab",
        env=environment,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.rstrip().split("\n")[-1]) == {"scores": {ROW: score}, "scoreboard": [score]}


def test_autolab_s_problems_are_the_rows(lab: Path) -> None:
    found = yaml.safe_load((lab / "a2" / "a2.yml").read_text())
    rows = assignments.load("A2").rows
    assert {problem["name"]: problem["max_score"] for problem in found["problems"]} == {
        row.id: row.points for row in rows
    }
    assert found["general"]["handin_filename"] == "train_gpt2.c"
    assert found["autograder"]["autograde_image"] == "tensorgrade-a2"


def test_autolab_takes_an_archive_where_there_are_several_files() -> None:
    files = package.autolab(package.Settings(assignments.load("HW2"), None, [], "image"))
    assert b"@sh ./autograde.sh handin.zip\n" in files["hw2/autograde-Makefile"]
    with tarfile.open(fileobj=io.BytesIO(files["hw2/autograde.tar"])) as archive:
        assert archive.getnames() == ["autograde.sh"]


# -- all of them ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_files_without_their_folders_are_graded_too(tmp_path: Path) -> None:
    """As when a student drops two files on a page: HW2's lie in two folders."""
    out = tmp_path / "out"
    assert (
        run_command("package", "gradescope", "HW2", "--out", out, "--", "--no-training", "--only", "linear_init").exit
        == 0
    )
    flat = tmp_path / "submission"
    flat.mkdir()
    for name in assignments.load("HW2").submission.files:
        shutil.copyfile(ROOT / "reference" / "HW2" / name, flat / Path(name).name)
    done = run(out / "tensorgrade" / "grade-submission.sh", flat)
    assert "score 4/4" in done.stdout, done.stdout + done.stderr


def test_a_private_set_goes_with_it(tmp_path: Path) -> None:
    private = tmp_path / "a set"
    shutil.copytree(ROOT / "fixtures" / "A2" / "public", private)
    a2 = assignments.load("A2")
    files = package.gradescope(package.Settings(a2, private, ["--cflags=-O0 -g"], ""))
    text = files["tensorgrade/assignment"].decode()
    assert text.endswith("""set -- --fixtures "$here/fixtures/A2/private" '--cflags=-O0 -g' "$@"\n""")
    assert "tensorgrade/fixtures/A2/private/manifest.json" in files
    assert "tensorgrade/fixtures/A2/public/manifest.json" in files  # graded against both


def test_the_same_package_has_the_same_bytes() -> None:
    settings = package.Settings(assignments.load("A2"), None, [], "image")
    first, second = (package.zipped(package.gradescope(settings)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("site", package.SITES)
@pytest.mark.parametrize("assignment_id", assignments.known_ids())
def test_nothing_is_in_it_that_grading_does_not_need(site: str, assignment_id: str) -> None:
    others = {f"/{other}/" for other in assignments.known_ids() if other != assignment_id}
    files = package.SITES[site](package.Settings(assignments.load(assignment_id), None, [], "image"))
    for name in files:
        assert not any(other in f"/{name}" for other in others), name
        assert not {"tests", "bench", ".git", "__pycache__", ".venv"} & set(name.split("/")), name
    assert sum(map(len, files.values())) < 20e6


PUBLIC = str(ROOT / "fixtures" / "A2" / "public")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["gradescope", "A2", "--out", "full"], "full is there already"),
        (["moodle", "A2", "--out", "new"], "invalid choice"),
        (["gradescope", "A3", "--out", "new"], "there is no assignment `A3`"),
        (["gradescope", "A2", "--out", "new", "--", "--no-such"], "unrecognized arguments: --no-such"),
        (["gradescope", "HW2", "--out", "new", "--fixtures", PUBLIC], "holds no fixtures of HW2"),
        (["gradescope", "A2", "--out", "/proc/new"], "/proc/new cannot be written"),
    ],
)
def test_wrong_usage(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    monkeypatch.chdir(tmp_path)
    assert main(["package", *arguments]) == 2
    assert told in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["full"]


@pytest.mark.parametrize(
    ("before", "behind", "told"),
    [
        ([], ["--help"], "options of each grading"),
        ([], ["--only", "nonsense"], "has no row `nonsense`"),
        ([], ["--min-score", "500"], "not between 0 and 100"),
        ([], ["folder"], "'folder' behind `--` is no option"),
        ([], ["--reference"], "--reference and --watch have no meaning"),
        ([], ["--watch"], "--reference and --watch have no meaning"),
        ([], ["--fixtures", "x"], "--fixtures stands before"),
        ([], ["--report", "json=-"], "--report and --json have no meaning"),
        (["--image", "a\nRUN b"], [], "not the name of an image"),
    ],
)
def test_what_has_no_meaning_at_a_site_is_refused_now(
    before: list[str], behind: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["package", "prairielearn", "A2", "--out", str(out), *before, "--", *behind]) == 2
    assert told in capsys.readouterr().err
    assert not out.exists()


def test_a_device_is_no_place_for_a_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["package", "gradescope", "A2", "--out", "/dev/full"]) == 2
    assert "/dev/full is there already" in capsys.readouterr().err
