"""When students handed in, from a CSV, for downloads that do not say it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from grader.batch.roster import COLUMNS
from grader.errors import UsageError

WHO = tuple(name for known in ("login", "id", "sis_id", "name") for name in COLUMNS[known])
WHEN = ("submitted_at", "submitted at", "submission time", "time", "date")


def load(path: Path, zone: ZoneInfo) -> Mapping[str, datetime]:
    """Who handed in when; times without a zone are of ``zone``.

    Raises:
        UsageError: the file cannot be read, has not both columns, or a time is none.
    """
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--times: {path} cannot be read: {error}") from error
    names = {name.strip().casefold(): name for name in (rows[0] if rows else {}) if name}
    who, when = (next((names[n] for n in known if n in names), None) for known in (WHO, WHEN))
    if who is None or when is None:
        raise UsageError(f"--times: {path} is to have the columns `login` (or id, sid, name) and `submitted_at`")
    found: dict[str, datetime] = {}
    for number, row in enumerate(rows, 2):
        text = (row[when] or "").strip()
        try:
            moment = datetime.fromisoformat(text)
        except ValueError as error:
            raise UsageError(f"--times: {path}:{number}: {text!r} is not a time like 2026-10-01T23:59:00") from error
        found[(row[who] or "").strip()] = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    return found
