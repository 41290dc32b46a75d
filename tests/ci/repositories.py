"""The course's repository and a student's, as a CI service finds them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from grader.home import ROOT

TEMPLATE = ROOT / "student_template"
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "tests", "bench", "data")


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=work")
    return git(folder, "rev-parse", "HEAD")
