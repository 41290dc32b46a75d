"""The pool of this machine: worker processes that grade one submission after another, each on one processor."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from grader.batch.work import PROCESSORS, Job, Outcome
from grader.home import ROOT

RENEWED_AFTER = 100  # jobs; whatever a library leaks is gone then
ENDS_WITHIN_S = 15.0
Done = tuple[Job, Outcome]


@dataclass
class Worker:
    """A worker process, started when there is something to do."""

    limit_s: float
    process: subprocess.Popen[str] | None = None
    jobs: int = 0

    def do(self, job: Job) -> Outcome:
        """The outcome of a job; a worker that ends or does not answer in time is replaced by a new one."""
        began, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
        process = self._started()
        answer: queue.Queue[str] = queue.Queue(1)
        reader = threading.Thread(target=lambda: answer.put(_line(process)), daemon=True)
        try:
            assert process.stdin is not None
            process.stdin.write(job.line() + "\n")
            process.stdin.flush()
            reader.start()
            line = answer.get(timeout=self.limit_s)
        except (BrokenPipeError, queue.Empty) as error:
            line, late = "", isinstance(error, queue.Empty)
        else:
            late = False
        if line:
            return Outcome.model_validate_json(line)
        code = self.stop()
        why = f"it did not end within {self.limit_s:.0f} s" if late else f"its worker ended by itself ({code})"
        seconds = round(time.monotonic() - clock, 3)
        return Outcome(status="failed", started_at=began, seconds=seconds, message=f"infrastructure error: {why}")

    def _started(self) -> subprocess.Popen[str]:
        if self.process is not None and self.jobs >= RENEWED_AFTER:
            self.stop()
        if self.process is None or self.process.poll() is not None:
            command = [sys.executable, "-P", "-m", "grader.batch.work"]
            environment = {**os.environ, "PYTHONPATH": str(ROOT), PROCESSORS: "1"}
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env=environment,
                start_new_session=True,
            )
            self.jobs = 0
        self.jobs += 1
        return self.process

    def stop(self) -> int | None:
        """Ends the process, gently first: it takes its boxes and folders with it. Returns its exit code."""
        process, self.process = self.process, None
        if process is None:
            return None
        if process.poll() is None:
            process.terminate()
        try:
            code = process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        return code


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    try:
        return process.stdout.readline()
    except (OSError, ValueError):  # closed under it
        return ""


@dataclass
class Pool:
    """Some workers, and the jobs that wait for them."""

    workers: int
    limit_s: float
    _stopping: threading.Event = field(default_factory=threading.Event)
    _started: list[Worker] = field(default_factory=list)

    def run(self, jobs: Sequence[Job]) -> Iterator[Done]:
        """The outcomes, as they come. Leaving the loop early stops what is under way."""
        waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
        for job in jobs:
            waiting.put(job)
        done: queue.SimpleQueue[Done | None] = queue.SimpleQueue()
        threads = [threading.Thread(target=self._work, args=(waiting, done), daemon=True) for _ in range(self.workers)]
        for thread in threads:
            thread.start()
        try:
            ended = 0
            while ended < len(threads):
                found = done.get()
                if found is None:
                    ended += 1
                else:
                    yield found
        finally:
            self._stopping.set()
            for worker in self._started:
                worker.stop()

    def _work(self, waiting: queue.SimpleQueue[Job], done: queue.SimpleQueue[Done | None]) -> None:
        worker = Worker(self.limit_s)
        self._started.append(worker)
        try:
            while not self._stopping.is_set():
                try:
                    job = waiting.get_nowait()
                except queue.Empty:
                    break
                outcome = worker.do(job)
                if not self._stopping.is_set():  # else it was stopped from outside: no outcome of the submission's
                    done.put((job, outcome))
        finally:
            worker.stop()
            done.put(None)
