"""Builds a student's ``combine.cu`` for the execution model, and the model itself.

The student's file is compiled with the instrumentation of ThreadSanitizer, but not linked with its runtime: the model's
own functions take its place, and see every access with the place in the code that makes it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from assignments.common import compiler
from assignments.common.compiler import Build
from assignments.common.probe_io import Job, write_build
from assignments.HW2.kernels.launches import rewrite

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "model")
PARTS = ("findings", "memory", "accesses", "undefined", "threads", "api", "main")
SOURCE = "src/combine.cu"
PROGRAM = "kernels"
FUNCTIONS = ("tensorMap", "tensorZip", "tensorReduce", "MatrixMultiply")
MODEL = "kernel_model"  # the build of the model, among those that a build may use
BEHIND = "behind the file"  # the name of the lines that follow the student's
_ERROR = re.compile(r"^(?P<file>[^:\n]+):\d+(?::\d+)?: (?:fatal )?error: ", re.MULTILINE)


def build_model(job: Job) -> None:
    """Compiles the model's parts."""
    build = Build(ok=True, compiler=job.options["compiler"], flags=list(job.options["flags"]))
    for part in PARTS:
        source, target = os.path.join(HERE, f"{part}.cpp"), os.path.join(job.build, f"{part}.o")
        ok, messages = compiler.run([build.compiler, *build.flags, *compiler.FLAGS, "-c", source, "-o", target])
        build.ok &= ok
        build.messages += messages
    write_build(job, build)


def build_kernels(job: Job) -> None:
    """Compiles the student's file, and links it with the model."""
    build = Build(compiler=job.options["compiler"], flags=list(job.options["flags"]))
    rewritten = rewrite(compiler.read_source(os.path.join(job.stage, SOURCE)))
    there = [name for name in FUNCTIONS if name in rewritten.functions]
    _write(os.path.join(job.build, "combine.cpp"), rewritten.text, there)
    build.unavailable.update({name: "there is no function of this name" for name in FUNCTIONS if name not in there})
    build.notes += rewritten.problems
    if _compile(job, build):
        build.unavailable.update(_not_exported(os.path.join(job.build, "combine.o"), there))
        build.ok = _link(job, build)
    build.messages = _about_the_file(build.messages, job.build)
    write_build(job, build)


def _write(path: str, text: str, there: list[str]) -> None:
    lines = [f'#line 1 "{SOURCE}"', text, f'#line 1 "{BEHIND}"', *(f"#define TG_HAS_{name}" for name in there)]
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write("\n".join([*lines, '#include "harness.h"', ""]))


def _compile(job: Job, build: Build) -> bool:
    source, target = os.path.join(job.build, "combine.cpp"), os.path.join(job.build, "combine.o")
    command = [build.compiler, *build.flags, *compiler.FLAGS, f"-I{HERE}", f"-I{os.path.join(job.stage, 'src')}"]
    # nvcc includes this header by itself
    ok, build.messages = compiler.run([*command, "-include", "cuda_runtime.h", "-c", source, "-o", target])
    return ok and os.path.exists(target)


def _link(job: Job, build: Build) -> bool:
    model = [os.path.join(job.options["support"][MODEL], f"{part}.o") for part in PARTS]
    target = os.path.join(job.build, PROGRAM)
    runtime = [flag for flag in build.flags if flag == "-fsanitize=address"]  # ThreadSanitizer's is not linked
    command = [build.compiler, "-no-pie", *runtime, os.path.join(job.build, "combine.o"), *model, "-o", target, "-lm"]
    ok, messages = compiler.run(command)
    build.messages += "" if ok else messages
    return ok and os.path.exists(target)


def _not_exported(path: str, there: list[str]) -> dict[str, str]:
    """The functions that the object does not define under their names alone: ctypes does not find them."""
    symbols = shutil.which("nm")
    if symbols is None:
        return {}
    done = subprocess.run([symbols, "-g", path], capture_output=True, text=True, errors="replace", check=False)
    names = {line.split()[-1] for line in done.stdout.splitlines() if " T " in line}
    return dict.fromkeys(set(there) - names, 'it is not declared `extern "C"`, so that minitorch does not find it')


def _about_the_file(messages: str, folder: str) -> str:
    """The compiler's messages without our paths; those of errors in the student's lines first."""
    text = messages.replace(folder + "/", "").replace(HERE + "/", "")
    own = [match for match in _ERROR.finditer(text) if match["file"] == SOURCE]
    return text[own[0].start() :] if own else text
