"""Building sets from the reference: the public one as committed, private ones from a secret."""

from __future__ import annotations

import hashlib
import importlib
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from grader import assignment as assignments
from grader import fixture_build, fixtures, tensorfile
from grader.errors import InfrastructureError, UsageError
from tests.support import ROOT, run_command

SECRET = b"correct horse battery staple"
BUILDABLE = [
    name for name in assignments.known_ids() if (fixtures.set_folder(name, "public") / "manifest.json").is_file()
]


def quiet(text: str) -> None:
    """Progress that nobody follows."""


def digest(folder: Path) -> dict[str, str]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def secret_file(folder: Path, secret: bytes = SECRET) -> Path:
    path = folder / "seed"
    path.write_bytes(secret)
    return path


def private(folder: Path, secret: bytes, name: str = "fall") -> Path:
    folder.mkdir()
    return fixture_build.build("A2", name, secret_file(folder, secret), folder / "set", quiet)


@pytest.mark.parametrize("name", BUILDABLE)
def test_building_again_gives_the_committed_set(name: str, tmp_path: Path) -> None:
    """To the byte what is asked; what is expected within rounding, since another processor's libm may differ in it."""
    built, kept = (
        fixture_build.build(name, "public", None, tmp_path / "set", quiet),
        fixtures.set_folder(name, "public"),
    )
    ours, theirs = digest(built), digest(kept)
    assert ours.keys() == theirs.keys()
    rounded = {file for file in ours if ours[file] != theirs[file]} - {fixtures.MANIFEST}
    assert all(file.startswith("expected/") and file.endswith(".safetensors") for file in rounded)
    for file in rounded:
        one, other = tensorfile.read(built / file), tensorfile.read(kept / file)
        assert one.keys() == other.keys()
        for tensor in one:
            got, want = one[tensor].astype(np.float64), other[tensor].astype(np.float64)
            np.testing.assert_allclose(got, want, atol=1e-6 * float(np.abs(want).max(initial=0)))


def test_verify_on_the_committed_set() -> None:
    done = run_command("fixtures", "verify", "A2")
    assert done.exit == 0, done.stderr
    assert "every hash and every tensor is as the reference gives it" in done.stdout


@pytest.mark.slow
def test_verify_names_what_differs(tmp_path: Path) -> None:
    folder = shutil.copytree(fixtures.set_folder("A2", "public"), tmp_path / "set")
    (folder / "expected" / "gelu_backward" / "core.safetensors").write_bytes(b"x")
    (folder / "inputs" / "matmul_backward" / "small.safetensors").unlink()
    problems = fixture_build.verify("A2", folder, None)
    assert len(problems) == 2
    assert any(p.startswith("gelu_backward/core:") for p in problems)
    assert any(p.startswith("matmul_backward/small:") for p in problems)


def test_a_private_set_is_its_secrets_own(tmp_path: Path) -> None:
    one, again = private(tmp_path / "one", SECRET), private(tmp_path / "again", SECRET + b"\n")
    other = private(tmp_path / "other", b"another secret of enough length")
    public = fixtures.load(fixtures.set_folder("A2", "public"))
    assert digest(one) == digest(again)
    for folder in (other, public.folder):
        shared = digest(one).items() & digest(folder).items()
        assert {name for name, _ in shared if "inputs" in name} == set()
    assert fixtures.load(one).manifest.seed is None
    assert not any(SECRET in path.read_bytes() for path in one.rglob("*") if path.is_file())
    assert [c.id for c in fixtures.load(one).manifest.cases] == [c.id for c in public.manifest.cases]
    assert fixture_build.verify("A2", one, tmp_path / "one" / "seed") == []


def test_verifying_a_private_set_needs_its_secret(tmp_path: Path) -> None:
    folder = shutil.copytree(fixtures.set_folder("A2", "public"), tmp_path / "set")
    path = folder / fixtures.MANIFEST
    path.write_text(path.read_text().replace('"seed": 2026', '"seed": null').replace('"public"', '"fall"'))
    with pytest.raises(UsageError, match="needs --seed-file"):
        fixture_build.verify("A2", folder, None)


@pytest.mark.parametrize("secret", [b"", b"short", b"fifteen bytes!!", b" " * 40, b"\n" * 16])
def test_a_secret_too_short_is_refused(secret: bytes, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a secret needs at least 16"):
        fixture_build.secret_seed(secret_file(tmp_path, secret))


def test_no_secret_at_all(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the seed file"):
        fixture_build.secret_seed(tmp_path / "absent")
    with pytest.raises(UsageError, match="needs --set NAME and --seed-file FILE"):
        fixture_build.build("A2", "fall", None, tmp_path / "set", quiet)
    with pytest.raises(UsageError, match="the public one takes neither"):
        fixture_build.build("A2", "public", secret_file(tmp_path), tmp_path / "set", quiet)


def test_the_seed_is_more_than_a_hash_of_few_bits(tmp_path: Path) -> None:
    assert fixture_build.secret_seed(secret_file(tmp_path)).bit_length() > 200


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match="is there and is no fixture set; name a new folder"):
        fixture_build.build("A2", "public", None, tmp_path, quiet)
    with pytest.raises(UsageError, match="is there and is no fixture set"):
        fixture_build.build("A2", "public", None, tmp_path / "thesis.tex", quiet)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_set_of_another_name_is_left_alone(tmp_path: Path) -> None:
    folder = shutil.copytree(fixtures.set_folder("A2", "public"), tmp_path / "set")
    before = digest(folder)
    with pytest.raises(UsageError, match="holds the set `public`; name another folder"):
        fixture_build.build("A2", "fall", secret_file(tmp_path), folder, quiet)
    assert digest(folder) == before


@pytest.mark.parametrize("name", ["", "../public", "fall 26", "-x"])
def test_a_set_has_a_plain_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no name of a set"):
        fixture_build.build("A2", name, secret_file(tmp_path), tmp_path / "set", quiet)


def test_a_private_set_is_kept_out_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise InfrastructureError("on it went")

    monkeypatch.setattr(fixture_build.Computed, "of", stop)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    with pytest.raises(UsageError, match="lies in a git repository that does not ignore it"):
        fixture_build.build("A2", "fall", secret_file(tmp_path), tmp_path / "private" / "set", quiet)
    (tmp_path / ".gitignore").write_text("private/\n")
    with pytest.raises(InfrastructureError, match="on it went"):
        fixture_build.build("A2", "fall", secret_file(tmp_path), tmp_path / "private" / "set", quiet)


@pytest.mark.parametrize(
    ("path", "ignored"),
    [
        ("fixtures/A2/fall/manifest.json", True),
        ("fixtures/HW2/fall/expected/x.safetensors", True),
        ("fall26.secret", True),
        ("fixtures/A2/public/manifest.json", False),
        ("fixtures/HW2/corpus/train.tsv", False),
    ],
)
def test_git_takes_no_private_set(path: str, ignored: bool) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no git repository")
    asked = ["git", "check-ignore", "--no-index", "--quiet", path]
    assert (subprocess.run(asked, cwd=ROOT, check=False).returncode == 0) is ignored


def test_no_private_set_is_in_git() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "fixtures"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout
    sets = {"/".join(name.split("/")[:3]) for name in listed.split()}
    assert sets <= {"fixtures/A2/public", "fixtures/HW2/public", "fixtures/HW2/corpus"}


def test_without_torch_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(InfrastructureError, match="needs torch, which is not installed"):
        fixture_build.reference("A2", "oracle")
