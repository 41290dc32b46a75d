"""The bill of materials: whole, in the format that it says, and the same for the same installation."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from packageurl import PackageURL
from referencing import Registry, Resource

from grader import __version__, sbom
from grader.cli import main
from grader.errors import InfrastructureError
from grader.report.plain import dumps
from tests.support import ROOT

PIN = re.compile(r"^([\w.-]+)==(\S+)$", re.MULTILINE)
SCHEMAS = files("cyclonedx.schema._res")


def pinned(name: str) -> set[tuple[str, str]]:
    """The packages of one of the locked lists, by name and version."""
    text = (ROOT / "grader" / name).read_text("utf-8")
    return {(sbom.normalised(package), version) for package, version in PIN.findall(text)}


def validated(text: str) -> dict[str, Any]:
    """A bill that the specification's own schema takes."""
    names = ("jsf-0.82", "spdx", "cryptography-defs")
    parts = [json.loads(SCHEMAS.joinpath(f"{name}.SNAPSHOT.schema.json").read_bytes()) for name in names]
    registry: Registry[Any] = Registry().with_resources(
        (part["$id"], Resource.from_contents(part)) for part in parts if "$id" in part
    )
    schema = json.loads(SCHEMAS.joinpath(f"bom-{sbom.SPEC}.SNAPSHOT.schema.json").read_bytes())
    found: dict[str, Any] = json.loads(text)
    assert [error.message for error in Draft7Validator(schema, registry=registry).iter_errors(found)] == []
    return found


@pytest.fixture(scope="module")
def text() -> str:
    return dumps(sbom.bill())


def test_it_is_what_the_specification_asks_for(text: str) -> None:
    found = validated(text)
    component = found["metadata"]["component"]
    assert (component["name"], component["version"]) == ("tensorgrade", __version__)
    references = [one["bom-ref"] for one in found["components"]]
    assert len(references) == len(set(references))
    for one in found["components"]:
        url = PackageURL.from_string(one["purl"])
        assert (url.name, url.version) == (one["name"], one["version"])


@pytest.mark.parametrize("change", ["specVersion", "name of a component"])
def test_the_schema_refuses_what_is_none(change: str, text: str) -> None:
    found = json.loads(text)
    if change == "specVersion":
        del found["specVersion"]
    else:
        del found["components"][0]["name"]
    with pytest.raises(AssertionError, match="is a required property"):
        validated(json.dumps(found))


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-class.txt", "requirements-test.txt"])
def test_every_pinned_package_is_in_it(name: str, text: str) -> None:
    found = {(one["name"], one["version"].split("+")[0]) for one in json.loads(text)["components"]}
    assert pinned(name) - found == set()
    assert len(pinned(name)) >= 10


def test_so_are_the_systems_packages_and_python(text: str) -> None:
    if not Path("/var/lib/dpkg/status").exists():
        pytest.skip("this system's packages are not dpkg's")
    found = {one["name"]: one["purl"] for one in json.loads(text)["components"]}
    assert re.match(r"pkg:deb/\w+/bash@[\w.%~-]+\?arch=\w+&distro=\w+-[\d.]+$", found["bash"])
    assert found["python"].startswith("pkg:generic/python@3.")


def test_the_same_installation_gives_the_same_bytes(text: str) -> None:
    assert dumps(sbom.bill()) == text


def test_the_command(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sbom"]) == 0
    assert capsys.readouterr().out == text
    assert main(["sbom", "--out", str(tmp_path / "sbom.json")]) == 0
    assert (tmp_path / "sbom.json").read_text("utf-8") == text
    assert main(["sbom", "--out", str(tmp_path / "absent" / "sbom.json")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_where_dpkg_fails_there_is_no_bill(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess(["dpkg-query"], 2, "", "is locked\n")
    monkeypatch.setattr("shutil.which", lambda name, **_: f"/usr/bin/{name}")
    monkeypatch.setattr("subprocess.run", lambda *_, **__: failed)
    with pytest.raises(InfrastructureError, match="cannot list what is installed: is locked"):
        sbom.bill()


def test_where_there_is_neither_linux_nor_dpkg(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Iterator[str]:
        raise OSError

    monkeypatch.setattr("platform.freedesktop_os_release", none)
    assert {str(one["purl"]).split("/")[0] for one in sbom.bill()["components"]} == {"pkg:generic", "pkg:pypi"}
