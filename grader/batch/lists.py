"""Lists that the staff hand over, as CSV: in whatever form a course site or spreadsheet writes it."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Mapping
from pathlib import Path

from grader.errors import UsageError

BETWEEN = ",;\t"  # columns; the one that the first line has most of


def read(path: Path, option: str) -> tuple[list[Mapping[str, str]], Mapping[str, str]]:
    """The lines by column, and the columns: the name in lower case → as it stands there.

    Raises:
        UsageError: it cannot be read, or is no text or CSV; ``option`` is what named it.
    """
    try:
        blob = path.read_bytes()
        utf_16 = blob.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        text = blob.decode("utf-16" if utf_16 else "utf-8-sig")
    except OSError as error:
        raise UsageError(f"{option}: cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{option}: {path} is not UTF-8; save it as CSV (UTF-8)") from error
    if text[:4].casefold() == "sep=":  # a spreadsheet's own
        text = text.partition("\n")[2]
    first = text.partition("\n")[0]
    try:
        table = csv.DictReader(io.StringIO(text, newline=None), delimiter=max(BETWEEN, key=first.count))
        rows: list[Mapping[str, str]] = list(table)
    except csv.Error as error:
        raise UsageError(f"{option}: {path} is no CSV: {error}") from error
    return rows, {name.strip().casefold(): name for name in table.fieldnames or () if name}
