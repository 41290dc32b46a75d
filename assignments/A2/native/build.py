"""Builds the student's file around the shim, and our operators for interposition.

A part of the shim that does not compile against the student's declarations is left out and named, so
that one renamed function costs its own row alone. The compiler's messages about the student's file are
handed back with file and line.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

from assignments.A2.native import sanitizers
from assignments.A2.native.library import LOADING, not_loaded
from assignments.A2.native.names import LIBRARY, OPERATORS, SIGNATURES
from assignments.common import compiler
from assignments.common.compiler import read_source
from assignments.common.probe_io import Job, write_build

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHIM = os.path.join(HERE, "shim.c")
CRASH = os.path.join(HERE, "crash.c")  # apart: the student's file may ask the headers for strict POSIX
RACES = os.path.join(HERE, "races.c")
INTERPOSE = os.path.join(HERE, "interpose.c")
SOURCE = "train_gpt2.c"

OPERATORS_GRADED = tuple(SIGNATURES)
MODEL_FUNCTIONS = ("gpt2_zero_grad", "gpt2_backward", "gpt2_update")
FUNCTIONS = OPERATORS_GRADED + MODEL_FUNCTIONS

# The parameters by name, as llm.c has them: the same names in another order is another signature.
PARAMETERS = {name: " ".join(signature.pointers + signature.sizes) for name, signature in SIGNATURES.items()}

# Apple's linker binds a library's calls to itself unless told otherwise; elsewhere -fPIC is enough.
# Elsewhere some systems bind at once by default: then one function that is missing would keep all from loading.
INTERPOSABLE = (
    ["-Wl,-interposable", "-Wl,-flat_namespace", "-Wl,-undefined,dynamic_lookup"]
    if sys.platform == "darwin"
    else ["-Wl,-z,lazy"]
)

# What may stand before a graded function: specifiers and attributes, in any order.
_SPECIFIED = re.compile(
    r"((?:\b(?:static|extern|inline|__inline|__inline__)\b|__attribute__\s*\(\([^;{}]*?\)\)|\s)+)"
    r"(?=\bvoid\s+(?:" + "|".join(FUNCTIONS) + r")\s*\()"
)
# What of it keeps another function from taking its place; gcc takes an inline function for the only one.
_BINDING = re.compile(r"\b(?:static|inline|__inline|__inline__|always_inline|__always_inline__)\b")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ASSEMBLER = "Assembler messages:"
_SCRATCH = re.compile(r"/\S*?/cc\w{6}\.(?=[os]\b)")  # the compiler's own files; their names change from run to run
_ERROR = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)


@dataclass
class Build(compiler.Build):
    """What the build step hands back, in ``build.json``."""

    missing: list[str] = field(default_factory=list)
    fixed: list[str] = field(default_factory=list)
    loading: dict[str, Any] = field(default_factory=dict)


def made_replaceable(source: str) -> tuple[str, bool]:
    """Makes the graded functions external and not inline, lines kept; says whether any was otherwise.

    A static or inline function is right C and right for the handout's own test; but no stand-in can take its
    place under ``gpt2_backward``.
    """
    changed = False

    def blank(word: re.Match[str]) -> str:
        nonlocal changed
        changed = True
        return " " * len(word[0])

    return _SPECIFIED.sub(lambda match: _BINDING.sub(blank, match[0]), source), changed


def parts_by_line(shim: str) -> list[tuple[int, str]]:
    """(first line, name) of each part of the shim."""
    lines = enumerate(shim.splitlines(), start=1)
    return [(number, line.split(":", 1)[1].strip()) for number, line in lines if line.startswith("// part:")]


def failing_parts(messages: str, parts: list[tuple[int, str]]) -> dict[str, str]:
    """The parts of the shim in which the compiler found an error, with its first words on each."""
    failing: dict[str, str] = {}
    for match in _ERROR.finditer(messages):
        if os.path.basename(match["file"]) == os.path.basename(SHIM):
            inside = [name for first, name in parts if first <= int(match["line"])]
            if inside:
                failing.setdefault(inside[-1], match["text"])
    return failing


def reordered(source: str) -> dict[str, str]:
    """Functions defined with our parameters' names in another order, each with the order found."""
    text = _COMMENT.sub(" ", source)
    found: dict[str, str] = {}
    for name, expected in PARAMETERS.items():
        orders = [_names(match) for match in re.findall(rf"\bvoid\s+{name}\s*\(([^()]*)\)\s*\{{", text)]
        # of several, all but one are behind an #if that does not hold
        if orders and expected.split() not in orders and sorted(orders[0]) == sorted(expected.split()):
            found[name] = f"its parameters stand in another order: ({', '.join(orders[0])})"
    return found


def _names(parameters: str) -> list[str]:
    """The names of a list of parameters."""
    return [re.split(r"[\s*]+", part.strip())[-1].rstrip("[]") for part in parameters.split(",")]


def _compile(build: Build, arguments: list[str], output: str) -> bool:
    command = [build.compiler, *build.flags, *compiler.FLAGS, *arguments, "-o", output, "-lm"]
    succeeded, build.messages = compiler.run(command)
    return succeeded and os.path.exists(output)


def is_defined(function: str, source: str) -> bool:
    """Whether a function of this name is defined, not merely declared or called."""
    return re.search(rf"\b{function}\s*\([^;{{}}]*\)\s*\{{", _COMMENT.sub(" ", source)) is not None


def _look_at_the_file_alone(build: Build, path: str, job: Job) -> None:
    """Where the build fails, says what is wrong with the file by itself: the shim's lines tell a student nothing."""
    around = build.messages
    if not _compile(build, ["-fsyntax-only", "-DTESTING", f"-I{job.stage}", path], os.devnull):
        return
    reason = (
        "it holds what the assembler refuses"
        if _ASSEMBLER in around
        else "it compiles alone, but not with what calls its functions; it may end inside of something that is not"
        " closed, or define what is not its own"
    )
    build.messages = f"{SOURCE}: error: {reason}\n{around}"


def _not_replaceable(library: str, build: Build) -> list[str]:
    """The operators that the library does not export under their names: nothing can take their place."""
    symbols = shutil.which("nm")
    if symbols is None:
        return []
    done = subprocess.run([symbols, "-g", library], capture_output=True, text=True, errors="replace", check=False)
    names = {line.split()[-1].removeprefix("_") for line in done.stdout.splitlines() if line.strip()}
    return [f for f in OPERATORS_GRADED if f not in names and f not in build.unavailable]


def _explain(part: str, text: str, source: str) -> str:
    if part in FUNCTIONS and not is_defined(part, source):
        return "there is no function of this name in the file"
    if part == "model":
        return f"the structs differ from the interface: {text}"
    return f"it is declared otherwise than the interface says: {text}"


def _linked(job: Job, build: Build) -> tuple[list[str], str]:
    """How the shim is linked, and into which file: a library, or the program that ThreadSanitizer needs."""
    tool = sanitizers.tool_of(build.flags)
    more, library = sanitizers.linking(build.compiler, build.flags)
    if tool:
        archer = sanitizers.archer() if tool == "thread" else ""
        sanitizers.keep_runtime(job, tool=tool, library=library, archer=archer)
        build.messages = "" if library or archer else f"error: {build.compiler} has no runtime for it"
    if tool == "thread":
        return ["-rdynamic", "-ldl", "-Dmain=tg_students_main", RACES], sanitizers.HOST
    return [*INTERPOSABLE, *more, "-shared", "-fPIC", "-fsemantic-interposition"], LIBRARY


def _build_library(job: Job, build: Build, source: str) -> None:
    with open(SHIM, encoding="utf-8") as file:
        parts = parts_by_line(file.read())
    path = os.path.join(job.build, SOURCE)
    linked, output = _linked(job, build)
    if build.messages:
        return
    base = [*linked, "-DTESTING", f"-I{job.stage}", f'-DTG_SUBMISSION="{path}"', SHIM, CRASH]
    without: dict[str, str] = {}
    for _ in range(4):  # leaving a part out may uncover another; more rounds than that do not help
        flags = [f"-DTG_WITHOUT_{part}" for part in without]
        build.ok = _compile(build, base + flags, os.path.join(job.build, output))
        new = failing_parts(build.messages, parts)
        if build.ok or not set(new) - set(without):
            break
        without.update(new)
    for part, text in without.items():
        build.unavailable.setdefault(part, _explain(part, text, source))
    if not build.ok:
        _look_at_the_file_alone(build, path, job)
    if build.ok and output == LIBRARY:
        build.fixed = _not_replaceable(os.path.join(job.build, LIBRARY), build)
    build.missing = [part for part in without if part in FUNCTIONS and not is_defined(part, source)]


def _about_the_submission(messages: str, folder: str) -> str:
    """The compiler's messages with the student's file named as the student names it."""
    text = messages.replace(folder + "/", "").replace(os.path.dirname(SHIM) + "/", "")
    text = _SCRATCH.sub(SOURCE.removesuffix("c"), text)
    lines = [line for line in text.splitlines() if not line.startswith(("In file included from shim.c", "cc1: note"))]
    return "\n".join(lines)


def _note_main(source: str, build: Build) -> None:
    text = _COMMENT.sub(" ", source)
    main = re.search(r"\bint\s+main\s*\(", text)
    if main and not re.search(r"#\s*ifndef\s+TESTING|#\s*if\s+!\s*defined[\s(]+TESTING", text[: main.start()]):
        build.notes.append("`main` is not guarded by `#ifndef TESTING`: test_gpt2.c will not compile with it")


def build_submission(job: Job) -> None:
    """Builds ``student.so`` from the staged submission and writes ``build.json``."""
    options = job.options
    build = Build(compiler=options["compiler"], flags=list(options["flags"]))
    source = read_source(os.path.join(job.stage, SOURCE))
    text, was_bound = made_replaceable(source)
    with open(os.path.join(job.build, SOURCE), "w", encoding="utf-8", newline="") as file:
        file.write(text)
    if was_bound:
        build.notes.append("graded functions declared `static` or `inline` were graded as if they were not")
    build.unavailable.update(reordered(source))
    _note_main(source, build)
    _build_library(job, build, source)
    build.messages = _about_the_submission(build.messages, job.build)
    library = os.path.join(job.build, LIBRARY)
    if build.ok and not sanitizers.tool_of(build.flags):  # under one, a library needs its runtime first
        build.loading = {"status": LOADING}  # stands where loading it is the end of this process, too
        write_build(job, build)
        build.loading = not_loaded(library, job.limits["case_s"])
    write_build(job, build)


def build_operators(job: Job) -> None:
    """Builds our operators, without those that the job's ``own`` leaves to the student."""
    build = Build(compiler=job.options["compiler"], flags=list(job.options["flags"]))
    arguments = [f"-DTG_OWN_{name}" for name in job.options.get("own", [])]
    arguments += sanitizers.linking(build.compiler, build.flags)[0]
    arguments += ["-shared", "-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections"]
    arguments += [f"-I{job.stage}", f'-DTG_REFERENCE="{job.options["source"]}"', INTERPOSE]
    if shutil.which("ld.bfd") or shutil.which("ld.lld"):  # Apple's linker spells it otherwise
        arguments.append("-Wl,--gc-sections")
    build.ok = _compile(build, arguments, os.path.join(job.build, OPERATORS))
    write_build(job, build)
