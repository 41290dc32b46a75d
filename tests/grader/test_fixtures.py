"""A fixture set on disk: what is wrong with it is an infrastructure error that names the file and the way out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from grader import fixtures
from grader.errors import InfrastructureError, UsageError
from grader.fixtures import FixtureCase
from tests.support import run_command

CASE = "gelu_backward/core"
WIRING = "gpt2_backward/ones"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(fixtures.set_folder("A2", "public"), tmp_path / "set")


def case(folder: Path, name: str = CASE) -> FixtureCase:
    loaded = fixtures.load(folder)
    return next(c for c in loaded.cases(name.split("/")[0]) if c.id == name)


def change_manifest(folder: Path, **changes: object) -> None:
    path = folder / fixtures.MANIFEST
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **changes}))


def damaged(folder: Path) -> str:
    with pytest.raises(InfrastructureError) as error:
        fixtures.load(folder)
    return str(error.value)


def test_a_set_is_loaded(folder: Path) -> None:
    loaded = fixtures.load(folder)
    assert (loaded.manifest.assignment, loaded.manifest.set, loaded.manifest.seed) == ("A2", "public", 2026)
    assert case(folder).expected["dinp"].dtype == "float64"
    assert case(folder, WIRING).calls[0]["function"] == "crossentropy_softmax_backward"
    assert case(folder).calls == []


def test_the_digest_is_of_the_whole_set(folder: Path) -> None:
    before = fixtures.load(folder).digest
    change_manifest(folder, set="other")
    assert fixtures.load(folder).digest != before


def test_no_set_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no fixture set at .*absent; build it: ./grade fixtures build"):
        fixtures.load(tmp_path / "absent")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '"x"', "null", "{}", '{"schema": "tensorgrade/fixtures/1"}'])
def test_a_damaged_manifest(folder: Path, text: str) -> None:
    (folder / fixtures.MANIFEST).write_text(text)
    said = damaged(folder)
    assert f"{folder / fixtures.MANIFEST} is damaged" in said
    assert "git checkout" in said


def test_a_missing_manifest(folder: Path) -> None:
    (folder / fixtures.MANIFEST).unlink()
    assert "manifest.json is damaged" in damaged(folder)


CHANGES: list[dict[str, Any]] = [
    {"schema": "tensorgrade/fixtures/2"},
    {"schema": None},
    {"extra": 1},
    {"cases": [{"id": CASE}]},
    {"seed": "2026"},
]


@pytest.mark.parametrize("changes", CHANGES)
def test_another_version_is_refused(folder: Path, changes: dict[str, Any]) -> None:
    change_manifest(folder, **changes)
    assert str(folder / fixtures.MANIFEST) in damaged(folder)


def test_one_changed_byte_is_seen(folder: Path) -> None:
    for name in ("inputs_path", "expected_path"):
        path: Path = getattr(case(folder), name)
        blob = bytearray(path.read_bytes())
        blob[-1] ^= 1
        path.write_bytes(blob)
    with pytest.raises(InfrastructureError, match=r"inputs/.*core\.safetensors is damaged .*git checkout"):
        case(folder).check_inputs()
    with pytest.raises(InfrastructureError, match=r"expected/.*core\.safetensors is damaged .*git checkout"):
        assert case(folder).expected


def read_all(found: FixtureCase) -> None:
    found.check_inputs()
    assert found.expected
    assert found.calls


@pytest.mark.parametrize("name", ["inputs_path", "expected_path", "calls_path"])
def test_a_missing_file(folder: Path, name: str) -> None:
    broken = case(folder, WIRING)
    path: Path = getattr(broken, name)
    path.unlink()
    with pytest.raises(InfrastructureError, match=f"{path.name}.*No such file"):
        read_all(broken)


def test_right_hash_and_no_tensors(folder: Path) -> None:
    """A set that was built wrong: the manifest cannot know."""
    broken = case(folder)
    broken.expected_path.write_bytes(b"not tensors")
    entry = broken.entry.model_copy(update={"expected": fixtures.sha256(b"not tensors")})
    with pytest.raises(InfrastructureError, match="is damaged"):
        assert FixtureCase(folder, entry).expected


def test_too_few_cases(folder: Path) -> None:
    loaded = fixtures.load(folder)
    loaded.require({"gelu_backward": 3})
    with pytest.raises(InfrastructureError, match=r"holds 0 cases of check `other`, needs 1;\s+rebuild it: ./grade"):
        loaded.require({"other": 1})


def test_grading_against_a_damaged_set_scores_nothing(folder: Path, tmp_path: Path) -> None:
    case(folder).expected_path.write_bytes(b"")
    earlier = tmp_path / "r.json"
    earlier.write_text("earlier")
    done = run_command("A2", "--reference", "--fixtures", folder, "--only", "gelu_residual_backward", "--json", earlier)
    assert done.exit == 3
    assert "gelu_backward/core.safetensors is damaged" in done.stderr
    assert "score" not in done.stdout
    assert earlier.read_text() == "earlier"


def test_a_set_without_a_checks_cases_scores_nothing(folder: Path) -> None:
    cases = json.loads((folder / fixtures.MANIFEST).read_bytes())["cases"]
    change_manifest(folder, cases=[c for c in cases if not c["id"].startswith("gelu_backward/")])
    done = run_command("A2", "--reference", "--fixtures", folder)
    assert (done.exit, done.stdout) == (3, "")
    assert "holds 0 cases of check `gelu_backward`, needs 3" in done.stderr
