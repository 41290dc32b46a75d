"""YAML into strict models: errors with file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import Field

from grader.data import Strict, load_yaml
from grader.errors import InfrastructureError


class Inner(Strict):
    size: int


class Outer(Strict):
    name: str
    inner: Inner
    many: list[Inner] = Field(default=[])


GOOD = "name: x\ninner:\n  size: 3\nmany:\n  - size: 1\n  - size: 2\n"


def load(folder: Path, text: str) -> Outer:
    (folder / "data.yaml").write_text(text)
    return load_yaml(folder / "data.yaml", Outer)


def refused(folder: Path, text: str) -> str:
    with pytest.raises(InfrastructureError) as error:
        load(folder, text)
    return str(error.value).replace(str(folder) + "/", "")


def test_what_fits_is_loaded(tmp_path: Path) -> None:
    assert load(tmp_path, GOOD).many[1].size == 2


def test_an_unknown_key_is_refused_with_its_line(tmp_path: Path) -> None:
    assert refused(tmp_path, GOOD + "extra: 1\n") == "data.yaml:7: extra: Extra inputs are not permitted"
    inside = GOOD.replace("  size: 3\n", "  size: 3\n  color: red\n")
    assert refused(tmp_path, inside).startswith("data.yaml:4: inner.color:")


def test_a_wrong_type_is_refused_with_its_line(tmp_path: Path) -> None:
    assert refused(tmp_path, GOOD.replace("size: 2", "size: two")).startswith("data.yaml:6: many.1.size:")


@pytest.mark.parametrize("value", ["'3'", "3.0", "true", "null"])
def test_nothing_is_converted(tmp_path: Path, value: str) -> None:
    assert refused(tmp_path, GOOD.replace("size: 3", f"size: {value}")).startswith("data.yaml:3: inner.size:")


def test_a_missing_key_names_where_it_should_stand(tmp_path: Path) -> None:
    assert refused(tmp_path, "name: x\ninner: {}\n") == "data.yaml:2: inner.size: Field required"


def test_every_problem_is_told(tmp_path: Path) -> None:
    assert len(refused(tmp_path, "name: 1\ninner:\n  size: x\nextra: 1\n").splitlines()) == 3


@pytest.mark.parametrize("text", ["", "3", "[1, 2]", "just text"])
def test_what_is_no_mapping(tmp_path: Path, text: str) -> None:
    assert refused(tmp_path, text).startswith("data.yaml:1: file:")


def test_what_is_no_yaml(tmp_path: Path) -> None:
    assert "data.yaml is not YAML" in refused(tmp_path, "name: [1, 2\n")
    assert "data.yaml is not YAML" in refused(tmp_path, "name: !!python/object/apply:os.getcwd []\n")


def test_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "data.yaml").write_bytes(b"name: \xff\xfe\n")
    with pytest.raises(InfrastructureError, match=r"data\.yaml"):
        load_yaml(tmp_path / "data.yaml", Outer)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match=r"cannot read .*absent\.yaml: No such file"):
        load_yaml(tmp_path / "absent.yaml", Outer)


def test_models_are_frozen(tmp_path: Path) -> None:
    loaded = load(tmp_path, GOOD)
    with pytest.raises(ValueError, match="frozen"):
        loaded.name = "y"
