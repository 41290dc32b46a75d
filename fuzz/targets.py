"""What is fuzzed: each target takes any bytes, and raises nothing but what its reader is documented to raise.

A target's seeds are right inputs; mutations of these get further in than random bytes do.
"""

from __future__ import annotations

import io
import json
import tarfile
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ValidationError

from fuzz.feed import Feed
from grader import assignment as assignments
from grader import data, fixtures, statuses, submission, tensorfile, tolerances
from grader.assignment import Assignment
from grader.batch.run import read_result
from grader.engine import BuildReport, Probed
from grader.errors import InfrastructureError, UsageError
from grader.fixtures import Manifest
from grader.home import ROOT
from grader.judge import Judge
from grader.sandbox import Outcome
from grader.tolerances import Tolerances

HEADER = b"\0"  # in front of a blob: what follows is a header and a body, to be put together rightly
CHECK = "gpt2_backward"  # judged by statuses, calls and tensors


@dataclass(frozen=True)
class Target:
    """Something to fuzz."""

    run: Callable[[bytes], None]
    seeds: Callable[[], Iterator[bytes]]


@cache
def folder() -> Path:
    """Where inputs are written that are read from files."""
    return Path(tempfile.mkdtemp(prefix="fuzz-"))


def _written(blob: bytes, name: str) -> Path:
    path = folder() / name
    path.write_bytes(blob)
    return path


# -- what the sandbox hands back ----------------------------------------------------------------------------


def _tensor_file(blob: bytes) -> bytes:
    """The bytes themselves or, behind a zero, a header of the length that is announced, and a body."""
    if not blob.startswith(HEADER):
        return blob
    header, _, body = blob[1:].partition(HEADER)
    return len(header).to_bytes(8, "little") + header + body


def tensors(blob: bytes) -> None:
    """A tensor file."""
    with suppress(tensorfile.TensorFileError):
        for array in tensorfile.read(_written(_tensor_file(blob), "tensors")).values():
            assert array.nbytes < 1 << 30


def tensor_seeds() -> Iterator[bytes]:
    """Files of the fixtures, as they are and taken apart."""
    for name in ("gelu_backward/one", "encoder_backward/small", "zero_grad/unallocated"):
        blob = (ROOT / "fixtures/A2/public/expected" / f"{name}.safetensors").read_bytes()
        length = int.from_bytes(blob[:8], "little")
        yield blob
        yield HEADER + blob[8 : 8 + length] + HEADER + blob[8 + length :]


def handed_back(blob: bytes) -> None:
    """Statuses and tensors of a check, judged; and the report of a build. Nothing of it is the grader's error."""
    feed = Feed(blob)
    told = _written(feed.take(feed.number(4000)), "status.jsonl")
    with suppress(ValidationError):
        BuildReport.model_validate_json(told.read_bytes())
    assignment, judge, cases = _judging()
    outcome = Outcome(feed.choice([0, 0, 1, 137]), bool(feed.number(1)), feed.piece().decode("utf-8", "replace"), 1.0)
    files = {
        case.id: _written(_tensor_file(feed.piece() if i else feed.rest()), str(i)) for i, case in enumerate(cases)
    }
    probed = Probed(statuses.read(told), files, outcome, 1.0)
    check = assignment.checks[CHECK]
    judge.result(CHECK, check, judge.check(CHECK, check, cases, probed)).model_dump_json()


@cache
def _judging() -> tuple[Assignment, Judge, list[fixtures.FixtureCase]]:
    assignment = assignments.load("A2")
    cases = fixtures.load(fixtures.set_folder("A2", "public")).cases(CHECK)[:2]
    return assignment, Judge(assignment, tolerances.load()), cases


def handed_back_seeds() -> Iterator[bytes]:
    """A check that went well, one that says that it did, and a build's report."""
    _, _, cases = _judging()
    for status in ("ok", "crashed", "wrong"):
        lines = [
            {"case": case.id, "status": status, "calls": case.calls, "advice": ["x"], "detail": "y"} for case in cases
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines).encode()[:3999]
        yield len(text).to_bytes(2, "little") + text + bytes(4) + cases[0].expected_path.read_bytes()
    text = BuildReport(ok=True, notes=["x"], unavailable={"model": "y"}).model_dump_json().encode()
    yield len(text).to_bytes(2, "little") + text


# -- what is handed in -------------------------------------------------------------------------------------


def archive(blob: bytes) -> None:
    """An archive: as it is, or members of any names and kinds, put together rightly."""
    rules = assignments.load("A2").submission
    feed = Feed(blob)
    made = [lambda f: f.rest(), _zip, _tar][feed.number(2)](feed)
    with suppress(UsageError):
        taken = submission.take(_written(made, "submission.bin"), rules, ROOT / "student_template" / "A2")
        assert taken.files or taken.problems
        assert set(taken.files) <= set(rules.files)
        "".join([*taken.problems, *taken.ignored]).encode("utf-8")


NAMES = ("train_gpt2.c", "a2/train_gpt2.c", "../train_gpt2.c", "/train_gpt2.c", "a/./b/train_gpt2.c", "llmc/utils.h")


def _name(feed: Feed) -> str:
    return feed.choice([*NAMES, feed.piece().decode("utf-8", "surrogateescape")])


def _zip(feed: Feed) -> bytes:
    """A zip; a byte of it may be another."""
    buffer = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(buffer, "w") as made:
        for _ in range(feed.number(4)):
            info = zipfile.ZipInfo(_name(feed).encode("utf-8", "replace").decode()[:200] or "x")
            info.external_attr = feed.number((1 << 32) - 1)
            info.compress_type = feed.choice([0, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
            made.writestr(info, feed.piece() * feed.choice([1, 1, 1, 9999]))
    return _spoiled(buffer.getvalue(), feed)


def _tar(feed: Feed) -> bytes:
    """A tar, compressed or not; a byte of it may be another."""
    buffer = io.BytesIO()
    mode = feed.choice(["w", "w:gz", "w:bz2", "w:xz"])
    with tarfile.open(fileobj=buffer, mode=mode, format=feed.choice([0, 1, 2])) as made:  # type: ignore[call-overload]
        for _ in range(feed.number(4)):
            info, content = tarfile.TarInfo(_name(feed)), feed.piece()
            info.type, info.size = bytes([feed.choice(b"0123456LKxg7")]), len(content)
            info.linkname = feed.piece().decode("utf-8", "surrogateescape")
            with suppress(ValueError, UnicodeError):  # a name that the format has no room for
                made.addfile(info, io.BytesIO(content))
    return _spoiled(buffer.getvalue(), feed)


def _spoiled(blob: bytes, feed: Feed) -> bytes:
    spoiled = bytearray(blob)
    for _ in range(feed.number(3)):
        if spoiled:
            spoiled[feed.number(len(spoiled) - 1)] = feed.number(255)
    return bytes(spoiled)


def archive_seeds() -> Iterator[bytes]:
    """Bytes to put archives together from, and archives."""
    for kind in (1, 2):
        yield bytes([kind, 2, 0, 0, 0, 0, 0, 0, 5]) + b"int x" + bytes(30)
        made = (_zip, _tar)[kind - 1](Feed(bytes([2, 1, 0, 0, 0, 0, 0, 5]) + b"int x;" * 9))
        yield b"\0" + made


# -- data --------------------------------------------------------------------------------------------------

MODELS: dict[str, type[BaseModel]] = {"assignment": Assignment, "tolerances": Tolerances, "manifest": Manifest}


def yaml_data(blob: bytes) -> None:
    """A file of data, as each of the models."""
    for name, model in MODELS.items():
        with suppress(InfrastructureError):
            data.load_yaml(_written(blob, f"{name}.yaml"), model)


def yaml_seeds() -> Iterator[bytes]:
    """The committed ones."""
    yield (ROOT / "tolerances.yaml").read_bytes()
    for name in assignments.known_ids():
        yield (ROOT / "assignments" / name / "assignment.yaml").read_bytes()
    yield b"a: &a [*a]\n? {b: c}\n: !!python/object/apply:os.system [true]\n--- |\n x\n"


def result(blob: bytes) -> None:
    """A result that a batch finds in a student's folder."""
    _written(blob, "result.json")
    with suppress(InfrastructureError):
        read_result(folder()).model_dump_json(by_alias=True)


def result_seeds() -> Iterator[bytes]:
    """Results with and without failures."""
    from tests.grader.builders import result as made

    yield made().model_dump_json(by_alias=True).encode()


TARGETS = {
    "tensors": Target(tensors, tensor_seeds),
    "handed-back": Target(handed_back, handed_back_seeds),
    "archive": Target(archive, archive_seeds),
    "yaml": Target(yaml_data, yaml_seeds),
    "result": Target(result, result_seeds),
}
