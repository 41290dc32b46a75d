"""Taking a submission: what counts is taken, whatever it is wrapped in; the rest is refused with the reason."""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import lzma
import os
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from grader.archives import MOST_ENTRIES
from grader.archives.tarred import MOST_UNPACKED, RATIO_FROM
from grader.assignment import Submission as Rules
from grader.errors import InfrastructureError, UsageError
from grader.fixtures import sha256
from grader.submission import Taken, take

CODE = b"int main(void) { return 0; }\n"
RULES = Rules.model_validate(
    {"files": ["train_gpt2.c"], "provided": ["Makefile", "llmc/utils.h"], "language": "c", "max_file_kb": 8}
)
TWO = RULES.model_copy(update={"files": ["minitorch/autodiff.py", "project/run_sentiment.py"]})
TarMode = Literal["w", "w:gz", "w:bz2", "w:xz"]
BOMB = "it unpacks to more than 200 times its size"


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    folder = tmp_path / "template"
    (folder / "llmc").mkdir(parents=True)
    (folder / "Makefile").write_bytes(b"all:\n")
    (folder / "llmc" / "utils.h").write_bytes(b"// ours\n")
    return folder


def folder_of(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, blob in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(blob)
    return folder


def zip_of(path: Path, files: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, blob in files.items():
            archive.writestr(name, blob)
    return path


def tar_of(path: Path, files: Mapping[str, bytes], mode: TarMode = "w") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, blob in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(blob)
            archive.addfile(member, io.BytesIO(blob))
    return path


def pack(kind: str, folder: Path, files: Mapping[str, bytes]) -> Path:
    """The same files as a folder, a zip or a tar."""
    if kind == "folder":
        return folder_of(folder / "submission", files)
    if kind == "zip":
        return zip_of(folder / "submission.zip", files)
    return tar_of(folder / "submission.tar", files)


KINDS = pytest.mark.parametrize("kind", ["folder", "zip", "tar"])


def refused(taken: Taken, said: str) -> None:
    assert taken.files == {}
    assert any(said in problem for problem in taken.problems), taken.problems


@KINDS
@pytest.mark.parametrize("place", ["", "a/", "my hand-in/", "a/b/c/", "v1..final/"])
def test_a_file_is_found_in_its_folder(kind: str, place: str, tmp_path: Path, ours: Path) -> None:
    taken = take(pack(kind, tmp_path, {f"{place}train_gpt2.c": CODE, f"{place}notes.txt": b"hello"}), RULES, ours)
    assert taken.problems == []
    assert taken.files == {"train_gpt2.c": CODE}
    assert taken.hashes == {"train_gpt2.c": sha256(CODE)}


def zstd_of(path: Path, blob: bytes) -> Path:
    path.write_bytes(zstandard.ZstdCompressor().compress(blob))
    return path


def test_a_tar_packed_with_zstd(tmp_path: Path, ours: Path) -> None:
    plain = tar_of(tmp_path / "a.tar", {"hw/train_gpt2.c": CODE}).read_bytes()
    assert take(zstd_of(tmp_path / "a.tar.zst", plain), RULES, ours).files == {"train_gpt2.c": CODE}
    cut = zstd_of(tmp_path / "cut.tar.zst", plain).read_bytes()[:-9]
    (tmp_path / "cut.tar.zst").write_bytes(cut)
    refused(take(tmp_path / "cut.tar.zst", RULES, ours), "cut.tar.zst cannot be unpacked")


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_every_usual_tar(mode: TarMode, tmp_path: Path, ours: Path) -> None:
    path = tar_of(tmp_path / "a.tgz", {"./x/train_gpt2.c": CODE}, mode)
    assert take(path, RULES, ours).files == {"train_gpt2.c": CODE}


def test_a_file_alone(tmp_path: Path, ours: Path) -> None:
    path = folder_of(tmp_path / "s", {"train_gpt2.c": CODE}) / "train_gpt2.c"
    assert take(path, RULES, ours).files == {"train_gpt2.c": CODE}


@KINDS
def test_the_shallowest_folder_counts(kind: str, tmp_path: Path, ours: Path) -> None:
    files = {"old/copy/train_gpt2.c": b"old\n", "hw/train_gpt2.c": CODE}
    assert take(pack(kind, tmp_path, files), RULES, ours).files == {"train_gpt2.c": CODE}


@KINDS
def test_two_submissions_are_one_too_many(kind: str, tmp_path: Path, ours: Path) -> None:
    taken = take(pack(kind, tmp_path, {"a/train_gpt2.c": CODE, "b/train_gpt2.c": CODE}), RULES, ours)
    assert taken.problems == ["there are two submissions in it, a/ and b/; hand in one of them"]


@KINDS
@pytest.mark.parametrize("folder", [".git", "__MACOSX", ".venv", "node_modules", "__pycache__"])
def test_some_folders_are_not_looked_at(kind: str, folder: str, tmp_path: Path, ours: Path) -> None:
    files = {"hw/train_gpt2.c": CODE, f"{folder}/train_gpt2.c": b"other\n"}
    taken = take(pack(kind, tmp_path, files), RULES, ours)
    assert (taken.files, taken.problems) == ({"train_gpt2.c": CODE}, [])


def test_an_apple_double_is_no_submission(tmp_path: Path, ours: Path) -> None:
    files = {"train_gpt2.c": CODE, "__MACOSX/._train_gpt2.c": b"\0\5\x16\7"}
    assert take(zip_of(tmp_path / "a.zip", files), RULES, ours).files == {"train_gpt2.c": CODE}


@KINDS
def test_what_we_provide_is_ours(kind: str, tmp_path: Path, ours: Path) -> None:
    files = {"train_gpt2.c": CODE, "Makefile": b"all:\n", "llmc/utils.h": b"// theirs\n", "test_gpt2.c": CODE}
    taken = take(pack(kind, tmp_path, files), RULES, ours)
    assert (taken.files, taken.ignored) == ({"train_gpt2.c": CODE}, ["llmc/utils.h"])


@KINDS
def test_several_files_lie_in_one_folder(kind: str, tmp_path: Path, ours: Path) -> None:
    files = {f"hw2/{name}": CODE for name in TWO.files}
    assert list(take(pack(kind, tmp_path, files), TWO, ours).files) == TWO.files
    lacking = take(pack(kind, tmp_path / "b" if kind == "folder" else tmp_path, {f"x/{TWO.files[0]}": CODE}), TWO, ours)
    assert lacking.problems == ["project/run_sentiment.py is missing"]


@KINDS
@pytest.mark.parametrize(
    ("blob", "said"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"x" * (8 << 10), None),
        (b"x" * ((8 << 10) + 1), "is larger than 8"),
    ],
)
def test_sizes(kind: str, blob: bytes, said: str | None, tmp_path: Path, ours: Path) -> None:
    taken = take(pack(kind, tmp_path, {"train_gpt2.c": blob}), RULES, ours)
    if said is None:
        assert taken.problems == []
    else:
        refused(taken, said)


@pytest.mark.parametrize("blob", [bytes(100), b"\0 \n\0"])
def test_nul_bytes_alone_are_nothing(blob: bytes, tmp_path: Path, ours: Path) -> None:
    refused(take(folder_of(tmp_path / "s", {"train_gpt2.c": blob}), RULES, ours), "train_gpt2.c is empty")


@pytest.mark.parametrize("blob", [b"\xff\xfe\0x", b"\xef\xbb\xbfint x;\r\n", b"int \0 x;", b"PK\x03\x04 a document"])
def test_what_the_file_holds_is_the_builds_business(blob: bytes, tmp_path: Path, ours: Path) -> None:
    assert take(folder_of(tmp_path / "s", {"train_gpt2.c": blob}), RULES, ours).files == {"train_gpt2.c": blob}


@KINDS
def test_a_renamed_file_is_pointed_at(kind: str, tmp_path: Path, ours: Path) -> None:
    taken = take(pack(kind, tmp_path, {"gpt2_final.c": CODE, "notes.txt": b"x"}), RULES, ours)
    refused(taken, "it holds gpt2_final.c: rename it")


def test_an_empty_folder(tmp_path: Path, ours: Path) -> None:
    (tmp_path / "s").mkdir()
    refused(take(tmp_path / "s", RULES, ours), "there is no train_gpt2.c")


def test_links_are_not_followed(tmp_path: Path, ours: Path) -> None:
    secret = folder_of(tmp_path / "elsewhere", {"secret.c": CODE}) / "secret.c"
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "train_gpt2.c").symlink_to(secret)
    refused(take(tmp_path / "s", RULES, ours), "train_gpt2.c is a link; hand in the file itself")
    refused(take(tmp_path / "s" / "train_gpt2.c", RULES, ours), "is a link")


def test_a_folder_behind_a_link_is_not_entered(tmp_path: Path, ours: Path) -> None:
    folder_of(tmp_path / "elsewhere", {"train_gpt2.c": CODE})
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "inside").symlink_to(tmp_path / "elsewhere")
    refused(take(tmp_path / "s", RULES, ours), "there is no train_gpt2.c")


def test_a_link_in_a_zip(tmp_path: Path, ours: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        member = zipfile.ZipInfo("train_gpt2.c")
        member.external_attr = 0o120777 << 16
        archive.writestr(member, "/etc/passwd")
    refused(take(tmp_path / "a.zip", RULES, ours), "is a link")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_a_link_or_device_in_a_tar(kind: bytes, tmp_path: Path, ours: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        member = tarfile.TarInfo("train_gpt2.c")
        member.type, member.linkname = kind, "/etc/passwd"
        archive.addfile(member)
    refused(take(tmp_path / "a.tar", RULES, ours), "is not a regular file")


def test_a_pipe_is_not_waited_for(tmp_path: Path, ours: Path) -> None:
    (tmp_path / "s").mkdir()
    os.mkfifo(tmp_path / "s" / "train_gpt2.c")
    refused(take(tmp_path / "s", RULES, ours), "is not a regular file")
    os.mkfifo(tmp_path / "pipe.zip")
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        take(tmp_path / "pipe.zip", RULES, ours)


@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.parametrize("name", ["../train_gpt2.c", "a/../../train_gpt2.c", "/tmp/train_gpt2.c", "/train_gpt2.c"])
def test_members_that_leave_the_archive_are_not_taken(kind: str, name: str, tmp_path: Path, ours: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    path = pack(kind, tmp_path, {name: CODE})
    refused(take(path, RULES, ours), "there is no train_gpt2.c")
    assert sorted(tmp_path.rglob("*")) == sorted([*before, path])


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_good_member_beside_a_bad_one(kind: str, tmp_path: Path, ours: Path) -> None:
    path = pack(kind, tmp_path, {"../train_gpt2.c": b"evil\n", "hw/train_gpt2.c": CODE})
    taken = take(path, RULES, ours)
    assert taken.files == {"train_gpt2.c": CODE}
    assert taken.refused == ["../train_gpt2.c leads out of the archive"]


@pytest.mark.parametrize("name", ["/etc/x", "..", "a/../../x", "C:\\x", "c:/x"])
def test_what_leads_out_of_an_archive_is_listed(name: str, tmp_path: Path, ours: Path) -> None:
    taken = take(zip_of(tmp_path / "a.zip", {name: b"", "train_gpt2.c": CODE}), RULES, ours)
    assert taken.refused == [f"{name.replace(chr(92), '/')} leads out of the archive"]


def test_a_long_list_of_what_was_refused_is_cut(tmp_path: Path, ours: Path) -> None:
    bad = {f"../{n}": b"" for n in range(50)}
    taken = take(zip_of(tmp_path / "a.zip", {**bad, "train_gpt2.c": CODE}), RULES, ours)
    assert (len(taken.refused), taken.refused[-1]) == (21, "and 30 more")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_two_members_with_one_name_the_last_counts(tmp_path: Path, ours: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("train_gpt2.c", b"evil\n")
        archive.writestr("./train_gpt2.c", CODE)
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for blob in (b"evil\n", CODE):
            member = tarfile.TarInfo("train_gpt2.c")
            member.size = len(blob)
            tar.addfile(member, io.BytesIO(blob))
    for name in ("a.zip", "a.tar"):
        taken = take(tmp_path / name, RULES, ours)
        assert taken.files == {"train_gpt2.c": CODE}
        assert taken.refused == ["train_gpt2.c is in it more than once; the last one counts"]


def test_what_systems_leave_beside_the_folder_does_no_harm(tmp_path: Path, ours: Path) -> None:
    files = {"hw/train_gpt2.c": CODE, "__MACOSX/hw/._train_gpt2.c": b"x", ".DS_Store": b"x", "hw/Thumbs.db": b"x"}
    taken = take(zip_of(tmp_path / "a.zip", files), RULES, ours)
    assert (taken.files, taken.problems, taken.refused) == ({"train_gpt2.c": CODE}, [], [])


def test_an_encrypted_zip(tmp_path: Path, ours: Path) -> None:
    blob = bytearray(zip_of(tmp_path / "a.zip", {"train_gpt2.c": CODE}).read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # bit 0 of the flags: encrypted
        blob[blob.index(signature) + offset] |= 1
    (tmp_path / "a.zip").write_bytes(blob)
    refused(take(tmp_path / "a.zip", RULES, ours), "train_gpt2.c is encrypted; hand it in without a password")


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_with_a_damaged_member(compression: int, tmp_path: Path, ours: Path) -> None:
    path = zip_of(tmp_path / "a.zip", {"train_gpt2.c": CODE * 20}, compression)
    blob = bytearray(path.read_bytes())
    blob[55:65] = bytes(10)
    path.write_bytes(blob)
    refused(take(path, RULES, ours), "a.zip cannot be unpacked")


def test_a_truncated_zip(tmp_path: Path, ours: Path) -> None:
    path = zip_of(tmp_path / "a.zip", {"train_gpt2.c": CODE * 20})
    path.write_bytes(path.read_bytes()[:80])
    refused(take(path, RULES, ours), "a.zip cannot be unpacked: the zip is damaged, or cut short")


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_a_truncated_tar(mode: TarMode, tmp_path: Path, ours: Path) -> None:
    path = tar_of(tmp_path / "a.tar", {"train_gpt2.c": os.urandom(4000)}, mode)
    path.write_bytes(path.read_bytes()[:2000])
    refused(take(path, RULES, ours), "a.tar cannot be unpacked")


ARCHIVES = st.sampled_from(["zip-8", "zip-14", "tar-w", "tar-w:gz", "tar-w:xz", "zst-"])


@given(ARCHIVES, st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=3), st.floats(0, 1))
def test_a_mutated_archive_is_taken_or_refused(
    tmp_path_factory: pytest.TempPathFactory, kind: str, changes: list[tuple[float, int]], cut: float
) -> None:
    path = tmp_path_factory.getbasetemp() / "mutated"
    name, _, how = kind.partition("-")
    if name == "zip":
        zip_of(path, {"a/train_gpt2.c": CODE}, int(how))
    elif name == "zst":
        zstd_of(path, tar_of(path, {"a/train_gpt2.c": CODE}).read_bytes())
    else:
        tar_of(path, {"a/train_gpt2.c": CODE}, "w:gz" if how == "w:gz" else "w:xz" if how == "w:xz" else "w")
    blob = bytearray(path.read_bytes())
    for place, value in changes:
        blob[int(place * (len(blob) - 1))] = value
    path.write_bytes(blob[: len(blob) if cut > 0.7 else int(cut * len(blob))])
    try:
        taken = take(path, RULES, path.parent)
    except UsageError:
        return
    assert taken.files or taken.problems


@pytest.mark.parametrize(("kind", "count"), [("folder", MOST_ENTRIES + 1), ("zip", 30_000), ("tar", 30_000)])
def test_thirty_thousand_entries(kind: str, count: int, tmp_path: Path, ours: Path) -> None:
    files = dict.fromkeys(map(str, range(count)), b"")
    refused(take(pack(kind, tmp_path, files), RULES, ours), f"holds more than {MOST_ENTRIES} files")


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_a_tar_that_unpacks_to_far_too_much(mode: TarMode, tmp_path: Path, ours: Path) -> None:
    """What is announced is enough: nothing of it is unpacked."""
    with tarfile.open(tmp_path / "a.tar", mode) as archive:
        member = tarfile.TarInfo("zeros")
        member.size = MOST_UNPACKED + 1
        archive.addfile(member)
    refused(take(tmp_path / "a.tar", RULES, ours), "it holds more than 1024 MiB")


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_a_tar_that_unpacks_to_many_times_its_size(kind: str, tmp_path: Path, ours: Path) -> None:
    """Without a header that tells: zeros are a tar's end."""
    packers: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    pack_up = packers.get(kind, zstandard.ZstdCompressor().compress)
    (tmp_path / "a").write_bytes(pack_up(bytes(RATIO_FROM + (2 << 20))))
    refused(take(tmp_path / "a", RULES, ours), BOMB)


def test_a_header_that_asks_for_far_too_much(tmp_path: Path, ours: Path) -> None:
    long_name = tarfile.TarInfo("././@LongLink")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 1 << 33
    (tmp_path / "a.tar").write_bytes(long_name.tobuf(tarfile.GNU_FORMAT) + bytes(4096))
    refused(take(tmp_path / "a.tar", RULES, ours), "a header in it is larger than can be right")


def noted(records: int, size: int, kind: bytes = tarfile.XHDTYPE) -> bytes:
    """A header of a tar with so many short notes, none like another, and one of so many bytes."""
    blob = b"".join(b"13 %08x=\n" % number for number in range(records))
    if size:
        blob += (b"%d a=" % size).ljust(size - 1, b"x") + b"\n"
    member = tarfile.TarInfo("notes")
    member.type, member.size = kind, len(blob)
    return member.tobuf(tarfile.USTAR_FORMAT) + blob + b"\0" * (-len(blob) % tarfile.BLOCKSIZE)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE])
@pytest.mark.parametrize(
    ("records", "size", "headers", "members"),
    [(5_000, 0, 1, 1), (0, 2 << 20, 1, 1), (10, 0, 30, 1), (1_000, 0, 1, 600), (0, 1_000_000, 1, 70)],
    ids=["many notes", "a long one", "header before header", "many of all members", "long ones of all members"],
)
def test_headers_of_a_tar_that_would_take_long(
    records: int, size: int, headers: int, members: int, kind: bytes, tmp_path: Path, ours: Path
) -> None:
    plain = tarfile.TarInfo("a").tobuf(tarfile.USTAR_FORMAT)
    blob = (noted(records, size, kind) * headers + plain) * members
    (tmp_path / "a.tar").write_bytes(plain + blob + bytes(1024))
    refused(take(tmp_path / "a.tar", RULES, ours), "larger than can be right")


def test_notes_that_hold_for_all_members_are_few(tmp_path: Path, ours: Path) -> None:
    plain = tarfile.TarInfo("a").tobuf(tarfile.USTAR_FORMAT)
    (tmp_path / "a.tar").write_bytes(plain + noted(101, 0, tarfile.XGLTYPE) + plain + bytes(1024))
    refused(take(tmp_path / "a.tar", RULES, ours), "larger than can be right")


def test_what_tars_usually_note_of_their_members_does_no_harm(tmp_path: Path, ours: Path) -> None:
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as tar:
        tar.pax_headers = {"comment": "0" * 40}
        for number in range(2_000):
            notes = {f"SCHILY.xattr.user.{key}": "\n" * 20 for key in "abcdef"} | {"mtime": "1700000000.123456789"}
            member = tarfile.TarInfo(f"{'long' * 40}/{number}")
            member.pax_headers = notes
            tar.addfile(member)
        tar.add(pack("folder", tmp_path, {"train_gpt2.c": b"x"}) / "train_gpt2.c", "train_gpt2.c")
    assert take(tmp_path / "a.tar.gz", RULES, ours).files.keys() >= {"train_gpt2.c"}


@pytest.mark.parametrize("large", [False, True], ids=["one size", "two sizes"])
def test_a_zip_whose_list_is_too_long_to_be_read(large: bool, tmp_path: Path, ours: Path) -> None:
    """Where there is a record of 64 bits, the list is read by that, whatever the usual one says."""
    name = b"x" * 60_000
    listed = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, 0, 0, 0, 0, 33, 0, 0, 0, len(name), *[0] * 6) + name
    listed *= 300
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 300, 300, len(listed), 0, 0)
    if large:
        end = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 300, 300, len(listed), 0)
        end += struct.pack("<4sLQL", b"PK\6\7", 0, len(listed), 1)
        end += struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 100, 0xFFFFFFFF, 0)
    (tmp_path / "a.zip").write_bytes(listed + end)
    refused(take(tmp_path / "a.zip", RULES, ours), f"it holds more than {MOST_ENTRIES} files")


def test_no_room_to_unpack_is_no_fault_of_the_submission(
    tmp_path: Path, ours: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tar_of(tmp_path / "a.tar.gz", {"train_gpt2.c": CODE}, "w:gz")
    full = Path("/dev/full")
    monkeypatch.setattr(tempfile, "TemporaryFile", functools.partial(full.open, "wb", 0))
    with pytest.raises(InfrastructureError, match="there is no room to unpack a submission: No space left"):
        take(path, RULES, ours)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_an_archive_that_cannot_be_read(tmp_path: Path, ours: Path) -> None:
    zip_of(tmp_path / "a.zip", {"train_gpt2.c": CODE}).chmod(0)
    with pytest.raises(UsageError, match="cannot be read: Permission denied"):
        take(tmp_path / "a.zip", RULES, ours)


def test_a_zip_bomb_is_read_no_further_than_needed(tmp_path: Path, ours: Path) -> None:
    path = zip_of(tmp_path / "a.zip", {"train_gpt2.c": bytes(64 << 20)})
    refused(take(path, RULES, ours), "is larger than 8 KiB")


def test_folders_too_deep_are_not_entered(tmp_path: Path, ours: Path) -> None:
    folder_of(tmp_path / "s", {"/".join("abcdefgh") + "/train_gpt2.c": CODE})
    refused(take(tmp_path / "s", RULES, ours), "there is no train_gpt2.c")


def test_names_that_are_not_utf_8_are_written_all_the_same(tmp_path: Path, ours: Path) -> None:
    folder = tmp_path / os.fsdecode(b"hand-in \xff")
    folder.mkdir()
    (folder / os.fsdecode(b"\xfe.c")).write_bytes(CODE)
    taken = take(folder, RULES, ours)
    refused(taken, "rename it")
    "\n".join([taken.origin, *taken.problems]).encode()


@pytest.mark.parametrize("blob", [b"", b"%PDF-1.7", b"int main(void) { return 0; }", os.urandom(2000)])
def test_any_other_file_is_wrong_usage(blob: bytes, tmp_path: Path, ours: Path) -> None:
    (tmp_path / "report.pdf").write_bytes(blob)
    with pytest.raises(UsageError, match=r"report\.pdf is neither a folder, nor a zip or tar, nor train_gpt2\.c"):
        take(tmp_path / "report.pdf", RULES, ours)


def test_nothing_there(tmp_path: Path, ours: Path) -> None:
    with pytest.raises(UsageError, match="there is no submission at"):
        take(tmp_path / "absent", RULES, ours)
    (tmp_path / "dangling").symlink_to(tmp_path / "absent")
    with pytest.raises(UsageError, match="there is no submission at"):
        take(tmp_path / "dangling", RULES, ours)
