"""The driver's side of the sanitizers: what a build is for, and what is handed on of the reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignments.A2.native.buffers import PAGE, Region
from assignments.A2.native.sanitizers import MOST_REPORTED, MOST_TEXT, reporting, tool_of
from assignments.common.probe_io import Job

HERE = 0x7F0000001000
REGIONS = [
    Region("dinp", HERE - PAGE, HERE, HERE + 28, 4),
    Region("targets", HERE + 2 * PAGE, HERE + 3 * PAGE, HERE + 3 * PAGE + 8, 4, "int"),
]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job("probe", stage="", build=str(tmp_path / "build"), out=str(tmp_path))


def reported(job: Job, text: str, cases: int = 1) -> list[dict[str, object]]:
    """The statuses of cases, during each of which the tool wrote this text."""

    def probe(job: Job, case: dict[str, object]) -> dict[str, object]:
        (Path(job.out) / "sanitizer.address.1").write_text(text, encoding="utf-8")
        return {"status": "exited", "regions": REGIONS}

    probed = reporting(probe)
    return [probed(job, {"id": str(case)}) for case in range(cases)]


@pytest.mark.parametrize(
    ("flags", "tool"),
    [
        (["-O2"], ""),
        (["-O0", "-fsanitize=address,undefined"], "address"),
        (["-fsanitize=thread", "-fopenmp"], "thread"),
        (["-fsanitize=undefined"], ""),
    ],
)
def test_the_flags_say_which_tool_it_is(flags: list[str], tool: str) -> None:
    assert tool_of(flags) == tool


def test_addresses_are_placed_by_the_nearest_buffer(job: Job) -> None:
    (status,) = reported(job, f"{HERE + 28:#x} {HERE + 4:#x} {HERE + 3 * PAGE - 4:#x} 0x7fffffffffff {job.build}/a.c:1")
    places = status["places"]
    assert isinstance(places, dict)
    found = {(p["buffer"], p["where"], p["index"], p["unit"]) for p in places.values()}
    assert found == {("dinp", "after", 7, "float"), ("dinp", "inside", 1, "float"), ("targets", "before", -1, "int")}
    assert str(status["report"]).endswith(" a.c:1")


def test_a_report_is_read_once_and_bounded(job: Job) -> None:
    (status,) = reported(job, "x" * (2 * MOST_TEXT))
    assert len(str(status["report"])) == MOST_TEXT
    assert not list(Path(job.out).glob("sanitizer.*"))


def test_a_link_in_place_of_a_report_is_not_followed(job: Job, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret", encoding="utf-8")

    def probe(job: Job, case: dict[str, object]) -> dict[str, object]:
        (Path(job.out) / "sanitizer.address.1").symlink_to(tmp_path / "secret")
        return {"status": "ok"}

    assert reporting(probe)(job, {"id": "1"})["report"] == ""


def test_after_a_few_reports_the_other_cases_are_left_out(job: Job) -> None:
    statuses = reported(job, "==1==ERROR: AddressSanitizer: SEGV", MOST_REPORTED + 2)
    assert [s["status"] for s in statuses] == ["exited"] * MOST_REPORTED + ["skipped"] * 2
