"""The same submission gives the same bytes: of a result but its times, of a page but the second it names."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.support import ROOT, run_command

SOURCE = (ROOT / "reference" / "A2" / "train_gpt2.c").read_text()


def graded(folder: Path) -> tuple[dict[str, Any], str]:
    result, page = folder / "result.json", folder / "page.html"
    options = ["--no-second-look", "--cflags=-O0", "--quiet", "--only", "attention_backward,adamw"]
    run_command("A2", folder, *options, "--report", f"json={result}", "--report", f"html={page}")
    found = json.loads(result.read_text())
    assert found.pop("timing")
    return found, re.sub(r"\d+\.\d s</p>", "s</p>", page.read_text())


def test_random_numbers_are_the_same_each_time(tmp_path: Path) -> None:
    rows = "linear_init,network_init,network_forward"
    for name in ("first", "second"):
        options: list[str | Path] = ["--only", rows, "--quiet", "--json", tmp_path / name]
        assert run_command("HW2", "--reference", *options).exit == 0
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("first", "second"))
    assert first.pop("timing")
    assert second.pop("timing")
    assert json.dumps(first) == json.dumps(second)
    errors = [one["error"] for row in first["rows"] for check in row["checks"] for one in check["evidence"]]
    assert any(errors), "nothing that is drawn at random was looked at"


def test_two_gradings_give_the_same(tmp_path: Path) -> None:
    (tmp_path / "train_gpt2.c").write_text(SOURCE.replace("dscore[t2] * scale", "dscore[t2]"))
    first, second = graded(tmp_path), graded(tmp_path)
    assert json.dumps(first[0]) == json.dumps(second[0])
    assert first[1] == second[1]
    checks = {check["id"]: check for row in first[0]["rows"] for check in row["checks"]}
    picture = next(e["picture"] for e in checks["attention_backward"]["evidence"] if not e["ok"])
    assert picture["parts"] == ["Q", "K", "V"]
    assert [len(series["got"]) for series in checks["ten_steps"]["series"]] == [10]
    assert 'aria-label="loss by step"' in first[1]
