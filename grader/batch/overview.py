"""A class seen from above, out of the ledger: how scores are spread, which rows are hard, what goes wrong most."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from grader.batch.gradebook import mark
from grader.batch.ledger import Ledger

BINS = 20
MOST_SLOW = 10
MOST_MISTAKES = 40
BROKEN = ("crashed", "timed_out")


@dataclass(frozen=True, slots=True)
class Person:
    """A student's line.

    Attributes:
        key: the student's folder.
        name: the name, or the key.
        score: points, with a TA's word; None: there is no score.
        mark: what goes into the gradebook.
        days: late days.
        seconds: how long grading took.
        problem: why there is no score, or why the submission could not be judged.
        points: of each row, in their order; None: not graded.
        verdicts: of each row.
        crashed: whether a row crashed or timed out.
    """

    key: str
    name: str
    score: int | None
    mark: str
    days: int
    seconds: float
    problem: str
    points: Sequence[int]
    verdicts: Sequence[str]
    crashed: bool


@dataclass(frozen=True)
class Row:
    """A row of the point table over the class."""

    id: str
    title: str
    most: int
    passed: int
    of: int
    mean: float
    lost: Sequence[Person]

    @property
    def rate(self) -> float:
        """The share of students who have it, 0 to 1."""
        return self.passed / self.of if self.of else 0.0


@dataclass(frozen=True)
class Mistake:
    """One thing that went wrong, and for whom."""

    row: str
    text: str
    people: Sequence[Person]


@dataclass(frozen=True)
class Bin:
    """The scores from ``low`` up to, and but for the last without, ``high``."""

    low: int
    high: int
    count: int


@dataclass(frozen=True)
class Overview:
    """A class and an assignment."""

    assignment: str
    most: int
    people: Sequence[Person]
    absent: Sequence[Person]
    rows: Sequence[Row]
    bins: Sequence[Bin]
    mistakes: Sequence[Mistake]
    further_mistakes: int

    @property
    def scored(self) -> list[Person]:
        """Those who have a score."""
        return [person for person in self.people if person.score is not None]

    @property
    def unscored(self) -> list[Person]:
        """Those whom the grader failed."""
        return [person for person in self.people if person.score is None]

    @property
    def slowest(self) -> list[Person]:
        """Those whose grading took longest."""
        return sorted(self.people, key=lambda person: -person.seconds)[:MOST_SLOW]

    @property
    def crashed(self) -> list[Person]:
        """Those whose code crashed, or did not end in time."""
        return [person for person in self.people if person.crashed]

    @property
    def tallest(self) -> int:
        """The most students that have about the same score; at least 1."""
        return max((found.count for found in self.bins), default=1) or 1

    @property
    def mean(self) -> float:
        """The mean score; 0 where there is none."""
        scores = [person.score or 0 for person in self.scored]
        return sum(scores) / len(scores) if scores else 0.0

    @property
    def median(self) -> float:
        """The median score; 0 where there is none."""
        scores = sorted(person.score or 0 for person in self.scored)
        half = len(scores) // 2
        return 0.0 if not scores else float(scores[half]) if len(scores) % 2 else (scores[half - 1] + scores[half]) / 2


def overview(ledger: Ledger, assignment: str) -> Overview:
    """Reads a class from the ledger, in a few queries whatever its size."""
    found: dict[str, _Points] = {}
    for row in ledger.each(
        "SELECT student, place, row, title, max_points, points, verdict FROM row_points WHERE assignment = ?"
        " ORDER BY place",
        assignment,
    ):
        found.setdefault(row["student"], _Points()).add(row)
    query = (
        "SELECT g.*, r.seconds FROM gradebook g LEFT JOIN runs r ON r.id = coalesce(g.run, g.last_run)"
        " WHERE g.assignment = ? ORDER BY g.name COLLATE NOCASE, g.student"
    )
    people: dict[str, Person] = {}
    most = 0
    for line in ledger.each(query, assignment):
        people[line["student"]] = _person(line, found.get(line["student"], _Points()))
        most = max(most, line["max_score"] or 0)
    absent = [
        Person(row["key"], row["name"] or row["key"], None, "", 0, 0.0, "", (), (), False)
        for row in ledger.each("SELECT key, name FROM students ORDER BY name COLLATE NOCASE, key")
        if row["key"] not in people
    ]
    mistakes = _mistakes(ledger, assignment, people)
    return Overview(
        assignment,
        most,
        list(people.values()),
        absent,
        _rows(found, people),
        _bins([person.score for person in people.values() if person.score is not None], most),
        mistakes[:MOST_MISTAKES],
        len(mistakes[MOST_MISTAKES:]),
    )


class _Points:
    """A student's points and verdicts: ten thousand of them are to take little memory."""

    __slots__ = ("points", "rows", "verdicts")

    def __init__(self) -> None:
        self.rows: list[_Kind] = []
        self.points: list[int] = []
        self.verdicts: list[str] = []

    def add(self, row: sqlite3.Row) -> None:
        self.rows.append(_kind(row["row"], row["title"], row["max_points"]))
        self.points.append(row["points"])
        self.verdicts.append(sys.intern(row["verdict"]))


class _Kind(NamedTuple):
    """A row of the point table, as a result names it."""

    id: str
    title: str
    most: int


_kind = cache(_Kind)  # one for all students


def _person(line: sqlite3.Row, rows: _Points) -> Person:
    failed = line["last_status"] == "failed"
    return Person(
        line["student"],
        line["name"] or line["student"],
        None if line["score"] is None else int(Decimal(line["score"])),
        mark(line),
        line["days"] or 0,
        line["seconds"] or 0.0,
        line["last_message"] if failed else (line["problems"] or "").partition("\n")[0],
        rows.points,
        rows.verdicts,
        any(verdict in BROKEN for verdict in rows.verdicts),
    )


def _rows(found: dict[str, _Points], people: dict[str, Person]) -> list[Row]:
    kinds: dict[str, _Kind] = {}
    points: dict[str, list[int]] = {}
    lost: dict[str, list[Person]] = {}
    for student, rows in found.items():
        for kind, got in zip(rows.rows, rows.points, strict=True):
            kinds.setdefault(kind.id, kind)
            points.setdefault(kind.id, []).append(got)
            if got < kind.most:
                lost.setdefault(kind.id, []).append(people[student])
    return [
        Row(
            name,
            kind.title,
            kind.most,
            len(points[name]) - len(lost.get(name, [])),
            len(points[name]),
            sum(points[name]) / len(points[name]),
            lost.get(name, []),
        )
        for name, kind in kinds.items()
    ]


def _bins(scores: Sequence[int], most: int) -> list[Bin]:
    if not most:
        return []
    edges = sorted({round(most * i / BINS) for i in range(BINS + 1)})
    last = edges[-1]
    return [
        Bin(low, high, sum(low <= score < high or (high == last and score >= high) for score in scores))
        for low, high in pairwise(edges)
    ]


def _mistakes(ledger: Ledger, assignment: str, people: dict[str, Person]) -> list[Mistake]:
    """The same fault, or the same sentence but for its numbers, is the same mistake; the most common first."""
    query = (
        "SELECT c.student, r.row, r.fault, r.explanation FROM counting c JOIN check_results r ON r.run = c.run"
        " WHERE c.assignment = ? AND r.explanation <> '' AND r.verdict NOT IN ('pass', 'not_implemented', 'blocked')"
        " ORDER BY c.student"
    )
    found: dict[tuple[str, str], tuple[str, dict[str, Person]]] = {}
    for row in ledger.each(query, assignment):
        same = row["fault"] or re.sub(r"[-+]?\d[\d.e+-]*", "#", row["explanation"])
        _, who = found.setdefault((row["row"], same), (row["explanation"], {}))
        who[row["student"]] = people[row["student"]]
    ordered = sorted(found.items(), key=lambda one: (-len(one[1][1]), one[0]))
    return [Mistake(key[0], text, list(who.values())) for key, (text, who) in ordered]
