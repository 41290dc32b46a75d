"""What the doctor says of this machine, and of broken ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.cli import main
from grader.commands import doctor
from grader.doctor import Finding, machine, walls
from grader.errors import InfrastructureError


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["doctor", *arguments])
    return code, capsys.readouterr().out


def test_this_machine_can_grade(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = told(capsys, "--json")
    content = json.loads(text)
    found = {entry["name"]: entry for entry in content["found"]}
    assert content["schema"] == "tensorgrade/doctor/1"
    assert content["exit"] == code
    assert {"Python", "gcc", "bubblewrap", "user", "landlock", "seccomp", "fixtures of A2"} <= found.keys()
    assert found["fixtures of A2"]["state"] == "ok"


TAKEN = Finding(name="sandbox that is taken", state="ok", found="bubblewrap")
NONE = Finding(name="sandbox that is taken", state="absent", found="none")
LACKING = Finding(name="landlock", state="absent", found="none", advice="another kernel")
BROKEN = Finding(name="C compiler", state="broken", found="none \x1b[2J", advice="apt install gcc")


@pytest.mark.parametrize(
    ("found", "code", "said"),
    [
        ([LACKING, TAKEN], 0, "this machine can grade\n"),
        ([LACKING, NONE], 1, "behind no sandbox"),
        ([BROKEN, TAKEN], 3, "this machine cannot grade"),
    ],
)
def test_the_exit_code_and_the_table(
    found: list[Finding], code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "examine", lambda: iter(found))
    got, text = told(capsys)
    assert (got, said in text) == (code, True)
    assert all(finding.name in text and finding.advice in text for finding in found)
    assert "\x1b" not in text


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name, **_: None)
    (finding,) = machine._compilers()
    assert finding.state == "broken"
    assert "apt install gcc" in finding.advice


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "ROOM", 1 << 62)
    assert machine._disk("temporary files", tmp_path, "elsewhere").state == "broken"


def test_nothing_can_be_run_from_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "is_executable", lambda place: False)
    finding = machine._disk("temporary files", tmp_path, "elsewhere")
    assert (finding.state, finding.advice) == ("broken", "elsewhere")
    assert "noexec" in finding.found


def test_where_nothing_can_be_kept_it_can_be_graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the TAs' image, whose environment is read-only."""
    assert machine._builds(tmp_path).state == "ok"
    monkeypatch.setattr("os.access", lambda place, mode: False)
    assert machine._builds(tmp_path).state == "absent"
    assert machine._disk("temporary files", tmp_path, "").state == "broken"


def test_damaged_fixtures(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(folder: Path) -> None:
        raise InfrastructureError("is damaged")

    monkeypatch.setattr("grader.fixtures.load", damaged)
    finding = machine._fixtures("A2")
    assert (finding.state, finding.found) == ("broken", "is damaged")


ADVICE = [
    ({}, "namespaces have to be allowed"),
    ({"MOST_NAMESPACES": "0"}, "sysctl -w user.max_user_namespaces"),
    ({"CLONE": "0"}, "sysctl -w kernel.unprivileged_userns_clone=1"),
    ({"APPARMOR": "1"}, "a profile for bwrap"),
    ({"CONTAINERS": ""}, "docker run --security-opt seccomp=unconfined"),
]


@pytest.mark.parametrize(("settings", "said"), ADVICE)
def test_what_is_to_be_allowed(
    settings: dict[str, str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MOST_NAMESPACES", "CLONE", "APPARMOR", "CONTAINERS"):
        path = tmp_path / name
        if name in settings:
            path.write_text(settings[name])
        monkeypatch.setattr(walls, name, (path,) if name == "CONTAINERS" else path)
    monkeypatch.delenv("container", raising=False)
    assert said in walls._allowing(True)
    assert "apt install bubblewrap" in walls._allowing(False)


def test_a_container_that_tells_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOST_NAMESPACES", "CLONE", "APPARMOR"):
        monkeypatch.setattr(walls, name, tmp_path / name)
    monkeypatch.setattr(walls, "CONTAINERS", ())
    monkeypatch.setenv("container", "podman")
    assert "this is a container" in walls._allowing(True)
