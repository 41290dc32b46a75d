"""Archives and sources that are made to do harm: taken where they can be, refused with the reason where they cannot."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.a2.patches import REFERENCE, SOURCE
from tests.hostile.grading import graded, words_of
from tests.hw2.patches import FILES, SOLVED, Right

RIGHT = REFERENCE.read_bytes()
ROW, POINTS = "encoder_backward", 10
OUTSIDE = "elsewhere.c"  # what an archive would write outside of itself
Maker = Callable[[Path], Path]


class Case(NamedTuple):
    """Something handed in, and what must come of it: the row's points, or a reason."""

    make: Maker
    says: str = ""


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes]) -> Maker:
    def make(folder: Path) -> Path:
        with zipfile.ZipFile(folder / "a2.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, blob in members:
                archive.writestr(name, blob)
        return folder / "a2.zip"

    return make


def tarred(*members: tuple[str, bytes, bytes, str]) -> Maker:
    """Members as (name, type, content, what a link leads to)."""

    def make(folder: Path) -> Path:
        with tarfile.open(folder / "a2.tar.gz", "w:gz") as archive:
            for name, kind, blob, target in members:
                member = tarfile.TarInfo(name)
                member.type, member.linkname, member.size = kind, target, len(blob)
                archive.addfile(member, io.BytesIO(blob))
        return folder / "a2.tar.gz"

    return make


def link_in_zip() -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(f"a2/{SOURCE}")
    info.create_system, info.external_attr = 3, 0o120777 << 16
    return info


def encrypted(folder: Path) -> Path:
    """Says of its one member that it is encrypted."""
    path = zipped((f"a2/{SOURCE}", RIGHT))(folder)
    blob = bytearray(path.read_bytes())
    for header, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        blob[blob.index(header) + offset] |= 1
    path.write_bytes(bytes(blob))
    return path


def lying_about_sizes(folder: Path) -> Path:
    """Announces four gigabytes, and holds some kilobytes."""
    path = zipped((f"a2/{SOURCE}", RIGHT))(folder)
    blob = bytearray(path.read_bytes())
    for header, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = blob.index(header) + offset
        blob[at : at + 4] = b"\xfe\xff\xff\xff"
    path.write_bytes(bytes(blob))
    return path


def many(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "a2.zip", "w") as archive:
        archive.writestr(SOURCE, RIGHT)
        for number in range(100_000):
            archive.writestr(f"x{number}", b"")
    return folder / "a2.zip"


def odd_names(folder: Path) -> Path:
    path = folder / "a2.tar"
    with tarfile.open(path, "w", encoding="latin-1") as archive:
        for name in (f"a2/{SOURCE}", "a2/\xfc\xff\x80.c", "a2/\x1b[2J.c", "a2/::notice::.c"):
            member = tarfile.TarInfo(name)
            member.size = len(RIGHT)
            archive.addfile(member, io.BytesIO(RIGHT))
    return path


def source(blob: bytes) -> Maker:
    def make(folder: Path) -> Path:
        (folder / "a2").mkdir()
        (folder / "a2" / SOURCE).write_bytes(blob)
        return folder / "a2"

    return make


REG, SYM, LNK, CHR = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE
ARCHIVES = {
    "paths that lead out": Case(zipped((f"../../{OUTSIDE}", b"x"), (f"../{SOURCE}", RIGHT)), "there is no"),
    "paths that lead out, in a tar": Case(tarred((f"../../{SOURCE}", REG, RIGHT, "")), "there is no"),
    "a good file beside paths that lead out": Case(zipped((f"../../{OUTSIDE}", b"x"), (SOURCE, RIGHT))),
    "absolute paths": Case(tarred((f"/tmp/{SOURCE}", REG, RIGHT, "")), "there is no"),
    "a link to the reference": Case(zipped((link_in_zip(), os.fsencode(REFERENCE))), "is a link"),
    "a hard link": Case(tarred((f"a2/{SOURCE}", LNK, b"", str(REFERENCE))), "not a regular file"),
    "a folder that is a link": Case(tarred(("a2", SYM, b"", "/etc"), (f"a2/{SOURCE}", REG, RIGHT, ""))),
    "a device": Case(tarred((f"a2/{SOURCE}", CHR, b"", "")), "not a regular file"),
    "a bomb": Case(zipped((f"a2/{SOURCE}", bytes(1 << 28))), "larger than"),
    "encrypted": Case(encrypted, "encrypted"),
    "sizes that lie": Case(lying_about_sizes),
    "one name twice": Case(zipped((SOURCE, b"int x;\n"), (SOURCE, RIGHT))),
    "names that are no text": Case(odd_names),
    "a hundred thousand files": Case(many, "files"),
    "an archive in an archive": Case(zipped(("a2.zip", b"PK\x05\x06" + bytes(18))), "there is no"),
}
SOURCES = {
    "a mark and Windows' line ends": Case(source(b"\xef\xbb\xbf" + RIGHT.replace(b"\n", b"\r\n"))),
    "UTF-16": Case(source(RIGHT.decode().encode("utf-16"))),
    "Latin-1": Case(source("// Übung von François\n".encode("latin-1") + RIGHT)),
    "NUL bytes": Case(source(RIGHT.replace(b"    ", b"\0\0\0\0"))),
    "a program": Case(source(b"\x7fELF\x02\x01\x01" + bytes(4000)), "does not compile"),
    "a portable document": Case(
        source(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n" * 50), "does not compile"
    ),
    "NUL bytes alone": Case(source(bytes(5000)), "empty"),
    "an endless line": Case(source(b"int x = " + b"-" * 1_000_000 + b"1;\n"), "does not compile"),
    "two hundred megabytes": Case(source(b"\n" * (200 << 20)), "larger than"),
}
QUICK = {
    "paths that lead out",
    "a link to the reference",
    "a folder that is a link",
    "a bomb",
    "names that are no text",
    "UTF-16",
    "NUL bytes alone",
}


def marked(kinds: Iterable[str]) -> list[Any]:
    return [pytest.param(kind, id=kind, marks=[] if kind in QUICK else [pytest.mark.slow]) for kind in kinds]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("kind", marked([*ARCHIVES, *SOURCES]))
def test_what_is_handed_in_is_taken_or_refused(kind: str, tmp_path: Path) -> None:
    case = {**ARCHIVES, **SOURCES}[kind]
    (tmp_path / "in" / "the" / "middle").mkdir(parents=True)
    result = graded("A2", case.make(tmp_path / "in" / "the" / "middle"), "--only", ROW)
    assert result.exit == 0, result.stderr
    assert result.result["score"] == (0 if case.says else POINTS), result.said()
    assert result.verdicts == {ROW: "blocked" if case.says else "pass"}
    assert case.says in words_of(result)
    assert "\x1b" not in result.stdout
    assert not [path for path in (tmp_path, tmp_path.parent, Path("/tmp")) if (path / OUTSIDE).exists()]


PYTHON_SOURCES: dict[str, tuple[Callable[[str], bytes], str]] = {
    "UTF-16": (lambda text: text.encode("utf-16"), "save it as UTF-8"),
    "NUL bytes": (lambda text: text.encode() + b"\0", "null"),
    "Latin-1 without a word of it": (lambda text: text.encode() + "x = 'é'\n".encode("latin-1"), "utf-8"),
    "folded deeper than any parser": (lambda text: text.encode() + b"x = " + b"(" * 100_000 + b"\n", "nested"),
    "a program": (lambda text: b"\x7fELF\x02\x01\x01" + bytes(4000), "null"),
}


@pytest.mark.parametrize("kind", marked(PYTHON_SOURCES))
def test_what_python_does_not_take_is_told(kind: str, tmp_path: Path) -> None:
    spoil, says = PYTHON_SOURCES[kind]
    folder = Right(name="hostile", what="").write(tmp_path, SOLVED)
    path = folder / FILES[0]
    path.write_bytes(spoil(path.read_text(encoding="utf-8")))
    result = graded("HW2", folder, "--only", "topological_sort")
    assert (result.exit, result.verdicts) == (0, {"topological_sort": "blocked"}), result.said()
    assert says in words_of(result), words_of(result)
