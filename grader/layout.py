"""What the boxes of one grading find of the grader: its drivers, and the packages that submissions may import.

The drivers are copied into the grading's own folder, so that no box needs to see anything of the repository; so is
what a sandbox cannot reach where it lies.
"""

from __future__ import annotations

import compileall
import importlib.util
import shutil
import sys
import threading
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from grader.assignment import Assignment
from grader.errors import InfrastructureError
from grader.home import ROOT
from grader.sandbox import Sandbox

COMMON = "common"  # what all drivers share
DRIVER = "driver.py"
JUDGES_OWN = ("derive.py", "formulas.py", "data.py", "transcript.py", "real_files.py")  # of an assignment's folder


def compile_drivers(assignment: Assignment) -> None:
    """Compiles what runs in the sandboxes, which cannot keep it: each would compile it anew.

    In a clone that cannot be written to, they do.
    """
    elsewhere, sys.pycache_prefix = sys.pycache_prefix, None  # beside the sources: they are copied together
    try:
        for folder in (ROOT / "assignments" / COMMON, *(path for path in assignment.folder.iterdir() if path.is_dir())):
            if folder.name != "__pycache__":
                compileall.compile_dir(folder, quiet=2)
    finally:
        sys.pycache_prefix = elsewhere


@dataclass
class Layout:
    """The folder that the boxes of one grading share.

    Attributes:
        assignment: whose drivers and packages.
        sandbox: who is to reach them.
        work: the grading's own folder.
    """

    assignment: Assignment
    sandbox: Sandbox
    work: Path
    _copies: dict[Path, Path] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def drivers(self) -> Path:
        """The folder that holds ``assignments/`` as drivers import it, without what is the judge's own."""
        folder = self.work / "drivers"
        inside = folder / "assignments"
        shutil.copytree(ROOT / "assignments" / COMMON, inside / COMMON)
        shutil.copytree(self.assignment.folder, inside / self.assignment.folder.name, ignore=_judges_own)
        return folder

    @property
    def driver(self) -> Path:
        """The driver's program."""
        return self.drivers / "assignments" / self.assignment.folder.name / DRIVER

    @cached_property
    def packages(self) -> list[Path]:
        """A folder of links to the packages that the code may import, and what the links lead to."""
        if not self.assignment.submission.packages:
            return []
        folder = self.work / "packages"
        folder.mkdir()
        found = [path for name in self.assignment.submission.packages for path in _package(name)]
        for path in found:
            (folder / path.name).symlink_to(self.seen(path))
        return [folder, *map(self.seen, found)]

    def seen(self, path: Path) -> Path:
        """Where the boxes see what lies at ``path``: there or, where they cannot reach it, in a copy."""
        if path.is_relative_to(self.work):
            return path
        if self.sandbox.reaches(path):
            return path.resolve()  # the way there, through links, may lead through folders that are closed
        with self._lock:
            if path not in self._copies:
                self._copies[path] = self._copied(path)
            return self._copies[path]

    def _copied(self, path: Path) -> Path:
        target = self.work / "copies" / str(len(self._copies)) / path.name
        target.parent.mkdir(parents=True)
        if path.is_dir():
            shutil.copytree(path, target)
        else:
            shutil.copyfile(path, target)
        for folder in (target, *target.rglob("*")):
            folder.chmod(0o755 if folder.is_dir() else 0o644)
        return target


def _judges_own(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name in JUDGES_OWN]


def _package(name: str) -> list[Path]:
    """Where a package of the grader's environment lies: its folder or file, and the folder of its libraries."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise InfrastructureError(f"the package {name}, which submissions may import, is not installed")
    path = Path(spec.origin)
    path = path.parent if path.name == "__init__.py" else path
    libraries = path.with_name(f"{name}.libs")
    return [path, libraries] if libraries.is_dir() else [path]
