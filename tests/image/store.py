"""Where the tests keep images and containers: a folder of their own, that nothing is left of."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

LONGEST_S = 1800.0
ENOUGH = 4096  # processes, and open files, for whatever runs in a container here
Done = subprocess.CompletedProcess[str]
MOUNTS = Path("/proc/self/mounts")


def run(command: Sequence[str | Path], check: bool = True) -> Done:
    """Runs a command; what it said is in the assertion where it fails."""
    done = subprocess.run(list(command), capture_output=True, text=True, timeout=LONGEST_S, check=False)
    assert not check or done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done


def _below(hard: int) -> int:
    return ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard // 2)


@dataclass(frozen=True)
class Store:
    """Images and containers.

    Attributes:
        folder: where they lie.
        driver: how layers are kept: overlay, or vfs, which copies them and works everywhere.
    """

    folder: Path
    driver: str

    @property
    def _where(self) -> list[str]:
        store, state = map(str, self._own)
        return ["--root", store, "--runroot", state, "--storage-driver", self.driver]

    @property
    def _own(self) -> list[Path]:
        return [self.folder / f"{part}-{self.driver}" for part in ("store", "run")]

    def buildah(self, *arguments: str | Path, check: bool = True) -> Done:
        """Runs buildah."""
        return run(["buildah", *self._where, *arguments], check)

    def podman(self, *arguments: str | Path, check: bool = True) -> Done:
        """Runs Podman, with a runtime that needs no cgroups of version 2."""
        return run(["podman", *self._where, "--cgroup-manager=cgroupfs", "--runtime=runc", *arguments], check)

    def started(self, image: str, *arguments: str | Path, flags: Sequence[str] = (), check: bool = True) -> Done:
        """``podman run``, with limits below this process's: more may not be given, nor everywhere just as much."""
        kinds = (("nofile", resource.RLIMIT_NOFILE), ("nproc", resource.RLIMIT_NPROC))
        most = {name: _below(resource.getrlimit(kind)[1]) for name, kind in kinds}
        limits = [f"--ulimit={name}={bound}:{bound}" for name, bound in most.items()]
        return self.podman("run", "--rm", *limits, *flags, image, *arguments, check=check)

    @contextmanager
    def container(self, image: str, user: str) -> Iterator[str]:
        """A container of buildah's, to be run as a user."""
        name = self.buildah("from", "--pull-never", image).stdout.strip()
        try:
            self.buildah("config", "--user", user, name)
            yield name
        finally:
            self.buildah("rm", name)

    def close(self) -> None:
        """Removes all of it."""
        self.buildah("rm", "--all", check=False)
        self.buildah("rmi", "--all", "--force", check=False)
        mounts = [line.split()[1] for line in MOUNTS.read_text().splitlines()]
        for own in self._own:
            for place in reversed([mount for mount in mounts if Path(mount).is_relative_to(own)]):
                run(["umount", "--lazy", place], check=False)
            shutil.rmtree(own, ignore_errors=True)


def opened(folder: Path) -> Store:
    """A store with the quickest driver that works there."""
    for driver in ("overlay", "vfs"):
        store = Store(folder, driver)
        made = store.buildah("from", "scratch", check=False)
        if made.returncode == 0 and store.buildah("mount", made.stdout.strip(), check=False).returncode == 0:
            store.buildah("rm", "--all")
            return store
        store.close()
    raise AssertionError(f"buildah keeps no images in {folder}: {made.stderr}")


def missing() -> str | None:
    """What is not there to build an image with."""
    if os.geteuid() != 0:
        return "images are built as root here"
    absent = [tool for tool in ("buildah", "mmdebstrap") if shutil.which(tool) is None]
    return f"{' and '.join(absent)} not installed: .ci/run installs what the tests need" if absent else None
