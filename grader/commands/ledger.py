"""``./grade ledger …``: look into a class's ledger, decide over the grader's head, export."""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader import assignment as assignments
from grader.batch import exports
from grader.batch.gradebook import mark
from grader.batch.ledger import Ledger
from grader.batch.ledger.records import known_as, put_override
from grader.batch.run import open_ledger
from grader.errors import EXIT_GRADED, UsageError
from grader.parsing import Parser
from grader.report.stdout import shown
from grader.report.texts import printable, visible

WIDTH = 120


def parser() -> argparse.ArgumentParser:
    """The parser of ``./grade ledger``."""
    top = Parser(prog="grade ledger", description="The ledger of a class: see ./grade batch.")
    commands = top.add_subparsers(dest="command", required=True, parser_class=Parser)

    def command(name: str, about: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=about, description=about)
        made.add_argument("folder", type=Path, metavar="DIR", help="the folder that `batch --out` wrote")
        return made

    one = command("list", "Every student's score, late days and mark.")
    one.add_argument("assignment", nargs="?", help="of one assignment (default: all)")
    one = command("show", "A student: what was handed in, every run, the rows, and what was decided.")
    one.add_argument("student", help="key, name, login or number")
    one.add_argument("assignment", nargs="?", help="of one assignment (default: all)")
    one = command("override", "Decide the points of a row, or of the whole, over the grader's head; or take that back.")
    one.add_argument("assignment")
    one.add_argument("student", help="key, name, login or number")
    one.add_argument("--row", default="", metavar="ROW", help="of this row (default: the total)")
    points = one.add_mutually_exclusive_group(required=True)
    points.add_argument("--points", type=int, metavar="N")
    points.add_argument("--revoke", action="store_true", help="take the last word back")
    one.add_argument("--who", required=True, metavar="NAME", help="who decides it")
    one.add_argument("--why", required=True, metavar="TEXT", help="why")
    one = command("compare", "What differs between two runs.")
    one.add_argument("runs", type=int, nargs=2, metavar="RUN", help="their numbers: see `show`")
    one = command("export", "Write the gradebooks and the feedback anew, with the late policy.")
    one.add_argument("assignment")
    one.add_argument("--late", type=Path, metavar="YAML", help=f"the late policy (default: {exports.LATE} in DIR)")
    one.add_argument("--times", type=Path, metavar="CSV", help="when students handed in: login, submitted_at")
    one.add_argument("--canvas-column", metavar="NAME", help="heading in Canvas (default: the id)")
    return top


def run(arguments: Sequence[str]) -> int:
    """Does what is asked; returns 0."""
    options = parser().parse_args(arguments)
    commands = {"list": _list, "show": _show, "override": _override, "compare": _compare, "export": _export}
    with open_ledger(options.folder, create=False) as ledger:
        commands[options.command](ledger, options)
    return EXIT_GRADED


def _print(table: Table) -> None:
    with shown():
        Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH).print(table)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=Text(title) if title else None, title_justify="left")
    for name in columns:
        numbers = name in ("score", "late", "mark", "points", "run", "seconds")
        table.add_column(name, justify="right" if numbers else "left", overflow="fold")
    return table


def _texts(*values: object) -> list[Text]:
    return [Text(visible("" if value is None else str(value))) for value in values]


def find_student(ledger: Ledger, name: str) -> sqlite3.Row:
    """The one student whom a name belongs to.

    Raises:
        UsageError: it belongs to nobody, or to several.
    """
    if not name.strip():
        raise UsageError("the student's name is empty")
    found = known_as(ledger, name)
    if not found:
        like = f"%{name}%"
        found = ledger.rows("SELECT * FROM students WHERE key LIKE ?1 OR name LIKE ?1 OR login LIKE ?1", like)
    if len(found) == 1:
        return found[0]
    who = ", ".join(row["key"] for row in found[:5])
    raise UsageError(f"{name} is nobody in this ledger" if not found else f"{name} may be {who}: say which")


def _list(ledger: Ledger, options: argparse.Namespace) -> None:
    rows = ledger.rows("SELECT * FROM gradebook ORDER BY assignment, name COLLATE NOCASE, student")
    wanted = [row for row in rows if options.assignment in (None, row["assignment"])]
    if not wanted and options.assignment:
        raise UsageError(f"the ledger has nothing of {options.assignment}")
    table = _table("", "assignment", "student", "name", "score", "late", "mark", "run", "problem")
    for row in wanted:
        score = "" if row["score"] is None else f"{row['score']}/{row['max_score']}"
        days = f"{row['days']} ({row['free']} free)" if row["days"] else ""
        problem = (row["problems"] or "").partition("\n")[0]
        problem = row["last_message"] if row["last_status"] == "failed" else problem
        known = (row["assignment"], row["student"], row["name"])
        table.add_row(*_texts(*known, score, days, mark(row), row["run"], problem))
    _print(table)


def _show(ledger: Ledger, options: argparse.Namespace) -> None:
    who = find_student(ledger, options.student)["key"]
    runs = ledger.rows(
        "SELECT r.*, s.assignment, s.label, s.submitted_at FROM runs r JOIN submissions s ON s.id = r.submission"
        " WHERE s.student = ? ORDER BY r.id",
        who,
    )
    table = _table(
        f"{who}: runs", "run", "assignment", "submission", "handed in", "started", "score", "sandbox", "problem"
    )
    for run in runs:
        if options.assignment in (None, run["assignment"]):
            score = "none" if run["score"] is None else f"{run['score']}/{run['max_score']}"
            when = (run["submitted_at"], run["started_at"])
            told = run["message"] or run["problems"]
            table.add_row(*_texts(run["id"], run["assignment"], run["label"], *when, score, run["sandbox"], told))
    _print(table)
    table = _table("rows of the run that counts", "assignment", "row", "points", "verdict", "detail")
    for row in ledger.rows("SELECT * FROM row_points WHERE student = ? ORDER BY assignment, place", who):
        if options.assignment in (None, row["assignment"]):
            points = f"{row['points']}/{row['max_points']}" + (" (decided)" if row["override"] else "")
            table.add_row(*_texts(row["assignment"], row["row"], points, row["verdict"], row["detail"]))
    _print(table)
    decided = ledger.rows("SELECT * FROM overrides WHERE student = ? ORDER BY id", who)
    if decided:
        table = _table("decided", "at", "assignment", "row", "points", "who", "why")
        for row in decided:
            points = "taken back" if row["points"] is None else row["points"]
            table.add_row(*_texts(row["at"], row["assignment"], row["row"] or "total", points, row["who"], row["why"]))
        _print(table)


def _override(ledger: Ledger, options: argparse.Namespace) -> None:
    assignment = assignments.load(options.assignment)
    most = assignment.row(options.row).points if options.row else assignment.total
    if options.points is not None and not 0 <= options.points <= most:
        raise UsageError(f"--points: {options.points} is not between 0 and {most}")
    who = find_student(ledger, options.student)["key"]
    points = None if options.revoke else options.points
    moment = datetime.now(UTC)
    put_override(ledger, options.assignment, who, options.row, points, options.who, options.why, moment)
    query = "SELECT * FROM gradebook WHERE assignment = ? AND student = ?"
    row = ledger.rows(query, options.assignment, who)[0]
    with shown():
        print(f"{who}: {row['score']}/{row['max_score']}, mark {mark(row) or 'none'}")


def _compare(ledger: Ledger, options: argparse.Namespace) -> None:
    for number in options.runs:
        if not ledger.rows("SELECT 1 FROM runs WHERE id = ?", number):
            raise UsageError(f"the ledger has no run {number}")
    a, b = (
        {row["row"]: row for row in ledger.rows("SELECT * FROM row_results WHERE run = ? ORDER BY place", number)}
        for number in options.runs
    )
    table = _table("", "row", *(f"run {number}" for number in options.runs))
    for name in {**a, **b}:
        said = [
            f"{one[name]['points']}/{one[name]['max_points']} {one[name]['verdict']} {one[name]['detail']}"
            if name in one
            else "none"
            for one in (a, b)
        ]
        if said[0] != said[1]:
            table.add_row(*_texts(name, *said))
    if table.row_count:
        _print(table)
    else:
        with shown():
            print("the rows are the same")


def _export(ledger: Ledger, options: argparse.Namespace) -> None:
    assignments.load(options.assignment)
    policy = exports.policy(options.folder, options.late, options.times)
    column = options.canvas_column or options.assignment
    written, notes = exports.write(ledger, options.assignment, options.folder, policy, options.times, column)
    for note in notes:
        print(printable(f"grade: {note}"), file=sys.stderr)
    with shown():
        print("\n".join(str(path) for path in written))
