"""The grader's own faults are infrastructure errors: no score, an earlier result stays; nothing passes in a vacuum."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.clone import Clone, Data
from tests.support import LONGEST_S

QUICK = ["A2", "--reference", "--only", "encoder_backward", "--cflags=-O0", "--no-second-look", "--quiet"]


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


QUICK_KINDS = ("an expected tensor that was changed", "half a manifest", "no rows", "rows that do not add up")


def marked(kinds: Iterable[str]) -> list[Any]:
    """The kinds, all but some left to the slow tests."""
    return [pytest.param(kind, id=kind, marks=[] if kind in QUICK_KINDS else [pytest.mark.slow]) for kind in kinds]


def run(clone: Clone, *more: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [clone.launcher, *QUICK, *more],
        env={**os.environ, "GRADE_HOME": str(clone.home), **environment},
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )


def assert_no_score(clone: Clone, says: str, *more: str, **environment: str) -> None:
    """Exit code 3, one message, no score; an earlier result stays as it was."""
    earlier = clone.root.parent / "result.json"
    earlier.write_text("earlier", encoding="utf-8")
    done = run(clone, "--json", str(earlier), *more, **environment)
    assert (done.returncode, done.stdout) == (3, ""), done.stdout + done.stderr
    assert says in done.stderr
    assert done.stderr.startswith("grade: infrastructure error")
    assert "Traceback" not in done.stderr
    assert earlier.read_text(encoding="utf-8") == "earlier"


# -- 18: the grader itself fails --------------------------------------------------------------------------


def fixture(clone: Clone, name: str) -> Path:
    return clone.root / "fixtures" / "A2" / "public" / name


def flip(path: Path) -> None:
    blob = bytearray(path.read_bytes())
    blob[-1] ^= 1
    path.write_bytes(bytes(blob))


def manifest(change: Callable[[Data], Any]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        data = json.loads(path.read_bytes())
        change(data)
        path.write_text(json.dumps(data), encoding="utf-8")

    return damage


EXPECTED, INPUTS = "expected/encoder_backward/small.safetensors", "inputs/encoder_backward/small.safetensors"
DAMAGED: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "an expected tensor that was changed": (EXPECTED, flip),
    "an expected tensor cut short": (EXPECTED, lambda path: os.truncate(path, 40)),
    "an expected tensor that is gone": (EXPECTED, Path.unlink),
    "an input that was changed": (INPUTS, flip),
    "an input that is gone": (INPUTS, Path.unlink),
    "no manifest": ("manifest.json", Path.unlink),
    "half a manifest": ("manifest.json", lambda path: os.truncate(path, 1000)),
    "a manifest without cases": ("manifest.json", manifest(lambda data: data.update(cases=[]))),
}


@pytest.mark.parametrize("kind", marked(DAMAGED))
def test_damaged_fixtures(kind: str, clone: Clone) -> None:
    name, damage = DAMAGED[kind]
    damage(fixture(clone, name))
    assert_no_score(clone, "fixtures")


@pytest.mark.slow
def test_no_limit_for_a_tensor(clone: Clone) -> None:
    path = clone.root / "tolerances.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("encoder_backward:", "decoder_backward:"), "utf-8")
    assert_no_score(clone, "tolerances.yaml has no limit for A2, check encoder_backward")


def test_a_compiler_that_is_broken(clone: Clone, tmp_path: Path) -> None:
    (tmp_path / "cc").write_text("#!/bin/sh\necho 'cannot execute cc1' >&2\nexit 1\n", encoding="utf-8")
    (tmp_path / "cc").chmod(0o755)
    assert_no_score(clone, "cannot build a plain program (cannot execute cc1)", "--cc", str(tmp_path / "cc"))


@pytest.mark.slow
def test_no_folder_for_what_is_temporary(clone: Clone, tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.write_text("a file where the folder should be", encoding="utf-8")
    places = ("/tmp", "/var/tmp", "/usr/tmp")
    if any(os.access(place, os.W_OK) for place in places):
        pytest.skip("the system has another place for temporary files")
    assert_no_score(clone, "no temporary folder can be made", TMPDIR=str(full))


def test_a_full_disk(clone: Clone, tmp_path: Path) -> None:
    """In a space of mounts of its own, with a disk of one megabyte for what is temporary."""
    space = shutil.which("unshare")
    place = tmp_path / "small"
    place.mkdir()
    script = f'mount -t tmpfs -o size=1m tmpfs {place} && exec "$@"'
    wrap = [str(space), "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    if space is None or subprocess.run([*wrap, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no disk can be mounted here")
    environment = {**os.environ, "GRADE_HOME": str(clone.home), "TMPDIR": str(place)}
    done = subprocess.run(
        [*wrap, str(clone.launcher), *QUICK, "--sandbox", "limits"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, ""), done.stdout + done.stderr
    assert re.search("No space left on device|less than 32 MiB left", done.stderr)


# -- 19: nothing passes in a vacuum -----------------------------------------------------------------------


def row(data: Data, number: int = 1) -> Data:
    found: Data = data["rows"][number]
    return found


EMPTY: dict[str, tuple[Callable[[Data], Any], str]] = {
    "no rows": (lambda data: data.update(rows=[]), "rows"),
    "rows that do not add up": (lambda data: row(data).update(points=11), "101 points, not to 100"),
    "a row without points": (lambda data: row(data).update(points=0), "points"),
    "a row with fewer than no points": (lambda data: row(data).update(points=-10), "points"),
    "a row without checks": (lambda data: row(data).update(checks=[]), "checks"),
    "a row with checks that are not there": (lambda data: row(data).update(checks=["nothing"]), "no check `nothing`"),
    "a check that needs no case": (lambda data: data["checks"]["encoder_backward"].update(cases_min=0), "cases_min"),
    "a check that needs more cases": (
        lambda data: data["checks"]["encoder_backward"].update(cases_min=99),
        "encoder_backward",
    ),
    "a limit of nothing": (lambda data: data["limits"].update(case_s=0), "case_s"),
    "a key that nobody knows": (lambda data: data.update(bonus=100), "bonus"),
    "half of it": (lambda data: [data.pop(key) for key in ("checks", "limits")], "checks"),
}


@pytest.mark.parametrize("kind", marked(EMPTY))
def test_an_assignment_that_would_pass_in_a_vacuum(kind: str, clone: Clone) -> None:
    change, says = EMPTY[kind]
    clone.change("A2", change)
    assert_no_score(clone, says)


@pytest.mark.slow
def test_an_assignment_that_is_no_yaml(clone: Clone) -> None:
    (clone.root / "assignments" / "A2" / "assignment.yaml").write_bytes(b"id: A2\n\ttotal: [100\n\0")
    assert_no_score(clone, "assignment.yaml")
