"""Small made-up parts that the tests of the grader share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from grader.assignment import Assignment, Limits
from grader.cases import Array
from grader.compare import Comparison, compare
from grader.engine import Probed
from grader.fixtures import CaseEntry, FixtureCase, sha256
from grader.result import (
    BuildInfo,
    CheckResult,
    Evidence,
    FixtureInfo,
    Result,
    RowResult,
    SubmissionInfo,
    Verdict,
)
from grader.sandbox import Outcome
from grader.tensorfile import write
from grader.tolerances import Limit

RELATIVE = Limit(scale="max", rtol=1e-4, atol=0.0, source="made up")
ELEMENT = Limit(scale="element", rtol=1e-3, atol=1e-6, source="made up")
ABSOLUTE = Limit(scale="absolute", rtol=0.0, atol=1e-2, source="made up")
LIMITS = Limits(case_s=5, wall_s=10, cpu_s=5, memory_mb=512, processes=64, file_mb=16, disk_mb=64, output_kb=64)

RUNNER = {  # what the runner of Classroom 50 gives
    "CLASSROOM": "c",
    "ASSIGNMENT": "a2",
    "OWNER": "o",
    "SUBMISSION_TAG": "submit/1",
    "COMMIT_URL": "u",
    "RELEASE_URL": "u",
    "REVIEW_URL": "u",
}


def floats(*values: float) -> Array:
    return np.array(values, dtype=np.float32)


def compared(got: Array | None, expected: Array, limit: Limit = RELATIVE, layered: bool = False) -> Comparison:
    return compare("check/case", "dinp", got, expected, limit, layered)


def assignment(**changes: object) -> Assignment:
    """An assignment of one row, one check and one build."""
    return Assignment.model_validate({**assignment_data(), **changes})


def assignment_data() -> dict[str, Any]:
    return {
        "id": "X1",
        "title": "made up",
        "total": 10,
        "submission": {"files": ["x.c"], "provided": [], "language": "c", "max_file_kb": 8},
        "limits": LIMITS.model_dump(),
        "builds": {"plain": {"flags": ["-O1"]}},
        "rows": [{"id": "first", "title": "First", "points": 10, "checks": ["probe"]}],
        "checks": {"probe": {"title": "f alone", "probe": "function", "function": "f", "build": "plain"}},
    }


def fixture_case(folder: Path, case_id: str, expected: Mapping[str, Array]) -> FixtureCase:
    """A case on disk, without inputs."""
    case = FixtureCase(folder, CaseEntry(id=case_id, params={}, inputs="", expected=""))
    write(case.expected_path, expected)
    digest = sha256(case.expected_path.read_bytes())
    return FixtureCase(folder, case.entry.model_copy(update={"expected": digest}))


def probed(
    statuses: Mapping[str, Mapping[str, Any]], outputs: Mapping[str, Path], timed_out: bool = False, output: str = ""
) -> Probed:
    found = {name: dict(status) for name, status in statuses.items()}
    return Probed(found, dict(outputs), Outcome(0, timed_out, output, 1.0), 1.0)


def evidence(ok: bool = True, **changes: object) -> Evidence:
    fields: dict[str, Any] = {
        "tensor": "dinp",
        "case": "probe/small",
        "shape": [2, 3],
        "ok": ok,
        "reason": "" if ok else "differs",
        "note": "",
        "error": 1e-7 if ok else 0.5,
        "limit": 1e-4,
        "index": [1, 2],
        "place": "[b=1, c=2]",
        "got": 1.5,
        "expected": 1.0,
        "absolute": 0.5,
        "relative": 0.5,
        "allowed": 1e-4,
        "wrong": 0 if ok else 3,
        "size": 6,
        "layers": [],
        "failed_cases": [] if ok else ["probe/small"],
    }
    return Evidence.model_validate({**fields, **changes})


def check_result(verdict: Verdict = "pass", **changes: object) -> CheckResult:
    fields: dict[str, Any] = {
        "id": "probe",
        "title": "f alone",
        "function": "f",
        "role": "direct",
        "verdict": verdict,
        "inferred": False,
        "detail": "",
        "evidence": [evidence(verdict == "pass")],
    }
    return CheckResult.model_validate({**fields, **changes})


def row_result(verdict: Verdict = "pass", **changes: object) -> RowResult:
    fields: dict[str, Any] = {
        "id": "first",
        "title": "First",
        "points": 10 if verdict == "pass" else 0,
        "max_points": 10,
        "verdict": verdict,
        "inferred": False,
        "detail": "",
        "checks": [check_result(verdict)],
    }
    return RowResult.model_validate({**fields, **changes})


def result(*rows: RowResult, **changes: object) -> Result:
    found = list(rows) or [row_result()]
    fields: dict[str, Any] = {
        "grader": "0.0",
        "assignment": "X1",
        "title": "made up",
        "score": sum(row.points for row in found),
        "max_score": sum(row.max_points for row in found),
        "complete": True,
        "sandbox": "none",
        "fixtures": FixtureInfo(set="public", seed=1, digest="0"),
        "submission": SubmissionInfo(origin="here", hashes={}, ignored=[]),
        "build": BuildInfo(compiler="cc", version="1", flags=["-O1"]),
        "problems": [],
        "rows": found,
        "advice": [],
        "transcript": "",
        "timing": {"total": 1.0},
    }
    return Result.model_validate({**fields, **changes})
