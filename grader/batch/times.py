"""When students handed in, from a CSV, for downloads that do not say it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from grader.batch import lists
from grader.batch.late import YEARS
from grader.batch.roster import COLUMNS
from grader.errors import UsageError

WHO = tuple(name for known in ("login", "id", "sis_id", "name") for name in COLUMNS[known])
_AS_ISO = re.compile(r"(:\d\d(?:\.\d+)?) ?(?:UTC|(Z|[-+]\d\d:?\d\d))$")  # Gradescope: 2026-10-01 23:59:00 -0400
WHEN = ("submitted_at", "submitted at", "submission time", "time", "date")


def load(path: Path, zone: ZoneInfo) -> Mapping[str, datetime]:
    """Who handed in when; times without a zone are of ``zone``.

    Raises:
        UsageError: the file cannot be read, has not both columns, or a time is none.
    """
    rows, names = lists.read(path, "--times")
    who, when = (next((names[n] for n in known if n in names), None) for known in (WHO, WHEN))
    if who is None or when is None:
        raise UsageError(f"--times: {path} is to have the columns `login` (or id, sid, name) and `submitted_at`")
    found: dict[str, datetime] = {}
    for number, row in enumerate(rows, 2):
        text = (row[when] or "").strip()
        handle = (row[who] or "").strip()
        if not text:  # who handed in nothing stands in a course site's list as well
            continue
        try:
            moment = datetime.fromisoformat(_AS_ISO.sub(r"\1\2", text))
            moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
            moment.astimezone(UTC)
            if moment.year not in YEARS:
                raise ValueError("no course has such a year")
        except (ValueError, OverflowError) as error:
            raise UsageError(f"--times: {path}:{number}: {text!r} is not a time like 2026-10-01T23:59:00") from error
        if found.get(handle, moment) != moment:
            raise UsageError(f"--times: {path}:{number}: {handle} has two times")
        found[handle] = moment
    return found
