"""compute-sanitizer's reports on kernels, as sentences with the student's line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from grader import statuses

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
LOG = "sanitizer"
MOST_TOLD = 6  # sentences of a tool
MOST_LOGS = 64
_MARK = re.compile(r"^=+ ?")
_HEAD = re.compile(
    r"^(?:(?:Error|Warning): )?"
    r"(?:Invalid |Misaligned |Uninitialized |Race reported|Potential |Barrier error|Program hit |Leaked |Address )"
)
_KERNEL = re.compile(r"\b([A-Za-z_]\w*)\(")


def command(program: Path, tool: str) -> list[str]:
    """What runs a driver under a tool; the logs lie in the folder that it starts in, one for each process."""
    settings = ["--tool", tool, "--target-processes", "all", "--log-file", f"{LOG}.{tool}.%p.log"]
    return [str(program), *settings, "--print-limit", "20"]


def read(folder: Path, tool: str, source: str) -> list[str]:
    """What a tool has reported, a sentence for each kind and line."""
    texts = []
    for path in sorted(folder.glob(f"{LOG}.{tool}.*.log"))[:MOST_LOGS]:
        try:
            texts.append(statuses.read_bounded(path).decode("utf-8", "replace"))
        except OSError:
            continue
    return sentences(texts, source)


def sentences(logs: Iterable[str], source: str) -> list[str]:
    """The reports of logs, each once; ``source``: the student's file."""
    found = dict.fromkeys(text for log in logs for text in _reports(log.splitlines(), source))
    return list(found)[:MOST_TOLD]


def _reports(lines: Sequence[str], source: str) -> Iterator[str]:
    plain = [_MARK.sub("", line) for line in lines]
    place = re.compile(re.escape(source.rpartition("/")[2]) + r":(\d+)")
    for i, head in enumerate(plain):
        if _HEAD.match(head) is None:
            continue
        below = []
        for line in plain[i + 1 :]:
            if not line.startswith("    ") or not line.strip():
                break
            below.append(line)
        near = [head, *below]
        line_number = next((at[1] for text in near if (at := place.search(text))), None)
        kernel = next((at[1] for text in near if " at " in f" {text.strip()}" and (at := _KERNEL.search(text))), None)
        what = head.strip().removeprefix("Error: ").removeprefix("Warning: ")
        what = what.split(" at ")[0] if kernel and "Race" in what else what
        where = f" at {source}:{line_number}" if line_number else ""
        yield f"{kernel}: {what}{where}" if kernel else f"{what}{where}"
