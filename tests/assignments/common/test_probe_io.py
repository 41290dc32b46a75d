"""What every driver stands on: tensors without a library, limits, one process a case."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from assignments.common import probe_io
from assignments.common.probe_io import Ending, Report, Tensor, in_own_process, read_tensors, write_tensors
from grader.home import ROOT

KINDS = {"F32": np.float32, "I32": np.int32, "F64": np.float64, "I64": np.int64}
LONG = 20.0  # no test waits for it


def raw(array: Any) -> Tensor:
    name = next(name for name, kind in KINDS.items() if array.dtype == kind)
    return Tensor(name, list(array.shape), array.tobytes())


ARRAYS = st.sampled_from(list(KINDS.values())).flatmap(
    lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=0, min_side=0, max_dims=4, max_side=4))
)
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6).filter(lambda name: name != "__metadata__")


@given(st.dictionaries(NAMES, ARRAYS, max_size=4))
def test_ours_is_read_by_the_official_package(
    tmp_path_factory: pytest.TempPathFactory, tensors: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "ours"
    write_tensors(str(path), {name: raw(array) for name, array in tensors.items()})
    found = safetensors.numpy.load(path.read_bytes())
    assert found.keys() == tensors.keys()
    for name, array in tensors.items():
        assert found[name].dtype == array.dtype
        assert found[name].tobytes() == array.tobytes()
        assert found[name].shape == array.shape


@given(st.dictionaries(NAMES, ARRAYS, max_size=4))
def test_the_official_packages_is_read_by_ours(
    tmp_path_factory: pytest.TempPathFactory, tensors: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "theirs"
    path.write_bytes(safetensors.numpy.save(tensors, metadata={"made": "here"}))
    found = read_tensors(str(path))
    assert {name: (t.dtype, t.shape, bytes(t.data)) for name, t in found.items()} == {
        name: (t.dtype, t.shape, t.data) for name, t in ((n, raw(a)) for n, a in tensors.items())
    }


def test_counts_and_floats() -> None:
    tensor = probe_io.floats([1.0, -2.5])
    assert (tensor.dtype, tensor.shape, tensor.count) == ("F32", [2], 2)
    assert np.frombuffer(tensor.data, np.float32).tolist() == [1.0, -2.5]
    assert Tensor("F64", [3], bytes(24)).count == 3


def test_a_case_that_ends_well() -> None:
    def work(report: Report) -> None:
        report.send(untouched=False, first=1)
        report.send(first=2)

    ending = in_own_process(work, LONG)
    assert (ending.status, ending.code) == ("ok", 0)
    assert ending.merged() == {"untouched": False, "first": 2}


def test_an_exit_is_no_end() -> None:
    for code in (0, 3):
        ending = raw_line(b"", code)
        assert (ending.status, ending.code) == ("exited", code)


def test_an_exception_is_told_and_goes_no_further() -> None:
    def work(report: Report) -> None:
        raise SystemExit("overall okay: 1")

    ending = in_own_process(work, LONG)
    assert (ending.status, ending.code) == ("exited", 70)
    assert ending.merged()["error"] == "SystemExit: overall okay: 1"


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGFPE])
def test_a_crash(number: signal.Signals) -> None:
    def work(report: Report) -> None:
        faulthandler.disable()  # pytest's own would tell of it
        os.kill(os.getpid(), number)

    ending = in_own_process(work, LONG)
    assert (ending.status, ending.code) == ("crashed", number)


def test_cpu_time_that_is_up() -> None:
    ending = in_own_process(lambda _: os.kill(os.getpid(), signal.SIGXCPU), LONG)
    assert ending.status == "timed_out"


def forever(report: Report) -> None:
    report.send(begun=True)
    while True:
        time.sleep(0.01)


def test_an_endless_loop() -> None:
    ending = in_own_process(forever, 0.3)
    assert (ending.status, ending.merged()) == ("timed_out", {"begun": True})


def test_one_that_closes_its_line_and_goes_on() -> None:
    def work(report: Report) -> None:
        os.close(report.descriptor)
        time.sleep(60)

    assert in_own_process(work, 0.3).status == "timed_out"


def test_what_it_started_ends_with_it() -> None:
    def work(report: Report) -> None:
        pid = os.fork()
        if pid == 0:
            time.sleep(60)
        report.send(started=pid)

    ending = in_own_process(work, LONG)
    assert ending.status == "ok"
    with pytest.raises(ProcessLookupError):
        os.kill(ending.merged()["started"], 0)


def test_a_case_has_none_of_the_files_that_its_driver_has_open(tmp_path: Path) -> None:
    def work(report: Report) -> None:
        report.send(open=[descriptor for descriptor in range(3, 256) if is_open(descriptor)], own=report.descriptor)

    with (tmp_path / "statuses").open("ab"):
        told = in_own_process(work, LONG).merged()
    assert told["open"] == [told["own"]]


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def raw_line(line: bytes, exit_code: int = 0) -> Ending:
    """How a case ends that writes to the line itself and exits: the student's code can."""

    def work(report: Report) -> None:
        os.write(report.descriptor, line)
        os._exit(exit_code)

    return in_own_process(work, LONG)


def test_a_lie_on_the_line_is_no_end() -> None:
    """The word that says that a case is done is another one each time, and how it ended is the driver's to say."""
    ending = raw_line(b'{"done": true, "status": "ok", "code": 0, "case": "other", "verdict": "pass"}\n')
    assert (ending.status, ending.merged()) == ("exited", {"verdict": "pass"})
    assert raw_line(b'{"done": true}\n', exit_code=1).status == "exited"
    assert raw_line(b'{"status": "ok"}\n').status == "exited"


@pytest.mark.parametrize("line", [b"", b"{", b"\xff\xfe\n", b"[1]\n", b"3\n", b'"done"\n', b"{'done': 1}\n"])
def test_what_is_no_report_is_passed_over(line: bytes) -> None:
    ending = raw_line(line)
    assert (ending.status, ending.lines) == ("exited", [])


def test_a_report_too_deep_is_passed_over() -> None:
    assert raw_line(b'{"done": ' + b"[" * 50_000 + b"]" * 50_000 + b"}\n").lines == []


def test_reports_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_io, "REPORT_LIMIT", 1000)
    ending = raw_line(b'{"a": 1}\n' * 50_000)
    assert 0 < len(ending.lines) <= (1000 + (1 << 16)) / 9


def limited(limits: dict[str, float], code: str) -> subprocess.CompletedProcess[str]:
    head = f"import resource, os\nfrom assignments.common.probe_io import apply_limits\napply_limits({limits!r})\n"
    return subprocess.run([sys.executable, "-c", head + code], cwd=ROOT, capture_output=True, text=True, check=False)


def test_memory_is_bounded() -> None:
    assert "MemoryError" in limited({"memory_mb": 512}, "bytes(1 << 30)").stderr


def test_files_are_bounded(tmp_path: Path) -> None:
    code = f"open({str(tmp_path / 'f')!r}, 'wb').write(bytes(3 << 20))"
    assert "File too large" in limited({"file_mb": 1}, code).stderr
    assert (tmp_path / "f").stat().st_size <= 1 << 20


def test_cpu_time_is_bounded() -> None:
    assert limited({"cpu_s": 1}, "while True: pass").returncode in (-signal.SIGXCPU, -signal.SIGKILL)


def test_limits_cannot_be_raised_again() -> None:
    code = "print(resource.getrlimit(resource.RLIMIT_AS), resource.getrlimit(resource.RLIMIT_CORE))"
    assert limited({"memory_mb": 512}, code).stdout.strip() == f"{(512 << 20, 512 << 20)} (0, 0)"


def test_json_is_written_as_a_whole(tmp_path: Path) -> None:
    probe_io.write_json(str(tmp_path / "build.json"), {"ok": True})
    assert json.loads((tmp_path / "build.json").read_text()) == {"ok": True}
    assert os.listdir(tmp_path) == ["build.json"]
    for i in range(2):
        probe_io.append_line(str(tmp_path / "status.jsonl"), {"case": i})
    assert (tmp_path / "status.jsonl").read_text() == '{"case": 0}\n{"case": 1}\n'


def test_a_job(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text('{"step": "build", "stage": "/s", "build": "/b", "out": "/o"}')
    job = probe_io.load_job(["driver.py", str(tmp_path / "job.json")])
    assert (job.step, job.stage, job.cases, job.limits) == ("build", "/s", [], {})


def leaves_a_daemon(report: Report) -> None:
    """Starts a process in a session of its own, twice removed, that would go on for good."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.close(report.descriptor)
            report_pid = os.getpid()
            Path("/proc/self/comm").write_text("stray")
            while report_pid:
                time.sleep(60)
        os._exit(0)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone lets a process take in orphans")
def test_nothing_that_a_case_started_outlives_it() -> None:
    in_own_process(leaves_a_daemon, 5.0)
    names = {path.read_text().strip() for path in Path("/proc").glob("[0-9]*/comm") if path.exists()}
    assert "stray" not in names
