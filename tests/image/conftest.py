"""The image, built as the README says, on a base that stands in for Python's: Debian of this machine's release."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.image.store import Done, Store, missing, opened, run
from tests.support import ROOT

# For working on the image: a folder in which the base, and each layer that has not changed, is kept from run to run.
KEPT = os.environ.get("IMAGE_STORE")
BASE, IMAGE = "localhost/base", "localhost/tensorgrade"
# without Perl, as small bases are; written without waiting for the disk, as images are made
HOW = ("--variant=minbase", "--mode=root", "--dpkgopt=force-unsafe-io")
MERGED = "/usr/share/mmdebstrap/hooks/merged-usr"
SOURCES = (Path("/etc/apt/sources.list.d/debian.sources"), Path("/etc/apt/sources.list"))
DOCKERFILE = 'FROM scratch\nADD base.tar /\nCMD ["/bin/sh"]\n'


@pytest.fixture(scope="session")
def store() -> Iterator[Store]:
    """Where the images are, not below pytest's folder: it keeps those of three runs."""
    if reason := missing():
        pytest.skip(reason)
    if KEPT:
        yield opened(Path(KEPT))
        return
    folder = Path(tempfile.mkdtemp(prefix="images-"))
    found = opened(folder)
    yield found
    found.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def base(store: Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A base without anything of ours."""
    if KEPT and store.buildah("inspect", "--type=image", BASE, check=False).returncode == 0:
        return BASE
    release = platform.freedesktop_os_release()
    if release.get("ID") != "debian" or "VERSION_CODENAME" not in release:
        pytest.skip("the base stands for Debian's: it is made on Debian")
    folder = tmp_path_factory.mktemp("base")
    sources = [str(path) for path in SOURCES if path.is_file()][:1]
    command = ["mmdebstrap", *HOW, f"--hook-dir={MERGED}", release["VERSION_CODENAME"], str(folder / "base.tar")]
    done = run([*command, *sources], check=False)
    if done.returncode != 0:
        pytest.skip(f"no base can be made here: {done.stderr[-300:]}")
    (folder / "Dockerfile").write_text(DOCKERFILE)
    store.buildah("bud", "--isolation=chroot", "--tag", BASE, folder)
    (folder / "base.tar").unlink()
    return BASE


@pytest.fixture(scope="session")
def context(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone as a TA has it: of what git knows, with a private set, an environment and results lying about."""
    folder = tmp_path_factory.mktemp("clone") / "tensorgrade"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name in ("fixtures/A2/fall/manifest.json", ".venv/bin/python", "results/ledger.sqlite", "secret.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("secret")
    return folder


@pytest.fixture(scope="session")
def image(store: Store, base: str, context: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The image."""
    secrets = _pip(tmp_path_factory.mktemp("secrets"))
    arguments = [f"--build-arg=BASE_IMAGE={base}", "--build-arg=VERSION=test", "--target=grader"]
    layers = f"--layers={'true' if KEPT else 'false'}"  # vfs copies each
    store.buildah("bud", "--isolation=chroot", layers, *secrets, *arguments, "--tag", IMAGE, context)
    return IMAGE


def _pip(folder: Path) -> list[str]:
    """This machine's settings of pip, as secrets of the build."""
    listed = subprocess.run(["pip", "config", "list"], capture_output=True, text=True, check=False).stdout
    found = dict(line.split("=", 1) for line in listed.splitlines() if "=" in line)
    index = next((found[key].strip("'") for key in (":env:.index-url", "global.index-url") if key in found), None)
    certificates = os.environ.get("PIP_CERT") or next((found[k].strip("'") for k in found if k.endswith(".cert")), None)
    secrets = []
    if index:
        (folder / "pip.conf").write_text(f"[global]\nindex-url = {index}\n")
        secrets.append(f"--secret=id=pip,src={folder / 'pip.conf'}")
    if certificates:
        secrets.append(f"--secret=id=ca,src={certificates}")
    return secrets


@pytest.fixture(scope="session")
def engine(store: Store, image: str) -> Store:
    """The store, where Podman starts containers: as Docker does, with a root that is really read-only."""
    if shutil.which("podman") is None or shutil.which("runc") is None:
        pytest.skip("podman or runc is not installed: .ci/run installs what the tests need")
    done: Done = store.started(image, "--version", flags=["--network=none"], check=False)
    if done.returncode != 0:
        pytest.skip(f"no container can be started here: {done.stderr.strip()[-300:]}")
    return store
