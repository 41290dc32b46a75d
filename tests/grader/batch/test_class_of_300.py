"""A class of 300, mixed as classes are: from the download to the gradebook, killed half-way, run again."""

from __future__ import annotations

import csv
import io
import os
import signal
import subprocess
import time
import zipfile
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import pytest

from grader.batch.ledger import FILE, Ledger
from grader.known.c import Mistake
from grader.known.entries import folder
from tests.a2.patches import REFERENCE, load
from tests.support import LAUNCHER, run_command

CLASS = 300
LONGEST_S = 3600.0  # on a machine that does other things too
SOLVED = REFERENCE.read_text(encoding="utf-8")
HOSTILE = {
    "exits": "__attribute__((constructor)) static void x(void) { _exit(0); }",
    "kills": "#include <signal.h>\n__attribute__((constructor)) static void x(void) { kill(0, 9); }",
    "kills its parent": "#include <signal.h>\n__attribute__((constructor)) static void x(void) { kill(getppid(), 9); }",
    "prints": '__attribute__((constructor)) static void x(void) { for (;;) puts("overall okay: 1"); }',
    "sleeps": "__attribute__((constructor)) static void x(void) { for (;;) pause(); }",
    "forks": "__attribute__((constructor)) static void x(void) { for (;;) fork(); }",
    "eats": "__attribute__((constructor)) static void x(void) { for (;;) memset(malloc(1 << 26), 1, 1 << 26); }",
    "overflows": "__attribute__((constructor)) static void x(void) { x(); }",
    "fills": '__attribute__((constructor)) static void x(void) { FILE *f = fopen("x", "w"); for (;;) putc(1, f); }',
    "links": '__attribute__((constructor)) static void x(void) { symlink("/etc/passwd", "0.tensors"); _exit(0); }',
}
HEAD = "\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"


def sources() -> Iterator[tuple[str, str, str]]:
    """What students hand in: a kind, the row that it is to cost (empty: none; *: whatever), and the text."""
    for name, text in HOSTILE.items():
        yield name, "*", SOLVED + HEAD + text + "\n"
    mistakes = [m for m in load(folder("A2") / "mistakes.yaml", Mistake) if m.serial == "wrong" and m.verdict == "fail"]
    each = cycle(
        [*((m.name, m.row, m.source(SOLVED)) for m in mistakes), *[("right", "", SOLVED)] * (len(mistakes) // 3)]
    )
    yield from islice(each, CLASS - len(HOSTILE))


def download(path: Path) -> list[tuple[str, str]]:
    """Canvas's zip; kind and row of each student, in the order of their numbers."""
    given = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as whole:
        for number, (kind, row, text) in enumerate(sources()):
            given.append((kind, row))
            text += f"\n// {number}\n"
            late = "LATE_" if number % 7 == 0 else ""
            name = f"last{number}_{late}{1000 + number}_{5000 + number}_"
            if number % 3:
                whole.writestr(f"{name}train_gpt2.c", text)
                continue
            inner = io.BytesIO()
            with zipfile.ZipFile(inner, "w") as archive:
                archive.writestr("a2/train_gpt2.c", text)
            whole.writestr(f"{name}a2.zip", inner.getvalue())
    return given


@pytest.mark.slow
def test_a_class_of_300(tmp_path: Path) -> None:
    given, out = download(tmp_path / "submissions.zip"), tmp_path / "out"
    command: list[str | Path] = [
        "batch",
        "A2",
        tmp_path / "submissions.zip",
        "--out",
        out,
        "--no-second-look",
        "--explain",
        "none",
        "-q",
    ]
    running = subprocess.Popen([LAUNCHER, *command], stdout=subprocess.DEVNULL, start_new_session=True)
    while not (out / "A2").exists() or len(list((out / "A2").iterdir())) < CLASS // 2:
        assert running.poll() is None
        time.sleep(1)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    with Ledger(out / FILE) as book:
        before = book.rows("SELECT count(*) FROM runs")[0][0]
    done = run_command(*command, longest_s=LONGEST_S)
    assert done.exit == 0, done.stdout
    assert f"{CLASS - before} graded, {before} unchanged, 0 without a score" in done.stdout

    kept = {p: p.read_bytes() for p in out.rglob("*") if p.is_file() and not p.name.startswith(FILE)}
    assert f"0 graded, {CLASS} unchanged" in run_command(*command, longest_s=LONGEST_S).stdout
    assert {p: p.read_bytes() for p in kept} == kept

    with Ledger(out / FILE) as book:
        rows = book.rows("SELECT student, row, points, max_points FROM row_points WHERE assignment = 'A2'")
    lost: dict[str, list[str]] = {}
    for row in rows:
        lost.setdefault(row["student"], []).extend([row["row"]] if row["points"] < row["max_points"] else [])
    wrong = [
        (kind, row, lost[str(1000 + number)])
        for number, (kind, row) in enumerate(given)
        if row != "*" and lost[str(1000 + number)] not in ([row] if row else [], [row, "adamw"])
    ]
    assert not wrong
    table = list(csv.reader(io.StringIO((out / "A2-canvas.csv").read_text(encoding="utf-8"))))
    assert len(table) == CLASS + 2
