"""Tensor files from the sandbox: read, or refused with the reason; nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.tensorfile import TensorFileError, read, write

TENSORS = {"dinp": np.arange(6, dtype=np.float32).reshape(2, 3), "inp": np.arange(3, dtype=np.int32)}


def file_of(header: object, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def entry(dtype: str = "F32", shape: object = (2,), offsets: object = (0, 8)) -> dict[str, Any]:
    return {"t": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


TYPES = ["F64", "F32", "F16", "BF16", "I64", "I8", "U64", "U8", "BOOL", "C64", "F8_E4M3", "F8_E5M2", "F4", "OBJ"]
GOOD = file_of(entry(), bytes(8))

REFUSED = {
    "empty": b"",
    "short": b"\x01\x02\x03",
    "text": b"overall okay: 1\n" * 10,
    "pickle": b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x08builtins\x94\x8c\x04eval\x94\x93\x94.",
    "npy": b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    "huge header": (40 << 30).to_bytes(8, "little") + b"{}",
    "largest header": b"\xff" * 8 + b"{}",
    "header is a list": file_of([1, 2]),
    "header is not JSON": file_of(b"{'t'}"),
    "header is not UTF-8": file_of(b'{"\xff": 1}'),
    "deep header": file_of(b'{"t":' + b"[" * 100_000),
    "truncated body": GOOD[:-1],
    "longer body": GOOD + b"\0",
    "wrong dtype": file_of(entry("OBJ"), bytes(8)),
    "no numpy type": file_of(entry("BF16", [4]), bytes(8)),
    "huge shape": file_of(entry(shape=[1 << 40, 1 << 40]), bytes(8)),
    "negative shape": file_of(entry(shape=[-2]), bytes(8)),
    "shape of floats": file_of(entry(shape=[2.0]), bytes(8)),
    "wrong shape": file_of(entry(shape=[3]), bytes(8)),
    "offsets turned round": file_of(entry(offsets=[8, 0]), bytes(8)),
    "offsets beyond": file_of(entry(offsets=[8, 16]), bytes(8)),
    "overlapping": file_of({"a": entry()["t"], "b": entry()["t"]}, bytes(8)),
}


def read_bytes(folder: Path, blob: bytes) -> dict[str, Any]:
    path = folder / "t.tensors"
    path.write_bytes(blob)
    return read(path)


def test_written_and_read(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "t.tensors", TENSORS)
    found = read(tmp_path / "deep" / "t.tensors")
    assert found.keys() == TENSORS.keys()
    for name, array in TENSORS.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)


def test_the_same_tensors_give_the_same_bytes(tmp_path: Path) -> None:
    write(tmp_path / "one", TENSORS)
    write(tmp_path / "two", dict(reversed(TENSORS.items())))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_transposed_array_is_written_as_it_reads(tmp_path: Path) -> None:
    write(tmp_path / "t", {"a": TENSORS["dinp"].T})
    assert np.array_equal(read(tmp_path / "t")["a"], TENSORS["dinp"].T)


def test_nan_and_infinity_survive(tmp_path: Path) -> None:
    write(tmp_path / "t", {"a": np.array([np.nan, np.inf, -np.inf, -0.0], np.float32)})
    found = read(tmp_path / "t")["a"]
    assert np.isnan(found[0])
    assert np.isinf(found[1:3]).all()
    assert np.signbit(found[3])


@pytest.mark.parametrize("name", REFUSED)
def test_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(TensorFileError):
        read_bytes(tmp_path, REFUSED[name])


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, blob: bytes) -> None:
    with pytest.raises(TensorFileError):
        read_bytes(tmp_path_factory.getbasetemp(), blob)


@given(st.integers(0, len(GOOD) - 1), st.integers(0, 255), st.integers(0, len(GOOD)))
def test_mutated_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, place: int, value: int, length: int
) -> None:
    blob = bytearray(GOOD)
    blob[place] = value
    for mutated in (bytes(blob), bytes(blob[:length])):
        try:
            found = read_bytes(tmp_path_factory.getbasetemp(), mutated)
        except TensorFileError:
            continue
        assert all(isinstance(array, np.ndarray) for array in found.values())


@given(
    st.sampled_from(TYPES),
    st.lists(st.integers(-1, 5) | st.sampled_from([1 << 31, 1 << 63, 1 << 64]), max_size=3),
    st.integers(0, 40),
)
def test_any_header_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, dtype: str, shape: list[int], size: int
) -> None:
    blob = file_of(entry(dtype, shape, [0, size]), bytes(size))
    try:
        read_bytes(tmp_path_factory.getbasetemp(), blob)
    except TensorFileError:
        return


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TensorFileError, match="no tensor was handed back"):
        read(tmp_path / "absent")


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "real", TENSORS)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(TensorFileError, match="cannot be opened"):
        read(tmp_path / "link")


def test_a_folder_and_a_device(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/dev/zero")):
        with pytest.raises(TensorFileError, match="not a regular file"):
            read(path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TensorFileError, match="not a regular file"):
        read(tmp_path / "pipe")


def test_more_bytes_than_allowed(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(40 << 30)
    with pytest.raises(TensorFileError, match=f"has {40 << 30} bytes, more than"):
        read(tmp_path / "sparse")


def test_the_arrays_are_this_process_own(tmp_path: Path) -> None:
    write(tmp_path / "t", TENSORS)
    found = read(tmp_path / "t")
    write(tmp_path / "t", {name: array * 0 for name, array in TENSORS.items()})
    assert np.array_equal(found["dinp"], TENSORS["dinp"])
