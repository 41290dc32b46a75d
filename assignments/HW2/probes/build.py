"""The build step: compiles the two files without running them, and prepares the reference's parts.

Whether a file can be imported is found out by importing it in a process of its own, as every probe does.
"""

from __future__ import annotations

import ast
import os
import re
import sys

from assignments.common.importing import import_problem
from assignments.common.probe_io import Job, write_build
from assignments.common.python_files import Build, defined, source_problem
from assignments.HW2.probes import load

LOSS = "binary_cross_entropy_loss"
KEPT = "reference.py"
LACKING = re.compile(r"No module named '([\w.]+)'")
NEEDED = {"topological_sort": "autodiff", "backpropagate": "autodiff", "Linear": "sentiment", "Network": "sentiment"}
NEEDED["SentenceSentimentTrain"] = "sentiment"
NEEDED[LOSS] = "sentiment"


def build_submission(job: Job) -> None:
    """Checks the two files and writes ``build.json``."""
    build = Build()
    sys.path.append(job.packages)
    load.preload(job)  # so that a broken autodiff.py does not keep the other file from being imported
    for part, name in load.FILES.items():
        _check_file(job, build, part, name)
    _tell_of_packages(job, build)
    write_build(job, build)


def _check_file(job: Job, build: Build, part: str, name: str) -> None:
    path = os.path.join(job.stage, name)
    if not os.path.exists(path):
        build.unavailable[part] = f"{name} is missing"
        return
    with open(path, "rb") as file:
        blob = file.read()
    if problem := source_problem(blob, name) or import_problem(job, lambda: load.module(job, part)):
        build.lost(part, name, problem)
    else:
        _look_for_definitions(build, part, name, blob)


def _tell_of_packages(job: Job, build: Build) -> None:
    """What to do where a framework of the student's own needs what is not there."""
    lacking = dict.fromkeys(name for text in build.unavailable.values() for name in LACKING.findall(text))
    if lacking and os.path.exists(os.path.join(job.stage, load.OWN_FRAMEWORK)):
        build.problems.append(
            f"the submitted minitorch, or a file that uses it, needs {', '.join(lacking)}, which is not there:"
            " leave out `--framework submitted` (the assignment's own minitorch needs NumPy alone), or the import"
        )


def _look_for_definitions(build: Build, part: str, name: str, blob: bytes) -> None:
    """Names that are not there block what needs them alone."""
    names = set(defined(ast.parse(blob).body))
    for needed, needed_in in NEEDED.items():
        if needed_in == part and needed not in names:
            build.unavailable[needed] = f"{name} defines no {needed}"


# ---- the reference's parts ---------------------------------------------------------------------------------


def kept(source: str, names: list[str]) -> str:
    """A module with these definitions alone, and what is not a definition; the main block is left out.

    So a probe that puts one function of the reference's under the student's code brings no other into reach.
    """
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if _stays(node, names)]
    return ast.unparse(tree)


def _stays(node: ast.stmt, names: list[str]) -> bool:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name in names
    return not (isinstance(node, ast.If) and "__main__" in ast.unparse(node.test))


def build_reference(job: Job) -> None:
    """Writes the kept part of the reference's file."""
    with open(job.options["source"], encoding="utf-8") as file:
        text = kept(file.read(), job.options["keeps"])
    with open(os.path.join(job.build, KEPT), "w", encoding="utf-8") as file:
        file.write(text)
    write_build(job, Build())
