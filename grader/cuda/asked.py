"""What ``--backend auto`` and ``--backend cuda`` ask for, and what of it a machine and a submission have."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from grader import submission as submissions
from grader.assignment import Assignment
from grader.cuda import machine
from grader.cuda.machine import Gpu, Nvcc
from grader.cuda.settings import Settings, load
from grader.errors import UsageError
from grader.home import ROOT

AUTO, CUDA, NUMPY = "auto", "cuda", "numpy"
KERNELS = (AUTO, CUDA)  # backends with which the submission's kernels are looked at
LARGEST_LIBRARY_KB = 64 << 10


@dataclass(frozen=True)
class Asked:
    """A look at a submission's CUDA kernels, before it is made.

    Attributes:
        settings: the assignment's.
        source: the student's file; None: there is none.
        problem: why there is none, or why it is not taken.
        origin: where the submission lies.
        brought: whether a compiled library was handed in, which is not used.
        sanitize: whether compute-sanitizer looks at the kernels.
        nvcc: the compiler; None: there is none.
        gpu: the GPU, or why there is none.
        lacking: what else keeps rows from running on it; empty: nothing.
    """

    settings: Settings
    source: bytes | None
    problem: str
    origin: Path
    brought: bool
    sanitize: bool
    nvcc: Nvcc | None
    gpu: Gpu | str
    lacking: str

    @property
    def sha256(self) -> str | None:
        """The hash of the file; None: there is none."""
        return None if self.source is None else hashlib.sha256(self.source).hexdigest()

    def equipped(self, assignment: Assignment) -> Assignment:
        """The assignment with the packages that rows need on a GPU, where they are to run on one."""
        if self.lacking or isinstance(self.gpu, str):
            return assignment
        packages = [*assignment.submission.packages, *self.settings.packages]
        rules = assignment.submission.model_copy(update={"packages": packages})
        return assignment.model_copy(update={"submission": rules})


def asked(assignment: Assignment, backend: str | None, path: Path, sanitize: bool = False) -> Asked | None:
    """The look that a backend asks for; None: none.

    Raises:
        UsageError: the assignment has no kernels, or CUDA was asked for and the machine lacks something.
    """
    if backend is None or backend not in KERNELS:
        return None
    settings = load(assignment)
    if settings is None:
        raise UsageError(f"{assignment.id} has no CUDA kernels; --backend {backend} is not for it")
    nvcc = machine.find_nvcc()
    gpu = machine.find_gpu(nvcc.toolkit if nvcc else None)
    lacking = machine.NO_PYCUDA if machine.lacks(settings.packages) else ""
    if backend == CUDA:
        _demand(nvcc, gpu, lacking)
    source, problem = _source(assignment, settings, path)
    return Asked(
        settings=settings,
        source=source,
        problem=problem,
        origin=path,
        brought=_brings(assignment, settings.library, path),
        sanitize=sanitize,
        nvcc=nvcc,
        gpu=gpu,
        lacking=lacking,
    )


def _demand(nvcc: Nvcc | None, gpu: Gpu | str, lacking: str) -> None:
    """Refuses what ``--backend cuda`` asks for and the machine does not have."""
    if isinstance(gpu, str):
        reason = gpu
    elif nvcc is None:
        reason = machine.NO_NVCC
    elif lacking:
        reason = lacking
    else:
        return
    raise UsageError(f"--backend cuda: {reason}; `--backend auto` compiles the kernels, and grades on NumPy")


def _source(assignment: Assignment, settings: Settings, path: Path) -> tuple[bytes | None, str]:
    """The student's kernels; or why there are none."""
    found = _take(assignment, settings.source, path, settings.max_file_kb)
    blob = found.files.get(settings.source)
    if blob is not None:
        return blob, ""
    large_or_bad = next((text for text in found.problems if not _is_absence(text)), "")
    return None, large_or_bad or f"the submission has no {settings.source}"


def _take(assignment: Assignment, name: str, path: Path, most_kb: int) -> submissions.Taken:
    rules = assignment.submission.model_copy(update={"files": [name], "provided": [], "max_file_kb": most_kb})
    try:
        return submissions.take(path, rules, ROOT / "student_template" / assignment.id)
    except UsageError:  # a single file of those that count
        return submissions.Taken(str(path), problems=[f"there is no {name} in it"])


def _is_absence(problem: str) -> bool:
    return problem.startswith("there is no ") or " is missing" in problem


def _brings(assignment: Assignment, library: str, path: Path) -> bool:
    """Whether there is such a file, of whatever size and kind."""
    found = _take(assignment, library, path, LARGEST_LIBRARY_KB)
    return bool(found.files) or any(text.startswith(library) and not _is_absence(text) for text in found.problems)
