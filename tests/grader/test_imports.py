"""Two sides of a wall: what runs in the sandbox and what judges never import one another."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from grader.home import ROOT
from tests.support import run_command

ASSIGNMENTS = ROOT / "assignments"
DRIVERS = sorted(ASSIGNMENTS.glob("*/driver.py"))
JUDGES = ("transcript.py", "real_files.py", "derive.py", "data.py")  # of an assignment's folder
JUDGING = [*(ROOT / "grader").rglob("*.py"), *(path for name in JUDGES for path in ASSIGNMENTS.glob(f"*/{name}"))]
REFERENCE = sorted((ROOT / "reference").rglob("*.py"))
# How a case is written down, how sentences become numbers, how much is recorded: said once, for both sides. They import
# nothing of ours.
SHARED = {f"assignments/HW2/probes/{name}.py" for name in ("program", "recorded", "sentences")}


def modules(path: Path) -> Iterator[str]:
    """Every module that a file names in an import, wherever in the file that stands."""
    package = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            name = ".".join(part for part in (base, node.module) if part)
            yield name
            yield from (f"{name}.{alias.name}" for alias in node.names)


def files_of(module: str) -> Iterator[Path]:
    """The project's files that importing a module runs: its own, and those of the packages around it."""
    parts = module.split(".")
    for length in range(1, len(parts) + 1):
        place = ROOT.joinpath(*parts[:length])
        yield from (path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file())


def reached(roots: Iterable[Path]) -> set[Path]:
    """All files of the project that these import, themselves among them."""
    found: set[Path] = set()
    waiting = list(roots)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [file for module in modules(path) for file in files_of(module)]
    return found


def with_code(files: set[Path]) -> set[str]:
    """The files that hold more than a docstring, by their names in the project."""
    return {path.relative_to(ROOT).as_posix() for path in files if len(ast.parse(path.read_bytes()).body) > 1}


def test_imports_are_found_wherever_they_stand() -> None:
    found = reached([ASSIGNMENTS / "A2" / "driver.py"])
    assert ASSIGNMENTS / "A2" / "native" / "programs.py" in found, "imported within a function"
    assert ASSIGNMENTS / "common" / "probe_io.py" in found, "imported by what is imported"


@pytest.mark.parametrize("driver", DRIVERS, ids=[path.parent.name for path in DRIVERS])
def test_the_sandbox_imports_nothing_that_judges(driver: Path) -> None:
    names = with_code(reached([driver]))
    assert {name for name in names if not name.startswith(("assignments/", "student_template/"))} == set()
    assert {name for name in names if name.rsplit("/", 1)[-1] in JUDGES} == set()


@pytest.mark.parametrize("driver", DRIVERS, ids=[path.parent.name for path in DRIVERS])
def test_the_sandbox_names_no_module_that_judges(driver: Path) -> None:
    named = {module.split(".")[0] for path in reached([driver]) for module in modules(path)}
    assert named & {"grader", "reference", "tests", "bench", "torch", "safetensors", "pydantic"} == set()


def test_the_judge_imports_nothing_of_the_sandbox() -> None:
    driven = with_code(reached(DRIVERS))
    assert driven
    assert with_code(reached(JUDGING)) & driven <= SHARED


def test_the_reference_imports_nothing_of_the_sandbox() -> None:
    assert with_code(reached(REFERENCE)) & with_code(reached(DRIVERS)) <= SHARED


@pytest.mark.parametrize("name", sorted(SHARED))
def test_what_both_sides_import_imports_nothing_of_ours(name: str) -> None:
    if (ROOT / name).is_file():
        assert with_code(reached([ROOT / name])) == {name}


def test_grading_imports_no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    done = run_command("A2", "--reference", "--no-second-look", "--quiet")
    assert done.exit == 0
    imported = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines() if "|" in line}
    assert {"numpy", "grader.judge"} <= imported
    assert {name.split(".")[0] for name in imported} & {"torch", "reference", "pytest", "hypothesis"} == set()
