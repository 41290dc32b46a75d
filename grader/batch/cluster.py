"""Slurm, through submitit: array jobs over a shared folder. The coordinator alone writes the ledger.

A task writes the outcome of each of its jobs to a file; the coordinator waits for files, and hands the jobs of a task
that is gone without one (a lost node, a time-out) in again. Whether a task is still there is asked of ``squeue``: not
every Slurm keeps accounts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import submitit

from grader.batch.local import Done, Worker
from grader.batch.work import Job, Outcome
from grader.errors import InfrastructureError
from grader.home import ROOT

POLL_S = 1.0
ASK_QUEUE_S = 5.0
GONE_AFTER = 2  # times in a row that a task is not in the queue: its files may come late over the network
TRIES = 3
SLACK_S = 120.0
TASKS_EACH = 4  # for each worker: so that a slow submission holds nobody up


@dataclass(frozen=True)
class Waiting:
    """A job, and the file that its outcome goes to."""

    job: Job
    outcome: Path


def grade_chunk(jobs: Sequence[str], outcomes: Sequence[str], limit_s: float) -> int:
    """What a task does: grades its jobs one by one, each in a process of its own; what is done stays done."""
    worker = Worker(limit_s)
    done = 0
    try:
        for text, path in zip(jobs, map(Path, outcomes), strict=True):
            if path.exists():  # Slurm started the task again
                continue
            outcome = worker.do(Job.of_line(text))
            part = path.with_name(f".{path.name}.{os.getpid()}")
            part.write_text(outcome.model_dump_json(), encoding="utf-8")
            part.replace(path)
            done += 1
    finally:
        worker.stop()
    return done


@dataclass
class _Task:
    """A task under way: its number in Slurm, and what it is to do."""

    id: str
    jobs: list[Waiting]
    missed: int = 0


@dataclass
class Slurm:
    """Grades on a cluster.

    Attributes:
        folder: shared between the machines; logs and outcomes lie there.
        workers: tasks at a time.
        limit_s: seconds for one submission.
        partition: Slurm's; none: its default.
    """

    folder: Path
    workers: int
    limit_s: float
    partition: str | None = None
    _tasks: list[_Task] = field(default_factory=list)

    def run(self, jobs: Sequence[Job]) -> Iterator[Done]:
        """The outcomes, as they come. Leaving the loop early takes the tasks back."""
        run = self.folder / datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        run.mkdir(parents=True)
        left = {n: Waiting(job, run / f"{n}.json") for n, job in enumerate(jobs)}
        tries = dict.fromkeys(left, 1)
        try:
            self._submit(run, list(left.values()))
            asked = time.monotonic()
            while left:
                for number in [n for n, waiting in left.items() if waiting.outcome.exists()]:
                    waiting = left.pop(number)
                    yield waiting.job, _read(waiting.outcome)
                if left and time.monotonic() - asked > ASK_QUEUE_S:
                    asked = time.monotonic()
                    yield from self._lost(run, left, tries)
                if left:
                    time.sleep(POLL_S)
        finally:
            self._cancel()

    def _submit(self, run: Path, waiting: Sequence[Waiting]) -> None:
        size = max(1, -(-len(waiting) // (self.workers * TASKS_EACH)))
        chunks = [list(waiting[i : i + size]) for i in range(0, len(waiting), size)]
        if not chunks:
            return
        executor = submitit.SlurmExecutor(folder=run / "log", python=f"{sys.executable} -P")
        parameters: dict[str, object] = {
            "job_name": "tensorgrade",
            "time": max(1, int((size * self.limit_s + SLACK_S) / 60) + 1),
            "cpus_per_task": 1,
            "array_parallelism": self.workers,
            "setup": [f"export PYTHONPATH='{ROOT}'"],
            "use_srun": False,
            **({"partition": self.partition} if self.partition else {}),
        }
        try:
            executor.update_parameters(**parameters)
            started = executor.map_array(
                grade_chunk,
                [[w.job.line() for w in chunk] for chunk in chunks],
                [[str(w.outcome) for w in chunk] for chunk in chunks],
                [self.limit_s] * len(chunks),
            )
        except Exception as error:  # submitit has errors of many kinds
            raise InfrastructureError(f"Slurm took no jobs: {error}") from error
        self._tasks += [_Task(str(job.job_id), chunk) for job, chunk in zip(started, chunks, strict=True)]

    def _lost(self, run: Path, left: dict[int, Waiting], tries: dict[int, int]) -> Iterator[Done]:
        """Hands in again what tasks that are gone have left undone; gives up after some tries."""
        there = _in_queue()
        for task in list(self._tasks):
            undone = [n for n, waiting in left.items() if waiting in task.jobs]
            task.missed = 0 if not undone or there is None or task.id in there else task.missed + 1
            if not undone or task.missed >= GONE_AFTER:
                self._tasks.remove(task)
            if not undone or task.missed < GONE_AFTER:
                continue
            for number in [n for n in undone if tries[n] >= TRIES and not left[n].outcome.exists()]:
                now = datetime.now(UTC).isoformat(timespec="seconds")
                message = f"infrastructure error: its task was lost {TRIES} times; see {run / 'log'}"
                yield left.pop(number).job, Outcome(status="failed", started_at=now, seconds=0.0, message=message)
            again = [n for n in undone if n in left]
            for number in again:
                tries[number] += 1
            self._submit(run, [left[n] for n in again])

    def _cancel(self) -> None:
        ids = sorted({task.id.partition("_")[0] for task in self._tasks})
        if ids:
            subprocess.run(["scancel", *ids], capture_output=True, check=False)
        self._tasks.clear()


def _read(path: Path) -> Outcome:
    try:
        return Outcome.model_validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InfrastructureError(f"{path}, which a task wrote, cannot be read: {error}") from error


def _in_queue() -> set[str] | None:
    """The tasks that wait or run, as ``<array>_<task>``; None: Slurm does not answer now."""
    command = ["squeue", "--noheader", "--array", "--me", "--format=%F_%K"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode else set(done.stdout.split())
