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

from assignments.common.probe_io import Job, write_json

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHIM = os.path.join(HERE, "shim.c")
CRASH = os.path.join(HERE, "crash.c")  # apart: the student's file may ask the headers for strict POSIX
INTERPOSE = os.path.join(HERE, "interpose.c")
SOURCE = "train_gpt2.c"
LIBRARY = "student.so"
OPERATORS = "operators.so"

OPERATORS_GRADED = (
    "encoder_backward",
    "layernorm_backward",
    "matmul_backward",
    "attention_backward",
    "gelu_backward",
    "residual_backward",
    "crossentropy_softmax_backward",
)
MODEL_FUNCTIONS = ("gpt2_zero_grad", "gpt2_backward", "gpt2_update")
FUNCTIONS = OPERATORS_GRADED + MODEL_FUNCTIONS

# The parameters by name, as llm.c has them: the same names in another order is another signature.
PARAMETERS = {
    "encoder_backward": "dwte dwpe dout inp B T C",
    "layernorm_backward": "dinp dweight dbias dout inp weight mean rstd B T C",
    "matmul_backward": "dinp dweight dbias dout inp weight B T C OC",
    "attention_backward": "dinp dpreatt datt dout inp att B T C NH",
    "gelu_backward": "dinp inp dout N",
    "residual_backward": "dinp1 dinp2 dout N",
    "crossentropy_softmax_backward": "dlogits dlosses probs targets B T V Vp",
}

# Apple's linker binds a library's calls to itself unless told otherwise; elsewhere -fPIC is enough.
# Elsewhere some systems bind at once by default: then one function that is missing would keep all from loading.
INTERPOSABLE = (
    ["-Wl,-interposable", "-Wl,-flat_namespace", "-Wl,-undefined,dynamic_lookup"]
    if sys.platform == "darwin"
    else ["-Wl,-z,lazy"]
)

_STATIC = re.compile(
    r"\bstatic(?=\s+(?:(?:inline|__inline|__inline__)\s+)?void\s+(?:" + "|".join(FUNCTIONS) + r")\s*\()"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ERROR = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)


@dataclass
class Build:
    """What the build step hands back, in ``build.json``."""

    ok: bool = False
    compiler: str = ""
    flags: list[str] = field(default_factory=list)
    messages: str = ""
    unavailable: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def without_static(source: str) -> tuple[str, bool]:
    """Makes the graded functions external, lines kept; says whether any was static.

    A static function is right C and right for the handout's own test; but no stand-in can take its
    place under ``gpt2_backward``.
    """
    text, count = _STATIC.subn(" " * len("static"), source)
    return text, count > 0


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
        match = re.search(rf"\bvoid\s+{name}\s*\(([^()]*)\)\s*\{{", text)
        names = [re.split(r"[\s*]+", part.strip())[-1].rstrip("[]") for part in match[1].split(",")] if match else []
        if names != expected.split() and sorted(names) == sorted(expected.split()):
            found[name] = f"its parameters stand in another order: ({', '.join(names)})"
    return found


def _compile(build: Build, arguments: list[str], output: str) -> bool:
    command = [build.compiler, *build.flags, "-fdiagnostics-color=never", *arguments, "-o", output, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    build.messages = done.stderr
    return done.returncode == 0


def is_defined(function: str, source: str) -> bool:
    """Whether a function of this name is defined, not merely declared or called."""
    return re.search(rf"\b{function}\s*\([^;{{}}]*\)\s*\{{", _COMMENT.sub(" ", source)) is not None


def _explain(part: str, text: str, source: str) -> str:
    if part in FUNCTIONS and not is_defined(part, source):
        return "there is no function of this name in the file"
    if part == "model":
        return f"the structs differ from the interface: {text}"
    return f"it is declared otherwise than the interface says: {text}"


def _build_library(job: Job, build: Build, source: str) -> None:
    with open(SHIM, encoding="utf-8") as file:
        parts = parts_by_line(file.read())
    path = os.path.join(job.build, SOURCE)
    base = [
        *INTERPOSABLE,
        "-shared",
        "-fPIC",
        "-fsemantic-interposition",
        "-DTESTING",
        f"-I{job.stage}",
        f'-DTG_SUBMISSION="{path}"',
        SHIM,
        CRASH,
    ]
    without: dict[str, str] = {}
    for _ in range(4):  # leaving a part out may uncover another; more rounds than that do not help
        flags = [f"-DTG_WITHOUT_{part}" for part in without]
        build.ok = _compile(build, base + flags, os.path.join(job.build, LIBRARY))
        new = failing_parts(build.messages, parts)
        if build.ok or not set(new) - set(without):
            break
        without.update(new)
    for part, text in without.items():
        build.unavailable.setdefault(part, _explain(part, text, source))
    build.missing = [part for part in without if part in FUNCTIONS and not is_defined(part, source)]


def _about_the_submission(messages: str, folder: str) -> str:
    """The compiler's messages with the student's file named as the student names it."""
    text = messages.replace(folder + "/", "").replace(os.path.dirname(SHIM) + "/", "")
    lines = [line for line in text.splitlines() if not line.startswith(("In file included from shim.c", "cc1: note"))]
    return "\n".join(lines)


def _note_main(source: str, build: Build) -> None:
    text = _COMMENT.sub(" ", source)
    main = re.search(r"\bint\s+main\s*\(", text)
    if main and not re.search(r"#\s*ifndef\s+TESTING|#\s*if\s+!\s*defined[\s(]+TESTING", text[: main.start()]):
        build.notes.append("`main` is not guarded by `#ifndef TESTING`: test_gpt2.c will not compile with it")


def read_source(path: str) -> str:
    """The submission's text: UTF-8 or, failing that, Latin-1 (compilers take both); no BOM, no NUL."""
    with open(path, "rb") as file:
        blob = file.read()
    try:
        text = blob.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = blob.decode("latin-1")
    return text.replace("\0", " ")


def build_submission(job: Job) -> None:
    """Builds ``student.so`` from the staged submission and writes ``build.json``."""
    options = job.options
    build = Build(compiler=options["compiler"], flags=list(options["flags"]))
    source = read_source(os.path.join(job.stage, SOURCE))
    text, was_static = without_static(source)
    with open(os.path.join(job.build, SOURCE), "w", encoding="utf-8", newline="") as file:
        file.write(text)
    if was_static:
        build.notes.append("graded functions declared `static` were graded as if they were not")
    build.unavailable.update(reordered(source))
    _note_main(source, build)
    _build_library(job, build, source)
    build.messages = _about_the_submission(build.messages, job.build)
    write_json(os.path.join(job.out, "build.json"), vars(build))


def build_operators(job: Job) -> None:
    """Builds our operators, without those that the job's ``own`` leaves to the student."""
    build = Build(compiler=job.options["compiler"], flags=list(job.options["flags"]))
    arguments = [f"-DTG_OWN_{name}" for name in job.options.get("own", [])]
    arguments += ["-shared", "-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections"]
    arguments += [f"-I{job.stage}", f'-DTG_REFERENCE="{job.options["source"]}"', INTERPOSE]
    if shutil.which("ld.bfd") or shutil.which("ld.lld"):  # Apple's linker spells it otherwise
        arguments.append("-Wl,--gc-sections")
    build.ok = _compile(build, arguments, os.path.join(job.build, OPERATORS))
    write_json(os.path.join(job.out, "build.json"), vars(build))
