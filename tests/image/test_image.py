"""The TAs' image, built and run: the README's two commands, as root and as another user, without a network."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from grader import __version__
from tests.grader.test_sbom import pinned, validated
from tests.image import submissions
from tests.image.store import Store
from tests.support import ROOT

pytestmark = pytest.mark.slow

MOST_MB = 900
README = (ROOT / "README.md").read_text("utf-8")
PLACE = "/opt/tensorgrade"
STRONG = ("--security-opt=seccomp=unconfined", "--security-opt=unmask=ALL")  # Docker: systempaths=unconfined
SECRET = ("--env=API_KEY=tensorgrade-secret",)
QUICK = ("--no-second-look", "--quiet")
SCORES = {submissions.REFERENCE: 100, submissions.TEMPLATE: 0, submissions.HOSTILE: 100}


def as_in_the_readme(*volumes: str, tmp: str = "/tmp") -> list[str]:
    """The flags of the README's command, with these folders for its volumes; ``tmp``: with options of the mount."""
    lines = [line for line in README.replace("\\\n", " ").splitlines() if line.startswith("docker run ")]
    assert [re.findall(r" tensorgrade (\w+)", line) for line in lines] == [["batch"], ["A2"]]
    flags = {" ".join(re.sub(r' -v "[^"]*"', "", line).partition(" tensorgrade ")[0].split()) for line in lines}
    assert flags == {"docker run --rm --network none --read-only --tmpfs /tmp"}
    return ["--network=none", "--read-only", f"--tmpfs={tmp}", *(f"--volume={volume}" for volume in volumes)]


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the submissions; any user may read it."""
    folder = tmp_path_factory.mktemp("submissions")
    submissions.bases(folder)
    submissions.hostile(folder)
    opened(folder)
    return folder


def opened(folder: Path) -> None:
    """Lets other users come to a folder below pytest's own."""
    for place in (folder, *folder.parents[:2]):
        place.chmod(place.stat().st_mode | 0o055)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """The folder of the results; any user may write to it."""
    folder = tmp_path / "results"
    folder.mkdir()
    opened(folder)
    folder.chmod(0o777)
    return folder


def scores(results: Path) -> dict[str, int]:
    return {path.parent.name: json.loads(path.read_bytes())["score"] for path in results.glob("A2/*/result.json")}


def sandboxes(results: Path) -> set[str]:
    return {json.loads(path.read_bytes())["sandbox"] for path in results.glob("A2/*/result.json")}


def test_it_is_small_and_says_what_it_is(store: Store, image: str) -> None:
    (about,) = json.loads(store.buildah("images", "--json", image).stdout)
    number, unit = about["size"].split()
    assert unit in ("KB", "MB")
    assert float(number) < MOST_MB
    config: dict[str, Any] = json.loads(store.buildah("inspect", "--type=image", image).stdout)["OCIv1"]["config"]
    assert config["Entrypoint"] == [f"{PLACE}/grade"]
    assert config["User"] == "1000:1000"
    labels = {name.rpartition(".")[2]: value for name, value in config["Labels"].items() if "opencontainers" in name}
    assert labels.keys() >= {"title", "description", "version", "revision"}
    assert labels["version"] == "test"


def test_what_it_holds(store: Store, image: str) -> None:
    """No torch, no private set, nothing that lay about; the bill of materials names what is pinned, and gcc."""
    with store.container(image, "1000:1000") as name:
        place = Path(store.buildah("mount", name).stdout.strip())
        project = place / PLACE.lstrip("/")
        assert sorted(path.name for path in (project / "fixtures").glob("*/*")) == ["corpus", "public", "public"]
        holds = {path.name for path in project.iterdir()}
        assert not holds & {"tests", ".git", "results", "secret.txt", "docs", "bench"}
        packages = {path.name.lower() for path in project.glob(".venv/lib/python3*/site-packages/*")}
        assert {"numpy", "copydetect"} <= packages
        assert not packages & {"torch", "pytest", "pip"}
        built = {path.name.rpartition("-")[0] for path in (project / ".venv" / "cache").iterdir()}
        assert "A2-operators" in built
        bill = validated((project / "sbom.cdx.json").read_text("utf-8"))
        assert list(place.glob("run/secrets/*")) == []
    found = {(one["name"], one["version"]) for one in bill["components"]}
    assert set(pinned("requirements.txt") | pinned("requirements-class.txt")) <= found
    assert {"gcc", "clang", "bubblewrap", "libc6", "python"} <= {name for name, _ in found}
    assert bill["metadata"]["component"]["version"] == __version__


@pytest.mark.parametrize("user", ["0:0", "1000:1000"])
def test_both_commands_by_buildah(user: str, store: Store, image: str, handed_in: Path, results: Path) -> None:
    volumes = [f"--volume={handed_in}:/submissions:ro", f"--volume={results}:/results"]
    with store.container(image, user) as name:
        run = ["run", "--isolation=chroot", *volumes, name, "--"]
        done = store.buildah(*run, f"{PLACE}/grade", "batch", "A2", "/submissions", "--out", "/results", *QUICK)
        assert "3 graded, 0 unchanged, 0 without a score" in done.stdout
        assert scores(results) == SCORES
        assert "none" not in sandboxes(results)
        one = store.buildah(*run, f"{PLACE}/grade", "A2", "/submissions/template", *QUICK, "--json=-", check=False)
    assert json.loads(one.stdout)["score"] == 0
    assert "setting up" not in done.stderr + one.stderr, "something was installed at a run"


def container_run(
    engine: Store, image: str, handed_in: Path, *arguments: str, flags: Sequence[str] = (), tmp: str = "/tmp"
) -> dict[str, Any]:
    flags = [*as_in_the_readme(f"{handed_in}:/submissions:ro", tmp=tmp), *SECRET, *flags]
    done = engine.started(image, "A2", *arguments, *QUICK, "--json=-", flags=flags)
    assert "Traceback" not in done.stderr
    assert "setting up" not in done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_the_class_as_the_readme_has_it(engine: Store, image: str, handed_in: Path, results: Path) -> None:
    flags = as_in_the_readme(f"{handed_in}:/submissions:ro", f"{results}:/results")
    done = engine.started(image, "batch", "A2", "/submissions", "--out", "/results", *QUICK, flags=flags)
    assert "3 graded, 0 unchanged, 0 without a score" in done.stdout
    assert scores(results) == SCORES
    assert sandboxes(results) == {"landlock"}
    assert {path.stat().st_uid for path in results.rglob("*")} == {1000}
    assert (results / "ledger.sqlite").exists()


@pytest.mark.parametrize(
    ("flags", "sandbox"),
    [
        (["--user=0"], "user"),
        (["--user=12345:54321"], "landlock"),
        (STRONG, "bubblewrap"),
    ],
    ids=["root", "anybody", "strong"],
)
def test_the_sandbox_that_the_container_allows(
    flags: Sequence[str], sandbox: str, engine: Store, image: str, handed_in: Path
) -> None:
    result = container_run(engine, image, handed_in, "/submissions/hostile", "--only=encoder_backward", flags=flags)
    assert (result["score"], result["max_score"]) == (10, 10), "it saw something"
    assert result["sandbox"] == sandbox


def test_where_docker_lets_nothing_be_run(engine: Store, image: str, handed_in: Path) -> None:
    """As Docker mounts ``--tmpfs /tmp``: what is built lies on the volume."""
    options = ["--only=encoder_backward"]
    result = container_run(engine, image, handed_in, "/submissions/hostile", *options, tmp="/tmp:noexec,size=8m")
    assert (result["score"], result["sandbox"]) == (10, "landlock")


def test_the_attack_sees_where_nothing_confines_it(engine: Store, image: str, handed_in: Path) -> None:
    options = ["--only=encoder_backward", "--sandbox=limits"]
    result = container_run(engine, image, handed_in, "/submissions/hostile", *options)
    assert (result["score"], result["sandbox"]) == (0, "none")


def test_without_a_place_to_build_in_there_is_no_score(engine: Store, image: str, handed_in: Path) -> None:
    flags = [*as_in_the_readme(f"{handed_in}:/submissions:ro", tmp="/tmp:noexec"), "--env=TMPDIR=/tmp"]
    done = engine.started(image, "A2", "/submissions/reference", *QUICK, flags=flags, check=False)
    assert done.returncode == 3
    assert "/tmp is mounted noexec" in done.stderr


def test_what_else_is_asked_of_it(engine: Store, image: str, handed_in: Path) -> None:
    """No network, nothing to be written: what grades a class, and what looks after it."""
    flags = as_in_the_readme(f"{handed_in}:/submissions:ro")
    assert "this machine can grade\n" in engine.started(image, "doctor", flags=flags).stdout
    assert "tensorgrade" in engine.started(image, "--version", flags=flags).stdout
    alike = engine.started(image, "similarity", "/submissions", "--out", "/scratch/alike", flags=flags, check=False)
    assert "Traceback" not in alike.stderr
    assert "setting up" not in alike.stderr
    needs_torch = engine.started(image, "fixtures", "verify", "A2", flags=flags, check=False)
    assert needs_torch.returncode == 3
    assert "cannot be written; set GRADE_HOME to another folder" in needs_torch.stderr
    assert os.listdir(handed_in)
