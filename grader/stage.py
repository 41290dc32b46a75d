"""What a submission is built with: a compiler, and the folder in which its files lie with ours."""

from __future__ import annotations

import compileall
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from grader.assignment import Assignment
from grader.errors import InfrastructureError
from grader.home import ROOT
from grader.submission import Taken
from grader.workplace import work_folder

TEMPLATE = "template"  # folder of the stage
Language = Literal["C", "C++"]
COMPILERS = ("gcc", "clang", "cc")
# those that are looked for, the best first, and where to get one
COMPILERS_OF: Mapping[Language, tuple[Sequence[str], str]] = {
    "C": (
        COMPILERS,
        "`apt install gcc` (Debian, Ubuntu), `dnf install gcc` (Fedora), `xcode-select --install` (macOS)",
    ),
    "C++": (("g++", "clang++", "c++"), "`apt install g++` (Debian, Ubuntu), `dnf install gcc-c++` (Fedora)"),
}


def find_compiler(asked: str | None, language: Language = "C") -> str:
    """The compiler to build with.

    Raises:
        InfrastructureError: there is none.
    """
    known, packages = COMPILERS_OF[language]
    for name in (asked,) if asked else known:
        if name and shutil.which(name):
            return name
    raise InfrastructureError(
        f"no {language} compiler ({asked or ', '.join(known)}) was found; install one: {packages}"
    )


def why_broken(compiler: str) -> str | None:
    """Why the compiler cannot build even the plainest program; None where it can."""
    plain = "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\nint main(void) { return 0; }\n"
    with work_folder() as folder:
        command = [compiler, "-x", "c", "-", "-o", str(folder / "plain"), "-lm"]
        done = subprocess.run(command, input=plain, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode == 0 and (folder / "plain").exists():
            return None
    first = next(iter(done.stderr.splitlines()), "it gives no reason" if done.returncode else "it makes no file")
    return f"{compiler} cannot build a plain program ({first}); Debian and Ubuntu need: apt install gcc libc6-dev"


def version_of(compiler: str) -> str:
    """The first line of what it says of itself."""
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout.splitlines() or [""])[0]


def stage_files(assignment: Assignment, taken: Taken, stage: Path) -> None:
    """Lays out what the student's code is built with: the template's files, the submission's on top."""
    for name in assignment.submission.provided:
        target = stage / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "student_template" / assignment.id / name, target)
    if assignment.submission.language == "python":
        for name in assignment.submission.files:  # as students get them, to stand in where one cannot be used
            (stage / TEMPLATE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / "student_template" / assignment.id / name, stage / TEMPLATE / name)
        # once, and not in each of many short processes
        for folder in (stage, assignment.folder, ROOT / "assignments" / "common"):
            compileall.compile_dir(folder, quiet=2)
    for name, blob in taken.files.items():
        target = stage / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(blob)
