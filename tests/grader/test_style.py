"""Types and lint, over the whole project."""

from __future__ import annotations

import subprocess
import sys

import yaml

from grader.home import ROOT


def run(*command: str) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types() -> None:
    run("mypy")


def test_lint() -> None:
    run("ruff", "check", "--no-cache")


def test_data_is_read_alike_by_both_of_yamls_parsers() -> None:
    """The grader takes libyaml where it is there, which accepts more than PyYAML's own."""
    files = [path for folder in ("assignments", "reference", "tests") for path in (ROOT / folder).rglob("*.yaml")]
    assert len(files) > 10
    for path in [*files, ROOT / "tolerances.yaml"]:
        text = path.read_bytes()
        assert yaml.load(text, yaml.SafeLoader) == yaml.load(text, yaml.CSafeLoader), path
