"""Running a driver in the sandbox: builds and probes. Knows jobs and files, nothing of right and wrong."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from grader import statuses
from grader.assignment import Assignment, Check, Limits
from grader.cases import DOES_NOT_FIT
from grader.cuda.machine import Gpu
from grader.errors import InfrastructureError
from grader.fixtures import sha256
from grader.home import ROOT, cache_folder
from grader.kept import is_whole, keep
from grader.layout import Layout
from grader.sandbox import Box, Outcome, Sandbox, disk
from grader.statuses import Status

Follow = Callable[[dict[str, Any]], None]

CUDA = "cuda"  # the backend that takes a GPU
ROOM_FOR_A_REPORT = 1 << 20  # bytes; on a disk with less, nothing can be said of the submission
SOURCES = (".c", ".cpp", ".h", ".py")  # of what our own builds are made from
FOLLOW_EVERY = 0.5  # seconds between two looks at the progress of a check
STARTED = ""  # the case id of the line with which a driver says that it runs
# It also prints this line first: what is in the pipe, the submission cannot take back.
STARTED_LINE = "[driver started]\n"
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",
    "PYTHONDONTWRITEBYTECODE": "1",
}


# A build report's words, cut to what can be shown: it may be forged.
MOST_TOLD = 20  # sentences of a kind
Sentence = Annotated[str, AfterValidator(lambda text: text[:2000])]
Sentences = Annotated[list[Sentence], AfterValidator(lambda texts: texts[:MOST_TOLD])]
Messages = Annotated[str, AfterValidator(lambda text: text[:64_000])]
# What is said of a build that gives no report, by language.
BUILD_REPORT = "build.json"
LOADING = "loading"  # the status of a library that the build step is about to load
UNDER_WAY = {"c": "building it", "python": "importing it"}


class BuildReport(BaseModel):
    """What a build step hands back; read as somebody else's words."""

    model_config = ConfigDict(extra="forbid")

    ok: bool
    compiler: str = ""
    flags: list[str] = []
    messages: Messages = ""
    unavailable: dict[str, Sentence] = {}
    missing: list[str] = []
    fixed: list[str] = []
    loading: dict[str, int | Sentence] = {}  # how it ends whoever loads it, as a case's status; empty: it does not
    notes: Sentences = []
    problems: Sentences = []

    def lost(self, what: str) -> list[str]:
        """The problems of a submission that was not built: what it lacks with the first error, and all messages."""
        messages = self.messages.strip() or "the compiler gave no reason"
        first = next((line for line in messages.splitlines() if "error" in line), messages.splitlines()[0])
        return [f"it {what}: {first}", *([] if messages == first else [messages])]


@dataclass(frozen=True)
class Built:
    """A build: its folder, the driver's report, and how its box ended."""

    folder: Path
    report: BuildReport
    seconds: float


@dataclass(frozen=True)
class CaseInput:
    """A case as the sandbox gets it."""

    id: str
    params: Mapping[str, int | float]
    inputs: Path


@dataclass
class Probed:
    """A check's raw outcome: a status for each case, where the tensors lie, what was printed."""

    statuses: dict[str, Status]
    outputs: dict[str, Path]
    outcome: Outcome
    seconds: float


class _Follower:
    """Reads the lines that a driver appends to ``progress.jsonl`` while its box runs."""

    def __init__(self, path: Path, tell: Follow | None) -> None:
        self.path, self.tell, self.done, self.position = path, tell, threading.Event(), 0
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        if self.tell is not None:
            self.thread.start()

    def __exit__(self, *exception: object) -> None:
        self.done.set()
        if self.tell is not None:
            self.thread.join()

    def _run(self) -> None:
        while not self.done.wait(FOLLOW_EVERY):
            self._read()

    def _read(self) -> None:
        try:
            blob = statuses.read_bounded(self.path)
        except OSError:
            return
        new = blob[self.position : blob.rfind(b"\n") + 1]
        self.position += len(new)
        for line in new.splitlines()[-1:]:  # the newest is enough
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if self.tell is not None and isinstance(entry, dict):
                with contextlib.suppress(*DOES_NOT_FIT):  # whoever runs there can write it: an odd one is passed over
                    self.tell(entry)


@dataclass
class Engine:
    """Runs the jobs of one submission.

    Attributes:
        assignment: what is graded.
        sandbox: behind which wall.
        stage: folder with the submission's files and what the assignment provides.
        work: a folder of this run's own.
        compiler: the compiler that builds it; empty for Python.
        extra_flags: appended to the flags of every build of the submission.
        hidden: folders that no box may see, but for the parts that it names.
        backend: what computes, in place of what the builds say; none: as they say.
        gpu: what boxes get in which the backend is CUDA, and no other.
    """

    assignment: Assignment
    sandbox: Sandbox
    stage: Path
    work: Path
    compiler: str = "gcc"
    extra_flags: Sequence[str] = ()
    hidden: Sequence[Path] = (ROOT,)
    backend: str | None = None
    gpu: Gpu | None = None
    _counter: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def _fresh(self, name: str) -> Path:
        with self._lock:
            self._counter += 1
            folder = self.work / f"{self._counter:03d}-{name}"
        folder.mkdir(parents=True)
        return folder

    def _run(
        self,
        job: dict[str, Any],
        readable: list[Path],
        writable: list[Path],
        limits: Limits,
        environment: Mapping[str, str],
        handed: Sequence[int] = (),
        through: Sequence[str] = (),
    ) -> Outcome:
        job_file = Path(job["out"]).parent / "job.json"
        gpu = self.gpu if environment.get(self.assignment.backend_variable or "") == CUDA else None
        if gpu is not None:  # its driver maps far more addresses than there is memory; the watch counts memory
            job = {**job, "limits": {key: value for key, value in job["limits"].items() if key != "memory_mb"}}
        with self._lock:
            driver, packages = self.layout.driver, self.layout.packages
        extra = {"packages": str(packages[0])} if packages else {}
        job_file.write_text(json.dumps({**job, **extra}), encoding="utf-8")
        box = Box(
            command=[*through, self.sandbox.python(), "-I", "-S", "-B", str(driver), str(job_file)],
            readable=[self.layout.drivers, job_file, *packages, *readable, *(gpu.readable if gpu else ())],
            writable=writable,
            hidden=self.hidden,
            environment={**ENVIRONMENT, **environment, **(gpu.environment if gpu else {})},
            devices=gpu.devices if gpu else (),
            sockets=bool(through),
            wall_s=limits.wall_s,
            cpu_s=limits.cpu_s,
            memory_mb=limits.memory_mb,
            processes=limits.processes,
            output_bytes=limits.output_kb << 10,
            disk_mb=limits.disk_mb,
            handed=handed,
        )
        return self.sandbox.run(box)

    def _with_backend(self, environment: Mapping[str, str], backend: str | None) -> Mapping[str, str]:
        variable = self.assignment.backend_variable
        return {**environment, variable: backend} if variable and backend and variable in environment else environment

    @cached_property
    def layout(self) -> Layout:
        """What its boxes find of the grader."""
        return Layout(self.assignment, self.sandbox, self.work)

    @staticmethod
    def _limits(limits: Limits) -> dict[str, float]:
        keys = ("case_s", "cpu_s", "memory_mb", "processes", "file_mb")
        return {key: float(getattr(limits, key)) for key in keys}

    def build(self, name: str, support: Mapping[str, Path] | None = None) -> Built:
        """Builds the submission as ``builds.<name>`` says, with builds of our own where it needs any."""
        spec, given = self.assignment.builds[name], {k: self.layout.seen(path) for k, path in (support or {}).items()}
        options: dict[str, Any] = {"of": spec.of, "flags": self._flags(name)}
        options.update(compiler=spec.compiler or self.compiler)
        options.update(support={name: str(path) for name, path in given.items()})
        readable = [self.stage, *given.values()]
        return self._build(self._fresh(f"build-{name}"), options, readable, dict(spec.environment))

    def _flags(self, name: str) -> list[str]:
        """What a build of the submission is compiled with."""
        return [*self.assignment.builds[name].flags, *self.extra_flags]

    def support(self, name: str, own: Sequence[str]) -> Path:
        """A build of our own code, made once and kept; ``own`` functions are left to the student."""
        spec = self.assignment.builds[name]
        source = ROOT / str(spec.source)
        headers = self.layout.seen(ROOT / "student_template" / self.assignment.id)
        options = {"of": spec.of, "flags": spec.flags, "compiler": self.compiler}
        options.update(own=sorted(own), keeps=spec.keeps)
        kept = cache_folder() / f"{self.assignment.id}-{name}-{self._support_key(source, options)}"
        if is_whole(kept):
            return kept
        disk.remove(kept)
        source = self.layout.seen(source)
        options["source"] = str(source)
        built = self._build(self._fresh(f"support-{name}"), options, [source, headers], {}, stage=headers)
        if not built.report.ok:
            raise InfrastructureError(
                f"the grader's own {name} do not build with {self.compiler}: {built.report.messages.strip()}"
            )
        return keep(built.folder, kept)

    def _support_key(self, source: Path, options: dict[str, Any]) -> str:
        ours = sorted(path for path in self.assignment.folder.rglob("*") if path.suffix in SOURCES)
        tool = shutil.which(self.compiler or sys.executable) or self.compiler
        blob = json.dumps(options, sort_keys=True).encode() + os.path.realpath(tool).encode()
        return sha256(blob + b"".join(path.read_bytes() for path in [source, *ours]))[:24]

    def _build(
        self,
        folder: Path,
        options: dict[str, Any],
        readable: list[Path],
        environment: dict[str, str],
        stage: Path | None = None,
    ) -> Built:
        build, out = folder / "build", folder / "out"
        build.mkdir()
        out.mkdir()
        job: dict[str, Any] = {"step": "build", "stage": str(stage or self.stage)}
        job |= {"build": str(build), "out": str(out), "files": self.assignment.submission.files}
        limits = self.assignment.limits
        started = time.monotonic()
        outcome = self._run(
            {**job, "options": options, "limits": self._limits(limits)},
            readable + self._toolchain(),
            [out, build],
            limits,
            environment,
        )
        return Built(build, self._read_report(out, outcome), time.monotonic() - started)

    def _toolchain(self) -> list[Path]:
        """Where the compiler lies when it is not the system's own."""
        path = Path(os.path.realpath(shutil.which(self.compiler or "cc") or "/usr/bin/cc"))
        return [] if str(path).startswith(("/usr/", "/bin/")) else [path.parent.parent]

    def _read_report(self, out: Path, outcome: Outcome) -> BuildReport:
        """The driver's report; a build that began and gave none is the fault of what it built."""
        building = UNDER_WAY[self.assignment.submission.language]
        if (report := _stopped_while_loading(out, outcome)) is not None:
            self._check_machine("the build", outcome, [None])
            return report
        if outcome.timed_out:
            return BuildReport(ok=False, messages=f"{building} {outcome.struck.removeprefix('it ')}")
        if outcome.struck:
            return BuildReport(ok=False, messages=f"{building} was stopped: {outcome.struck}")
        try:
            if outcome.returncode != 0:  # whoever ended the driver may have written a report, too
                raise FileNotFoundError
            return _report(out)
        except (OSError, ValidationError) as error:
            begun, said = _begun(outcome.output)
            gone = "it ended before one was written" if isinstance(error, FileNotFoundError) else str(error)
            why = _last_line(said) or gone.splitlines()[0]
            self._check_machine("the build", outcome, [None])
            if not begun:
                raise InfrastructureError(f"the build step of {self.assignment.id} broke: {why}") from error
            return BuildReport(ok=False, messages=f"{building} ended without a report that can be read: {why}")

    def _check_machine(self, name: str, outcome: Outcome, told: Sequence[Status | None]) -> None:
        """Whatever a machine without disk or memory did to a box is not the submission's to answer for.

        Raises:
            InfrastructureError: the machine ran out of one of them.
        """
        if shutil.disk_usage(self.work).free < ROOM_FOR_A_REPORT:
            raise InfrastructureError(f"the disk of {self.work.parent} is full; TMPDIR names another folder")
        if outcome.short_of_memory and not outcome.struck and any(map(statuses.was_killed, told)):
            raise InfrastructureError(
                f"the machine ran out of memory while {name} was probed, below what the assignment allows;"
                " close other programs, or grade on a larger one"
            )

    def probe(
        self,
        check_id: str,
        check: Check,
        built: Built,
        cases: Sequence[CaseInput],
        support: Mapping[str, Path],
        options: Mapping[str, Any] | None = None,
        extra_readable: Sequence[Path] = (),
        follow: Follow | None = None,
        backend: str | None = None,
        through: Sequence[str] = (),
    ) -> Probed:
        """Runs one check's cases in one sandbox, each case in a process of its own.

        Its statuses come through an open file that the driver alone has: no case can write, or undo, another's.
        ``follow`` is told of the progress that the driver reports; it is the sandbox's word. ``backend`` computes in
        place of the build's; ``through``: a program, with its arguments, that runs the driver and looks at it.
        """
        folder = self._fresh(check_id)
        out, kept = folder / "out", folder / "status.jsonl"
        out.mkdir()
        limits, seen = self.assignment.limits_of(check), self.layout.seen
        moved = {str(path): str(seen(path)) for path in extra_readable}
        entries: list[dict[str, Any]] = [
            {"id": c.id, "params": dict(c.params), "inputs": str(seen(c.inputs)), "out": str(out / f"{i}.tensors")}
            for i, c in enumerate(cases)
        ]
        job: dict[str, Any] = {
            "step": "probe",
            "probe": check.probe,
            "function": check.function,
            "stage": str(self.stage),
            "files": self.assignment.submission.files,
            "build": str(built.folder),
            "flags": self._flags(check.build),
            "support": {name: str(seen(path)) for name, path in support.items()},
            "out": str(out),
            "cases": entries,
            "options": {**check.options, **{name: moved.get(str(v), v) for name, v in (options or {}).items()}},
            "policies": self.assignment.policies,
            "limits": self._limits(limits),
        }
        given = [*support.values(), *[case.inputs for case in cases], *extra_readable]
        readable = [self.stage, built.folder, *map(seen, given)]
        environment = self._with_backend(self.assignment.builds[check.build].environment, backend or self.backend)
        started = time.monotonic()
        with _Follower(out / "progress.jsonl", follow), kept.open("ab") as file:
            job["statuses"] = file.fileno()
            outcome = self._run(job, readable, [out], limits, environment, [file.fileno()], through)
        told = statuses.read(kept)
        begun, said = _begun(outcome.output)
        # without our paths, which tell nobody anything
        outcome = replace(outcome, output=said.replace(f"{built.folder}/", ""))
        if STARTED not in told and not begun:
            raise InfrastructureError(
                f"the probe of {check_id} did not start: {_last_line(outcome.output) or 'the sandbox gave no reason'}"
            )
        self._check_machine(check_id, outcome, [told.get(case.id) for case in cases])
        statuses.name_limits(told, limits)
        if outcome.struck:
            statuses.blame(told, [case.id for case in cases], outcome)
        return Probed(
            told,
            {case["id"]: Path(case["out"]) for case in entries},
            outcome,
            time.monotonic() - started,
        )


def _begun(output: str) -> tuple[bool, str]:
    """Whether a driver said that it runs, and what was printed beside that."""
    return output.startswith(STARTED_LINE), output.removeprefix(STARTED_LINE)


def _last_line(output: str) -> str:
    """The last line that a driver printed: a traceback ends with what went wrong."""
    return (output.strip().splitlines() or [""])[-1]


def _report(out: Path) -> BuildReport:
    """The driver's report of a build; it is whoever's words who ran there."""
    return BuildReport.model_validate_json(statuses.read_bounded(out / BUILD_REPORT))


def _stopped_while_loading(out: Path, outcome: Outcome) -> BuildReport | None:
    """The report of what was built, and was the end of the build step when it was loaded; None: it is another case."""
    if outcome.returncode == 0 and not outcome.struck:
        return None
    with contextlib.suppress(OSError, ValidationError):
        report = _report(out)
        under_way = report.loading == {"status": LOADING}
        seen_later = bool(outcome.struck) and "loading" in report.model_fields_set  # what compiling does has its limits
        if report.ok and (under_way or seen_later):
            what = outcome.struck or "it ended the process that loads it"
            loading = {
                "status": "timed_out" if outcome.timed_out else "crashed",
                "detail": f"when it was loaded, before any function of it was called: {what}",
            }
            return report.model_copy(update={"loading": loading})
    return None
