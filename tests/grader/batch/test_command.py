"""``./grade batch`` as the staff run it: from a download to a gradebook, stopped, killed, run again."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from grader.batch.ledger import FILE, Ledger
from grader.home import ROOT
from tests.support import LAUNCHER, run_command

SOLVED = (ROOT / "reference" / "A2" / "train_gpt2.c").read_text()
TEMPLATE = (ROOT / "student_template" / "A2" / "train_gpt2.c").read_text()
# ends the process group, its parent and itself, from a constructor
HOSTILE = TEMPLATE + (
    "\n#include <signal.h>\n#include <unistd.h>\n"
    "__attribute__((constructor)) static void end_all(void) { kill(getppid(), 9); kill(0, 9); _exit(0); }\n"
)
OPTIONS = ("--no-second-look", "--quiet")
COUNT = 8  # so many that a stop comes before the end
LATE = "timezone: UTC\nfree_days: 1\npercent_per_day: 20\ndue: {A2: 2026-10-01T23:59:00}\n"
ROSTER = "Student,ID,SIS User ID,SIS Login ID,Section\n" + "".join(
    f'"Last, {name.title()}",{number},,{name},1\n'
    for number, name in enumerate(("ann", "bob", "cid", "dan", "eve", "fay"), 1)
)


def zipped(path: Path, text: str, name: str = "train_gpt2.c") -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, text)


def download(folder: Path) -> Path:
    """What Canvas hands out: mixed formats, one file each, packed into one zip; the last one hostile."""
    folder.mkdir()
    zipped(folder / "lastann_1_11_hw.zip", SOLVED, "hw/train_gpt2.c")
    (folder / "lastbob_LATE_2_12_train_gpt2-1.c").write_text(SOLVED)
    with tarfile.open(folder / "lastcid_3_13_a2.tar.gz", "w:gz") as archive:
        blob = TEMPLATE.encode()
        member = tarfile.TarInfo("train_gpt2.c")
        member.size = len(blob)
        archive.addfile(member, io.BytesIO(blob))
    (folder / "lastdan_4_14_train_gpt2.c").write_text(HOSTILE)
    (folder / "lasteve_5_15_essay.docx").write_bytes(b"PK not really")
    whole = folder.parent / "submissions.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, path.name)
    return whole


def canvas(out: Path) -> dict[str, str]:
    rows = list(csv.reader(io.StringIO((out / "A2-canvas.csv").read_text(encoding="utf-8"))))
    return {row[3]: row[5] for row in rows[2:]}


def test_from_a_canvas_zip_to_a_gradebook_with_one_command(tmp_path: Path) -> None:
    whole, out = download(tmp_path / "in"), tmp_path / "out"
    (tmp_path / "roster.csv").write_text(ROSTER)
    (tmp_path / "late.yaml").write_text(LATE)
    (tmp_path / "times.csv").write_text("login,submitted_at\nbob,2026-10-03T12:00:00\n")
    command: list[str | Path] = ["batch", "A2", whole, "--out", out, "--roster", tmp_path / "roster.csv", *OPTIONS]
    late: list[str | Path] = [
        "--late",
        tmp_path / "late.yaml",
        "--times",
        tmp_path / "times.csv",
        "--canvas-column",
        "A2 (77)",
    ]
    done = run_command(*command, *late)
    assert done.exit == 0, done.stderr
    assert "5 graded, 0 unchanged, 0 without a score" in done.stdout
    assert "1 of the roster handed in nothing: Last, Fay" in done.stderr
    assert canvas(out) == {"ann": "100", "bob": "80", "cid": "0", "dan": "0", "eve": "0", "fay": ""}
    assert "A2 (77)" in (out / "A2-canvas.csv").read_text()
    with zipfile.ZipFile(out / "A2-feedback.zip") as feedback:
        assert sorted(feedback.namelist()) == [f"{n}/report.html" for n in ("ann", "bob", "cid", "dan", "eve")]
    assert json.loads((out / "A2" / "ann" / "result.json").read_bytes())["score"] == 100
    assert "Last, Ann" in (out / "A2.html").read_text(encoding="utf-8")

    files = {p: p.read_bytes() for p in out.rglob("*") if p.is_file() and not p.name.startswith(FILE)}
    again = run_command(*command, *late)
    assert "0 graded, 5 unchanged" in again.stdout
    assert {p: p.read_bytes() for p in files} == files


def class_of(folder: Path, count: int) -> Path:
    for number in range(count):
        (folder / f"s{number}").mkdir(parents=True)
        (folder / f"s{number}" / "train_gpt2.c").write_text(TEMPLATE + f"\n// {number}\n")
    return folder


def runs(out: Path) -> int:
    with Ledger(out / FILE) as book:
        return int(book.rows("SELECT count(*) FROM runs")[0][0])


def begin(given: Path, out: Path, wanted: int) -> subprocess.Popen[bytes]:
    """A batch under way, of which so many are done."""
    command: list[str | Path] = [LAUNCHER, "batch", "A2", given, "--out", out, "--workers", "2", *OPTIONS]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while not (out / "A2").exists() or runs(out) < wanted:
        assert running.poll() is None
        time.sleep(0.05)
    return running


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_stopped_half_way_it_goes_on_where_it_was(tmp_path: Path, number: signal.Signals) -> None:
    given, out = class_of(tmp_path / "in", COUNT), tmp_path / "out"
    running = begin(given, out, 1)
    os.kill(running.pid, number)
    assert running.wait() == (130 if number == signal.SIGINT else -signal.SIGKILL)
    before = runs(out)
    assert before >= 1
    done = run_command("batch", "A2", given, "--out", out, *OPTIONS)
    assert done.exit == 0, done.stderr
    assert f"{COUNT - before} graded, {before} unchanged" in done.stdout
    assert runs(out) == COUNT
    assert len((out / "A2-canvas.csv").read_text().splitlines()) == COUNT + 2


def test_what_changed_is_graded_and_what_is_asked_for(tmp_path: Path) -> None:
    given, out = class_of(tmp_path / "in", 2), tmp_path / "out"
    command = ("batch", "A2", given, "--out", out, *OPTIONS)
    assert run_command(*command).exit == 0
    (given / "s1" / "train_gpt2.c").write_text(TEMPLATE + "\n// changed\n")
    assert "1 graded, 1 unchanged" in run_command(*command).stdout
    assert "1 graded, 0 unchanged" in run_command(*command, "--regrade", "--select", "s0").stdout
    assert "0 graded, 0 unchanged" in run_command(*command, "--only-failed").stdout
    assert runs(out) == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("A2", "none"), "there is nothing at none"),
        (("A9", "."), "A9"),
        (("A2", ".", "--workers", "0"), "--workers"),
        (("A2", ".", "--timeout", "0"), "--timeout"),
        (("A2", ".", "--backend", "auto"), "A2 has no backends"),
        (("A2", ".", "--times", "x.csv"), "--late"),
        (("A2", ".", "--late", "x.yaml"), "there is no file"),
        (("A2", ".", "--roster", "x.csv"), "--roster"),
        (("A2", ".", "--select", "nobody"), "--select"),
        (("A2", "empty"), "no submissions"),
        (("A2", "file.txt"), "neither a folder nor a zip"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_graded(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    class_of(tmp_path, 1)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text("x")
    done = run_command("batch", *arguments, "--out", tmp_path / "out", cwd=tmp_path)
    assert done.exit == 2
    assert said in done.stderr
    assert not (tmp_path / "out" / "A2").exists()


@pytest.mark.slow
def test_a_class_s_kernels_are_looked_at_and_count_as_part_of_the_submission(tmp_path: Path) -> None:
    student, out = tmp_path / "in" / "ann", tmp_path / "out"
    shutil.copytree(ROOT / "reference" / "HW2", student)
    kernels = student / "src" / "combine.cu"
    kernels.parent.mkdir(exist_ok=True)
    shutil.copy(ROOT / "student_template" / "HW2" / "src" / "combine.cu", kernels)
    command = ("batch", "HW2", tmp_path / "in", "--out", out, *OPTIONS, "--no-training", "--backend", "auto")
    for state in ("1 graded", "1 unchanged"):
        done = run_command(*command)
        assert (done.exit, state in done.stdout) == (0, True), done.stdout + done.stderr
    kernels.write_text(kernels.read_text().replace("__syncthreads();", "", 1))
    assert "1 graded" in run_command(*command).stdout
    told = json.loads((out / "HW2" / "ann" / "result.json").read_bytes())["kernels"]
    assert told["sha256"] == hashlib.sha256(kernels.read_bytes()).hexdigest()
    assert {kernel["verdict"] for kernel in told["kernels"]} == {"pass", "fail"}


def test_the_ledger_s_commands(tmp_path: Path) -> None:
    given, out = class_of(tmp_path / "in", 1), tmp_path / "out"
    assert run_command("batch", "A2", given, "--out", out, *OPTIONS).exit == 0
    assert "0/100" in run_command("ledger", "list", out).stdout
    word = ("--who", "a TA", "--why", "it was the wrong file")
    assert "7/100" in run_command("ledger", "override", out, "A2", "s0", "--points", "7", *word).stdout
    shown = run_command("ledger", "show", out, "S0").stdout
    assert "the wrong file" in shown
    assert "not_implemented" in shown
    assert run_command("ledger", "export", out, "A2").exit == 0
    assert (out / "A2-canvas.csv").read_text().splitlines()[2].endswith(",7")
    assert "0/100" in run_command("ledger", "override", out, "A2", "s0", "--revoke", *word).stdout
    assert "the rows are the same" in run_command("ledger", "compare", out, "1", "1").stdout
    for wrong in (
        ("show", out, "nobody"),
        ("compare", out, "1", "99"),
        ("override", out, "A2", "s0", "--points", "101", *word),
        ("list", tmp_path),
    ):
        done = run_command("ledger", *wrong)
        assert done.exit == 2, done.stdout
