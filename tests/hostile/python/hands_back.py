import json as tg_json
import os as tg_os
import struct as tg_struct
import sys as tg_sys


def tg_hand_back(make):
    """From now on `make(path, arrays)` hands the results back in place of what the grader has in the process."""
    from assignments.common import arrays

    arrays.write = make


def tg_file(header, body=b""):
    text = header if isinstance(header, bytes) else tg_json.dumps(header).encode()
    return tg_struct.pack("<Q", len(text)) + text + body


def tg_bytes(blob):
    def write(path, arrays):
        with open(path, "wb") as file:
            file.write(blob)

    tg_hand_back(write)


def tg_arrays(change):
    from assignments.common import arrays

    plain = arrays.write
    tg_hand_back(lambda path, found: plain(path, {name: change(name, value) for name, value in found.items()}))


def tg_place(put):
    """Puts something else where the file would be."""

    def write(path, arrays):
        put(path)

    tg_hand_back(write)
