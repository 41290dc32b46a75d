"""What every driver needs on the sandbox's side: tensors, buffers of bytes, limits, one process a case.

Standard library alone: a driver starts in milliseconds, and nothing of the judging side is in reach.
Tensors travel in the safetensors layout: a little-endian uint64 length, a JSON header, raw bytes.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

ITEM_SIZE = {"F32": 4, "I32": 4, "F64": 8, "I64": 8}
STARTED = "[driver started]"  # the judge looks for this first line: the file could be taken away
NOT_THE_CHILDS = ("case", "status", "code", "done")  # keys that the driver alone sets
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36  # <sys/prctl.h>
RAISED = 70  # the exit code of a case that says which error has ended it
MOST_ROUNDS = 1000
MOST_DESCRIPTORS = 1 << 16
REPORT_LIMIT = 4 << 20  # bytes of report one case may send: a call record is some kilobytes


@dataclass
class Tensor:
    """Raw tensor: ``dtype`` in safetensors' spelling, ``shape``, little-endian ``data``."""

    dtype: str
    shape: list[int]
    data: bytes | memoryview

    @property
    def count(self) -> int:
        """Number of elements."""
        return len(self.data) // ITEM_SIZE[self.dtype]


def floats(values: list[float]) -> Tensor:
    """A one-dimensional float32 tensor of ``values``."""
    return Tensor("F32", [len(values)], struct.pack(f"<{len(values)}f", *values))


def read_tensors(path: str) -> dict[str, Tensor]:
    """Reads a safetensors file."""
    with open(path, "rb") as file:
        blob = file.read()
    (length,) = struct.unpack_from("<Q", blob)
    header = json.loads(blob[8 : 8 + length])
    body = memoryview(blob)[8 + length :]
    return {
        name: Tensor(entry["dtype"], entry["shape"], body[slice(*entry["data_offsets"])])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def write_tensors(path: str, tensors: Mapping[str, Tensor]) -> None:
    """Writes a safetensors file, without a copy of the data."""
    header: dict[str, Any] = {}
    offset = 0
    for name, tensor in tensors.items():
        end = offset + len(tensor.data)
        header[name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # the format asks for an aligned body
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.data)


@dataclass
class Job:
    """What the judge asks of a driver, as it stands in the job file.

    Attributes:
        step: ``build`` or ``probe``.
        probe: the driver's own name of the way to probe, e.g. ``function``.
        function: the student's function that is looked at.
        stage: folder with the submission's files and what the assignment provides.
        files: the submission's files that count, as they lie in the stage.
        build: folder of the build that is made, or used.
        support: folders of our own builds by name, e.g. the operators to interpose.
        out: folder for what is handed back.
        cases: each with ``id``, ``params``, ``inputs`` (a file) and ``out`` (a file).
        options: whatever the check or build says beyond that.
        limits: ``case_s``, ``cpu_s``, ``memory_mb``, ``processes``, ``file_mb``.
        flags: of the build that is probed, as the judge asks for them: its code may have written to its folder.
        packages: folder with the packages that the code may import; empty: none.
        policies: the assignment's decisions.
        statuses: the number of the open file for the cases' statuses; the driver's alone, no case has it.
    """

    step: str
    stage: str
    build: str
    out: str
    files: list[str] = field(default_factory=list)
    probe: str = ""
    function: str = ""
    support: dict[str, str] = field(default_factory=dict)
    cases: list[dict[str, Any]] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, float] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    packages: str = ""
    policies: dict[str, str] = field(default_factory=dict)
    statuses: int = 1


def load_job(argv: list[str]) -> Job:
    """The job named on the command line."""
    with open(argv[1], encoding="utf-8") as file:
        return Job(**json.load(file))


def _lower(kind: int, value: int) -> None:
    """Lowers a limit for good; one that the system keeps lower already stays."""
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS does not have every one of them
        resource.setrlimit(kind, (value, value))


def apply_limits(limits: Mapping[str, float]) -> None:
    """Bounds this process and all that it starts; absent keys are left as they are."""
    kinds = {
        "cpu_s": (resource.RLIMIT_CPU, 1),
        "memory_mb": (resource.RLIMIT_AS, 1 << 20),
        "file_mb": (resource.RLIMIT_FSIZE, 1 << 20),
    }
    for key, (kind, unit) in kinds.items():
        if key in limits:
            _lower(kind, int(limits[key] * unit))
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_NOFILE, 256)
    if "processes" in limits:  # twice: whoever looks from outside ends all of it at the limit itself, and names that
        _lower_processes(2 * int(limits["processes"]))


def _lower_processes(allowed: int) -> None:
    """Bounds the user's processes to ``allowed`` more than there are.

    The system counts all that the user runs, a browser's threads too, and a sandbox does not show how many
    these are: the bound is raised until one more can be started.
    """
    bound = allowed
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    while hard == resource.RLIM_INFINITY or bound < hard:
        resource.setrlimit(resource.RLIMIT_NPROC, (bound, hard))
        if _can_fork():
            _lower(resource.RLIMIT_NPROC, bound if bound == allowed else bound + allowed)
            return
        bound *= 2
    resource.setrlimit(resource.RLIMIT_NPROC, (hard, hard))


def _can_fork() -> bool:
    try:
        pid = os.fork()
    except BlockingIOError:
        return False
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


class Report:
    """The child's line to its parent: JSON lines over a pipe."""

    def __init__(self, descriptor: int, word: str = "") -> None:
        self.descriptor = descriptor
        self._word = word

    def end(self) -> None:
        """Says that the case has come to its end."""
        self.send(done=self._word)

    def send(self, **entry: object) -> None:
        """Sends one line."""
        os.write(self.descriptor, json.dumps(entry).encode() + b"\n")


@dataclass
class Ending:
    """How a case's process ended.

    ``status`` is ``ok`` (it reported ``done``), ``exited``, ``crashed`` or ``timed_out``;
    ``code`` the exit status or signal; ``lines`` what it reported until then.
    """

    status: str
    code: int
    lines: list[dict[str, Any]]

    def merged(self) -> dict[str, Any]:
        """All reported keys in one, later ones winning; the child's word, and how it ended is not among it."""
        told = {key: value for line in self.lines for key, value in line.items()}
        return {key: value for key, value in told.items() if key not in NOT_THE_CHILDS}


def _child(work: Callable[[Report], None], descriptor: int, done: str) -> None:
    os.setpgid(0, 0)
    os.closerange(3, descriptor)  # what the driver has open is not the student's: the statuses, above all
    os.closerange(descriptor + 1, MOST_DESCRIPTORS)
    report = Report(descriptor, done)
    try:
        work(report)
        _flush()
        report.end()
    except BaseException as error:  # the child must end here, whatever the student's code raised
        with contextlib.suppress(OSError):  # nobody listens where it has ended its parent
            report.send(error=f"{type(error).__name__}: {error}")
        os._exit(RAISED)
    os._exit(0)


def _flush() -> None:
    """Has all be seen that was printed, from C too: the process ends without waiting for its own buffers."""
    sys.stdout.flush()
    if "ctypes" in sys.modules:
        sys.modules["ctypes"].CDLL(None).fflush(None)


def _parse(blob: bytes) -> Iterator[dict[str, Any]]:
    for line in blob.splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):  # cut short by a crash, or not ours
            continue
        if isinstance(entry, dict):
            yield entry


def _read_available(descriptor: int) -> tuple[bytes, bool]:
    """What a pipe holds now, and whether its other ends are closed."""
    blob = b""
    with contextlib.suppress(BlockingIOError):
        while piece := os.read(descriptor, 1 << 16):
            blob += piece if len(blob) < REPORT_LIMIT else b""
        return blob, True
    return blob, False


def _follow(pid: int, descriptor: int, deadline: float) -> tuple[bytes, int | None]:
    """Reads what a child reports until it ends: its wait status, or None when it does not end in time.

    The child's end counts, not the pipe's: something that it left behind may hold that open for good.
    """
    os.set_blocking(descriptor, False)
    blob, closed, pause, status = b"", False, 0.0005, None
    while status is None and time.monotonic() < deadline:
        done, ended = os.waitpid(pid, os.WNOHANG)
        status = ended if done else None
        if not closed:
            piece, closed = _read_available(descriptor)
            blob += piece if len(blob) < REPORT_LIMIT else b""
        if status is None:
            time.sleep(pause)
            pause = min(2 * pause, 0.002)
    return blob + (b"" if closed else _read_available(descriptor)[0]), status


def in_own_process(work: Callable[[Report], None], seconds: float) -> Ending:
    """Runs ``work`` in a forked process of its own group and tells how it ended.

    A crash, an ``exit`` or an endless loop of the student's code ends that process alone; what it
    started is killed with it.
    """
    _take_in_orphans()
    receive, send = os.pipe()
    deadline = time.monotonic() + seconds
    done = os.urandom(8).hex()  # another word each time: it is not to be said for the child
    pid = os.fork()
    if pid == 0:
        os.close(receive)
        _child(work, send, done)
    os.close(send)
    blob, status = _follow(pid, receive, deadline)
    os.close(receive)
    _kill_group(pid)
    if status is None:
        os.waitpid(pid, 0)
    _end_strays()
    if status is None:
        return Ending("timed_out", 0, list(_parse(blob)))
    return _ending(status, list(_parse(blob)), done)


def _take_in_orphans() -> None:
    """Makes this process the parent of whatever a case leaves behind, and no case's to look into (Linux).

    A case runs as the same user: it could write to its parent's memory, and have it report what it likes.
    """
    if sys.platform == "linux":
        import ctypes

        prctl = ctypes.CDLL(None).prctl
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def _descendants(pid: int) -> list[int]:
    """The processes below ``pid``, as Linux shows them; a list of children is not on every kernel."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else []:
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{int(name)}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(name))
    found = list(children.get(pid, ()))
    for child in found:  # grows meanwhile
        found += children.get(child, ())
    return found


def _end_strays() -> None:
    """Ends what a case started and left in a session of its own; new ones may come while it does."""
    for _ in range(MOST_ROUNDS):
        strays = _descendants(os.getpid())
        if not strays:
            return
        for stray in strays:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(stray, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _kill_group(pid: int) -> None:
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def _ending(status: int, lines: list[dict[str, Any]], word: str) -> Ending:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        kind = "timed_out" if number == signal.SIGXCPU else "crashed"
        return Ending(kind, number, lines)
    done = any(line.get("done") == word for line in lines)
    code = os.WEXITSTATUS(status)
    return Ending("ok" if done and code == 0 else "exited", code, lines)


def probe_cases(job: Job, probe: Callable[[Job, dict[str, Any]], dict[str, Any]]) -> None:
    """Probes a job's cases, one after the other; each one's status is a line of the judge's open file."""
    print(STARTED, flush=True)
    with open(job.statuses, "a", encoding="utf-8", closefd=False) as file:
        for status in chain([{"case": "", "status": "started"}], _statuses(job, probe)):
            file.write(json.dumps(status) + "\n")
            file.flush()


def _statuses(job: Job, probe: Callable[[Job, dict[str, Any]], dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for case in job.cases:
        yield {**probe(job, case), "case": case["id"]}


def write_json(path: str, value: object) -> None:
    """Writes JSON under another name first, so that half a file is never read."""
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(path + ".part", path)


def write_build(job: Job, build: object) -> None:
    """Writes the report of a build step: the fields of ``build``."""
    write_json(os.path.join(job.out, "build.json"), vars(build))


def append_line(path: str, value: object) -> None:
    """Appends one JSON line, at once visible to the judge that follows the file."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(value) + "\n")
