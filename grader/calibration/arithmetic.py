"""How right code may round otherwise: ``reference/<ID>/arithmetic.yaml``."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

from pydantic import Field

from grader.assignment import Assignment
from grader.data import Strict, load_yaml
from grader.home import ROOT

ARITHMETIC = "arithmetic.yaml"
OPENMP = "-fopenmp"


class Change(Strict):
    """One text for another in a file that the assignment provides; it stands there exactly once."""

    file: str
    replace: str = Field(min_length=1)
    by: str


class Framework(Strict):
    """The framework, computing in another order."""

    name: str
    what: str
    patches: list[Change] = Field(min_length=1)

    def files(self, assignment: Assignment) -> dict[str, str]:
        """The provided files that differ, by the assignment's paths.

        Raises:
            ValueError: a text does not stand exactly once in its file.
        """
        texts: dict[str, str] = {}
        for patch in self.patches:
            path = ROOT / "student_template" / assignment.id / patch.file
            text = texts.get(patch.file) or path.read_text("utf-8")
            if text.count(patch.replace) != 1:
                raise ValueError(
                    f"{self.name}: stands {text.count(patch.replace)} times in {patch.file}: {patch.replace}"
                )
            texts[patch.file] = text.replace(patch.replace, patch.by)
        return texts


class Arithmetic(Strict):
    """The ways in which the reference is graded."""

    compilers: list[str] = Field(default=[])
    flags: list[str] = Field(default=[], description="of each compiler")
    threads: list[int] = Field(default=[1], description="of each build with OpenMP")
    backends: list[str] = Field(default=[])
    frameworks: list[Framework] = Field(default=[])
    repeats: int = Field(default=1, ge=1, description="of the reference as it stands: probes may draw at random")

    def builds(self) -> list[tuple[str, str]]:
        """(compiler, flags) of the builds that this machine can make."""
        return [(compiler, flags) for compiler in self.compilers for flags in self.flags if can_build(compiler, flags)]

    def left_out(self) -> list[str]:
        """The builds that it cannot make."""
        every = [(compiler, flags) for compiler in self.compilers for flags in self.flags]
        return [" ".join(build) for build in every if not can_build(*build)]


@cache
def can_build(compiler: str, flags: str) -> bool:
    """Whether this compiler makes a library with these flags: clang may lack libomp."""
    command = [compiler, *flags.split(), "-shared", "-fPIC", "-x", "c", "-", "-o", "/dev/null"]
    source = b'void f(int *p) {\n_Pragma("omp parallel for")\nfor (int i = 0; i < 9; i++) p[i] = 0; }\n'
    return (
        shutil.which(compiler) is not None
        and not subprocess.run(command, input=source, capture_output=True, check=False).returncode
    )


def load(assignment_id: str) -> Arithmetic:
    """The file of an assignment; one without it is graded as it stands."""
    path = ROOT / "reference" / assignment_id / ARITHMETIC
    return load_yaml(path, Arithmetic) if path.is_file() else Arithmetic()
