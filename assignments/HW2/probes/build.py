"""The build step: compiles the two files without running them, and prepares the reference's parts.

Whether a file can be imported is found out by importing it in a process of its own, as every probe does.
"""

from __future__ import annotations

import ast
import codecs
import json
import os
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from assignments.common.probe_io import Job, Report, in_own_process, write_json
from assignments.HW2.probes import load
from assignments.HW2.probes.outcome import explain

LOSS = "binary_cross_entropy_loss"
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
MOST_REASON = 1000  # characters
KEPT = "reference.py"
LACKING = re.compile(r"No module named '([\w.]+)'")
NEEDED = {"topological_sort": "autodiff", "backpropagate": "autodiff", "Linear": "sentiment", "Network": "sentiment"}
NEEDED["SentenceSentimentTrain"] = "sentiment"
NEEDED[LOSS] = "sentiment"


@dataclass
class Build:
    """What the build step hands back, in ``build.json``."""

    ok: bool = True
    messages: str = ""
    unavailable: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def lost(self, part: str, name: str, reason: str) -> None:
        """A file that cannot be used, and why; a line of code in the reason may be as long as the file."""
        reason = reason if len(reason) <= MOST_REASON else reason[:MOST_REASON] + "..."
        self.unavailable[part] = f"{name}{reason}"
        self.problems.append(f"{name}{reason}")


def build_submission(job: Job) -> None:
    """Checks the two files and writes ``build.json``."""
    build = Build()
    sys.path.append(job.packages)
    load.preload(job)  # so that a broken autodiff.py does not keep the other file from being imported
    for part, name in load.FILES.items():
        _check_file(job, build, part, name)
    _tell_of_packages(job, build)
    write_json(os.path.join(job.out, "build.json"), vars(build))


def _check_file(job: Job, build: Build, part: str, name: str) -> None:
    path = os.path.join(job.stage, name)
    if not os.path.exists(path):
        build.unavailable[part] = f"{name} is missing"
        return
    with open(path, "rb") as file:
        blob = file.read()
    if _is_notebook(blob):
        build.lost(part, name, " is a notebook; export it as a script (jupyter nbconvert --to script)")
    elif (problem := syntax_problem(blob, name)) or (problem := _import_problem(job, part)):
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


def _is_notebook(blob: bytes) -> bool:
    try:
        content = json.loads(blob)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and "cells" in content


def syntax_problem(blob: bytes, name: str) -> str:
    """Why Python does not take a source file, with the line; empty if it does."""
    if blob.startswith(UTF_16):
        return " is UTF-16, which some editors call Unicode; save it as UTF-8"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(blob, name, "exec", dont_inherit=True)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        text = f": {error.text.strip()}" if error.text else ""
        return f"{line}: {type(error).__name__}: {error.msg}{text}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f": {type(error).__name__}: {error}"
    return ""


def _import_problem(job: Job, part: str) -> str:
    def work(report: Report) -> None:
        try:
            load.module(job, part)
        except BaseException as error:
            report.send(problem=explain(error, job.stage))
            raise

    ending = in_own_process(work, job.limits["case_s"])
    problem = ending.merged().get("problem")
    if problem:
        return f" cannot be imported: {problem}"
    if ending.status == "ok":
        return ""
    return " cannot be imported: " + ("it does not end" if ending.status == "timed_out" else "it ends the program")


def _defined(body: list[ast.stmt]) -> Iterator[str]:
    """The names that a module has: those of its own level, also under an ``if``, a ``try`` or a ``with``."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            yield from (name.id for name in ast.walk(node) if isinstance(name, ast.Name))
        for inner in ("body", "orelse", "finalbody"):
            yield from _defined(getattr(node, inner, []))
        for handler in getattr(node, "handlers", []):
            yield from _defined(handler.body)


def _look_for_definitions(build: Build, part: str, name: str, blob: bytes) -> None:
    """Names that are not there block what needs them alone."""
    defined = set(_defined(ast.parse(blob).body))
    for needed, needed_in in NEEDED.items():
        if needed_in == part and needed not in defined:
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
    write_json(os.path.join(job.out, "build.json"), vars(Build()))
