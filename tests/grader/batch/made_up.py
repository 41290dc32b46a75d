"""A ledger of a class of any size, from made-up results: for pages, tables and measurements without grading."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path

from grader.batch.find import HandedIn
from grader.batch.ledger import FILE, Ledger
from grader.batch.ledger.records import Run, put_run, put_students, put_submission
from grader.report.batch import Student
from grader.result import Explanation, Result, RowResult, Verdict
from tests.grader.builders import check_result, result, row_result

WHEN = datetime(2026, 10, 1, tzinfo=UTC)
ROWS = [("zero_grad", 5), ("encoder_backward", 10), ("layernorm_backward", 15), ("matmul_backward", 10)]
ROWS += [("attention_backward", 20), ("gelu_residual_backward", 10), ("crossentropy_softmax_backward", 10)]
ROWS += [("gpt2_backward", 10), ("adamw", 10)]
VERDICTS: list[Verdict] = ["pass", "pass", "pass", "fail", "fail", "not_implemented", "crashed", "timed_out"]
WHYS = [
    "equals what comes out when the second reduction is left out",
    "wrong from layer 3 on",
    "<script>alert(1)</script>",
]


def class_of(folder: Path, students: int, seed: int = 0) -> Ledger:
    """The ledger of so many students, some without a score."""
    chance = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    book = Ledger(folder / FILE)
    known = [(f"s{i:05}", Student(f"Last{i:05}, First", str(i), login=f"s{i:05}")) for i in range(students)]
    put_students(book, known)
    for place, (key, student) in enumerate(known):
        one = HandedIn(key, student, [Path(f"{key}.zip")], f"{key}.zip")
        with book.writing() as connection:
            submission = put_submission(connection, "A2", one, f"digest{place}", 1)
        broken = chance.random() < 0.02
        found = None if broken else made_up(chance)
        put_run(book, Run(submission, "w", WHEN, chance.expovariate(0.3), found, "disk full" if broken else ""))
    return book


def made_up(chance: random.Random) -> Result:
    """A result of A2 with verdicts by chance."""
    return result(*(_row(chance, name, points) for name, points in ROWS))


def _row(chance: random.Random, name: str, points: int) -> RowResult:
    verdict, why = chance.choice(VERDICTS), chance.choice(WHYS)
    told = Explanation(kind="fault", text=why, hint="", fault=why[:9], tensors=[], cases=[])
    check = check_result(verdict, id=f"{name}_alone", explanations=[] if verdict == "pass" else [told])
    got = points if verdict == "pass" else 0
    return row_result(verdict, id=name, title=name, points=got, max_points=points, checks=[check])
