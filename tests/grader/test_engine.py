"""Running drivers: what the sandbox says is read as somebody else's words."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from grader import engine as engines
from grader import statuses
from grader.assignment import Assignment
from grader.engine import BuildReport, Built, CaseInput, Engine, Probed
from grader.errors import InfrastructureError
from grader.sandbox import watch
from grader.sandbox.launched import Limits
from tests.grader.builders import LIMITS, assignment

HEAD = """\
import json, os, sys
job = json.load(open(sys.argv[1]))
def say(text):
    if "statuses" in job: os.write(job["statuses"], text.encode() + b"\\n")
def begin():
    print("[driver started]", flush=True)
    say('{"case": "", "status": "started"}')
"""


class Made(Assignment):
    """An assignment whose driver a test writes."""

    place: Path

    @property
    def folder(self) -> Path:
        return self.place


class Bench:
    def __init__(self, folder: Path) -> None:
        for name in ("assignment", "stage", "work", "inputs", "build"):
            (folder / name).mkdir()
        self.folder = folder
        limits = LIMITS.model_copy(update={"wall_s": 3.0})
        data = assignment().model_dump() | {"limits": limits.model_dump(), "place": folder / "assignment"}
        made = Made.model_validate(data)
        self.engine = Engine(made, Limits(), folder / "stage", folder / "work")
        self.check = made.checks["probe"]

    def driver(self, code: str) -> None:
        (self.folder / "assignment" / "driver.py").write_text(HEAD + textwrap.dedent(code))

    def probe(self, code: str) -> Probed:
        self.driver(code)
        case = self.folder / "inputs" / "small"
        case.write_bytes(b"")
        built = Built(self.folder / "build", BuildReport(ok=True), 0.0)
        return self.engine.probe("probe", self.check, built, [CaseInput("probe/small", {"B": 2}, case)], {})


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_statuses_by_case(bench: Bench) -> None:
    probed = bench.probe("""
        begin()
        print("hello")
        say(json.dumps({"case": job["cases"][0]["id"], "status": "ok", "params": job["cases"][0]["params"]}))
    """)
    assert probed.statuses["probe/small"] == {"case": "probe/small", "status": "ok", "params": {"B": 2}}
    assert probed.outcome.output == "hello\n"
    assert probed.outputs["probe/small"].parent.name == "out"


@pytest.mark.parametrize("code", ["raise SystemExit('no way')", "import no_such_module", "syntax error", "pass"])
def test_a_driver_that_does_not_start_is_ours_to_answer_for(bench: Bench, code: str) -> None:
    with pytest.raises(InfrastructureError, match="the probe of probe did not start: "):
        bench.probe(code)


@pytest.mark.parametrize(
    "code",
    [
        "os.close(job['statuses'])",
        "os.ftruncate(job['statuses'], 0)",
        "os.kill(os.getpid(), 9)",
        "os.chmod(job['out'], 0)",
    ],
)
def test_a_submission_cannot_undo_that_the_driver_has_started(bench: Bench, code: str) -> None:
    probed = bench.probe(f"begin()\n{code}\n")
    assert "probe/small" not in probed.statuses
    assert "[driver started]" not in probed.outcome.output


def test_a_file_of_statuses_where_a_submission_can_write_is_none(bench: Bench) -> None:
    forged = '{"case": "probe/small", "status": "ok"}'
    probed = bench.probe(f"begin()\nopen(os.path.join(job['out'], 'status.jsonl'), 'w').write({forged!r})\n")
    assert "probe/small" not in probed.statuses


@pytest.mark.parametrize("line", ["", "{", "3", "[]", '"ok"', "null", '{"case": 3}', '{"status": "ok"}', "\\x00\\xff"])
def test_lines_that_are_no_status_are_passed_over(bench: Bench, line: str) -> None:
    probed = bench.probe(f'begin()\nsay(\'{line}\')\nsay(\'{{"case": "probe/small", "status": "ok"}}\')\n')
    assert probed.statuses["probe/small"]["status"] == "ok"


def test_a_status_too_deep_to_read_is_passed_over(bench: Bench) -> None:
    probed = bench.probe(
        "begin()\nsay('{\"case\": \"probe/small\", \"status\": ' + '[' * 100000 + ']' * 100000 + '}')\n"
    )
    assert "probe/small" not in probed.statuses


def test_statuses_are_bounded(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statuses, "MOST_BYTES", 200)
    probed = bench.probe('begin()\nsay(\'x\' * 500)\nsay(\'{"case": "probe/small", "status": "ok"}\')\n')
    assert "probe/small" not in probed.statuses


def test_time_is_up_for_the_whole_check(bench: Bench) -> None:
    probed = bench.probe("begin()\nwhile True: pass\n")
    assert probed.outcome.timed_out


def test_progress_is_followed(bench: Bench) -> None:
    told: list[object] = []
    bench.driver("""
        import time
        begin()
        with open(os.path.join(job["out"], "progress.jsonl"), "w") as file:
            for step in range(4):
                file.write("garbage\\n" + json.dumps({"step": step}) + "\\n")
                file.flush()
                time.sleep(0.4)
    """)
    built = Built(bench.folder / "build", BuildReport(ok=True), 0.0)
    bench.engine.probe("probe", bench.check, built, [], {}, follow=told.append)
    assert told
    assert all(isinstance(entry, dict) and entry["step"] in range(4) for entry in told)


def build(bench: Bench, code: str) -> Built:
    bench.driver(code)
    return bench.engine.build("plain")


def test_a_build_report(bench: Bench) -> None:
    built = build(
        bench,
        """
        json.dump({"ok": True, "flags": job["options"]["flags"]}, open(os.path.join(job["out"], "build.json"), "w"))
    """,
    )
    assert (built.report.ok, built.report.flags) == (True, ["-O1"])


REPORTS = ["", "{", "[]", '{"ok": "perhaps"}', '{"ok": true, "points": 100}']
WRITE = "open(os.path.join(job['out'], 'build.json'), 'w').write("


@pytest.mark.parametrize("report", REPORTS)
def test_a_build_report_that_is_none(bench: Bench, report: str) -> None:
    with pytest.raises(InfrastructureError, match="the build step of X1 broke"):
        build(bench, f"{WRITE}{report!r})")


@pytest.mark.parametrize(
    "code",
    [
        *[f"{WRITE}{report!r})" for report in REPORTS],
        f"{WRITE}json.dumps({{'ok': True, 'messages': 'x' * (9 << 20)}}))",
        "os.mkdir(os.path.join(job['out'], 'build.json'))",
        "import shutil; shutil.rmtree(job['out'])",
        "raise MemoryError",
        f"{WRITE}json.dumps({{'ok': True}}))\nsys.stdout.flush()\nos.kill(os.getpid(), 9)",
        f"{WRITE}json.dumps({{'ok': True}}))\nsys.exit(1)",
        "os.kill(os.getpid(), 9)",
    ],
)
def test_a_build_that_began_is_the_submissions_to_answer_for(bench: Bench, code: str) -> None:
    built = build(bench, f"begin()\n{code}")
    assert not built.report.ok
    assert built.report.messages.startswith("building it ended without a report that can be read: ")
    assert "[driver started]" not in built.report.messages


def test_nothing_is_said_of_a_submission_on_a_full_disk(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "ROOM_FOR_A_REPORT", 1 << 62)
    with pytest.raises(InfrastructureError, match=r"the disk of .* is full; TMPDIR names another folder"):
        build(bench, "begin()\nraise SystemExit('No space left on device')")
    with pytest.raises(InfrastructureError, match="is full"):
        bench.probe("begin()\nraise SystemExit('No space left on device')")


KILLED = "begin()\nsay(json.dumps({'case': 'probe/small', 'status': 'crashed', 'code': 9}))\n"


@pytest.mark.parametrize("code", [KILLED, "begin()\nos.kill(os.getpid(), 9)\n"])
def test_nothing_is_said_of_a_submission_that_the_machine_had_no_memory_for(
    bench: Bench, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter([3, 4])
    monkeypatch.setattr(watch, "ended_for_memory", lambda: next(counts))
    with pytest.raises(InfrastructureError, match="the machine ran out of memory while probe was probed"):
        bench.probe(code)


def test_memory_that_ran_out_elsewhere_costs_nobody_a_result(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = iter([3, 4])
    monkeypatch.setattr(watch, "ended_for_memory", lambda: next(counts))
    probed = bench.probe("begin()\nsay(json.dumps({'case': 'probe/small', 'status': 'ok'}))\n")
    assert probed.statuses["probe/small"]["status"] == "ok"


NAMED: dict[str, tuple[dict[str, object], str]] = {
    "wall": ({"status": "timed_out"}, "it did not end within 5 s"),
    "processor": ({"status": "timed_out", "code": 24}, "it used more than 5 s of CPU time"),
    "file": ({"status": "crashed", "code": 25}, "it wrote a file of more than 16 MiB"),
    "told": ({"status": "timed_out", "detail": "not tried"}, "not tried"),
}


@pytest.mark.parametrize("limit", NAMED)
def test_the_limit_that_ended_a_case_is_named(limit: str, bench: Bench) -> None:
    status, said = NAMED[limit]
    probed = bench.probe(f"begin()\nsay(json.dumps({ {'case': 'probe/small', **status} }))\n")
    assert probed.statuses["probe/small"]["detail"] == said


def test_a_check_that_does_not_end_names_its_limit(bench: Bench) -> None:
    probed = bench.probe("begin()\nwhile True: pass\n")
    status = probed.statuses["probe/small"]
    assert (status["status"], status["detail"]) == ("timed_out", "it did not end within 3 s")


FILL = """
begin()
for i in range(int(12)):
    with open(os.path.join(job["out"], str(i)), "wb") as file: file.write(bytes(8 << 20))
"""


def test_a_build_that_fills_the_disk(bench: Bench) -> None:
    built = build(bench, FILL)
    assert (built.report.ok, built.report.messages) == (False, "building it was stopped: it wrote more than 64 MiB")


@pytest.mark.parametrize("then", ["", "say(json.dumps({'case': 'probe/small', 'status': 'ok'}))"])
def test_a_probe_that_fills_the_disk(bench: Bench, then: str) -> None:
    probed = bench.probe(f"{FILL}\n{then}")
    assert probed.statuses["probe/small"]["status"] == "crashed"
    assert probed.statuses["probe/small"]["detail"] == "it wrote more than 64 MiB"


TO_THE_END = 'json.dump({"ok": True, "loading": {}}, open(os.path.join(job["out"], "build.json"), "w"))'
AT_LOAD = """
json.dump({"ok": True, "loading": {"status": "loading"}}, open(os.path.join(job["out"], "build.json"), "w"))
begin()
"""


@pytest.mark.parametrize(
    ("then", "status", "detail"),
    [
        ("while True: pass", "timed_out", "it did not end within 3 s"),
        ("os.kill(os.getpid(), 9)", "crashed", "it ended the process that loads it"),
        (f"{TO_THE_END}{FILL}", "crashed", "it wrote more than 64 MiB"),
    ],
)
def test_a_build_that_ends_with_the_loading_of_what_it_made(then: str, status: str, detail: str, bench: Bench) -> None:
    report = build(bench, AT_LOAD + then).report
    assert report.ok
    what = f"when it was loaded, before any function of it was called: {detail}"
    assert report.loading == {"status": status, "detail": what}


def test_no_build_report(bench: Bench) -> None:
    with pytest.raises(InfrastructureError, match=r"the build step of X1 broke: .*no compiler here"):
        build(bench, "raise SystemExit('no compiler here')")


def test_a_compiler_that_does_not_end(bench: Bench) -> None:
    built = build(bench, "while True: pass")
    assert (built.report.ok, built.report.messages) == (False, "building it did not end within 3 s")


def test_the_job_holds_inputs_alone(bench: Bench) -> None:
    bench.probe("begin()\n")
    (job,) = bench.folder.glob("work/*/job.json")
    found = json.loads(job.read_bytes())
    assert found["cases"][0].keys() == {"id", "params", "inputs", "out"}
