"""What a sanitizer prints, as data. The text comes from the sandbox: it is bounded, and it explains, no more."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

MOST_TEXT = 64 << 10  # characters of one case's reports that are read
MOST_WORDS = 200  # characters kept of a message

Tool = Literal["address", "undefined", "thread"]
Name = Annotated[str, Field(max_length=60, pattern=r"^\w+$")]
Count = Annotated[int, Field(ge=-(2**40), le=2**40)]


class Place(BaseModel):
    """An element of one of the probe's buffers, or beside it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    buffer: Name
    where: Literal["inside", "before", "after"]
    index: Count
    count: Count
    unit: Name


@dataclass(frozen=True)
class Frame:
    """A line of the student's own file, and the function that it was compiled into."""

    function: str
    line: int


@dataclass(frozen=True)
class Access:
    """A read or a write of ``size`` bytes, where it was, and in which line of the student's."""

    writes: bool
    size: int
    frame: Frame | None
    place: Place | None = None


@dataclass(frozen=True)
class Report:
    """One error that a sanitizer has found.

    Attributes:
        tool: which one found it.
        kind: its own name for the error, e.g. ``heap-buffer-overflow``.
        frame: the line of the student's file; None where no line of it is among the callers.
        access: for an access to memory, which.
        other: the second access of a race.
        made: where the memory was allocated.
        freed: where it was freed.
        words: what the sanitizer says beside that, as one line.
    """

    tool: Tool
    kind: str
    frame: Frame | None
    access: Access | None = None
    other: Access | None = None
    made: Frame | None = None
    freed: Frame | None = None
    words: str = ""


@dataclass
class _Section:
    """A heading, and the calls below it that stand in the student's file."""

    heading: str
    frames: list[Frame] = field(default_factory=list)

    @property
    def first(self) -> Frame | None:
        return self.frames[0] if self.frames else None


_FRAME = re.compile(
    r"^ +#\d+ (?:0x[0-9a-f]+ in )?(?P<function>\S+) (?P<file>[^\s:]+):(?P<line>\d{1,7})(?::\d+)?(?: |$)"
)
_ANY_ADDRESS = re.compile(r" 0x[0-9a-f]+\b")  # tells nothing, and is another each time
_ANY_FRAME = re.compile(r"^ +#\d+ ")
_ADDRESS = re.compile(r"^==\d+==ERROR: AddressSanitizer: (?P<kind>attempting double-free|[\w-]+)(?P<rest>[^\n]*)")
_ACCESS = re.compile(
    r"\b(?P<kind>READ|WRITE|[Rr]ead|[Ww]rite) of size (?P<size>\d{1,12}) at (?P<address>0x[0-9a-f]{1,16})"
)
_UNDEFINED = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d{1,7}):\d+: runtime error: (?P<words>.*)$")
_THREAD = re.compile(r"^WARNING: ThreadSanitizer: (?P<kind>[\w -]+?) \(pid=")
_SIGNAL = re.compile(r"The signal is caused by a (?P<kind>READ|WRITE) memory access")
_UNUSABLE = re.compile(r"^(?:==\d+==)?(?:FATAL: \w+Sanitizer|Shadow memory range)[^\n]*", re.MULTILINE)


def unusable(text: str) -> str:
    """Why a sanitizer could not begin, in its own words; empty where it did."""
    found = _UNUSABLE.search(text[:MOST_TEXT])
    return plain(found[0]) if found else ""


def plain(text: str) -> str:
    """Text from the sandbox as one bounded line that can be printed."""
    return "".join(c if c.isprintable() else "?" for c in text[:MOST_WORDS]).strip()


def read_places(value: object) -> dict[str, Place]:
    """What the addresses of a report are; whatever is not of that form is left out."""
    found: dict[str, Place] = {}
    for address, entry in value.items() if isinstance(value, Mapping) else ():
        try:
            found[str(address)] = Place.model_validate(entry, strict=True)
        except (ValidationError, RecursionError):
            continue
    return found


def parse(text: str, places: Mapping[str, Place], files: Collection[str]) -> list[Report]:
    """The errors in a text; ``files`` are the student's own, as the text names them."""
    lines = text[:MOST_TEXT].splitlines()
    found: list[Report] = []
    for number, line in enumerate(lines):
        if match := _UNDEFINED.match(line):
            if match["file"] in files:
                below = lines[number + 1 : number + 2]
                called = _FRAME.match(below[0]) if below else None
                frame = Frame(plain(called["function"]) if called else "", int(match["line"]))
                words = _ANY_ADDRESS.sub("", plain(match["words"]))
                found.append(Report("undefined", "undefined", frame, words=words))
        elif match := _ADDRESS.match(line):
            found.append(_of_address(match, lines[number:], places, files))
        elif match := _THREAD.match(line):
            found.append(_of_thread(match["kind"], _sections(_until(lines[number:], "SUMMARY:"), files), places))
    return sorted(found, key=lambda report: report.tool == "undefined")  # AddressSanitizer says more of the same line


def _until(lines: Sequence[str], mark: str) -> list[str]:
    end = next((i for i, line in enumerate(lines) if line.startswith(mark)), len(lines))
    return list(lines[:end])


def _sections(lines: Sequence[str], files: Collection[str]) -> list[_Section]:
    """The stacks of a report, each with the lines above it."""
    sections = [_Section("")]
    below = False
    for line in lines:
        if _ANY_FRAME.match(line):
            match, below = _FRAME.match(line), True
            if match and match["file"] in files:
                sections[-1].frames.append(Frame(plain(match["function"]), int(match["line"])))
        elif below:
            sections.append(_Section(line))
            below = False
        else:
            sections[-1].heading += "\n" + line
    return sections


def _accesses(sections: Sequence[_Section], places: Mapping[str, Place]) -> Iterator[Access]:
    for section in sections:
        if match := _ACCESS.search(section.heading):
            writes = match["kind"].lower() == "write"
            yield Access(writes, int(match["size"]), section.first, places.get(match["address"]))


def _of_address(
    match: re.Match[str], lines: Sequence[str], places: Mapping[str, Place], files: Collection[str]
) -> Report:
    sections = _sections(lines, files)
    first, kind = sections[0], match["kind"].removeprefix("attempting ")
    access = next(_accesses(sections[:1], places), None)
    if access is None and (signal := _SIGNAL.search(first.heading)):
        address = re.search(r"unknown address (0x[0-9a-f]{1,16})", match["rest"])
        place = places.get(address[1]) if address else None
        access = Access(signal["kind"] == "WRITE", 0, first.first, place)
    rest = "\n".join(section.heading for section in sections[1:])
    where = re.findall(r"is located (?:in stack[^\n]*|[^\n]*region|[^\n]*global variable[^\n]*)", rest)
    where.sort(key=lambda text: not any(f" defined in '{file}:" in text for file in files))  # the student's first
    variable = re.search(r"'(\w+)'(?: \(line \d+\))? <== Memory access at offset \d+ (\w+)", rest)
    words = where[0] if where else match["rest"]
    words += f" variable {variable[1]} {variable[2]}" if variable else ""
    return Report(
        "address",
        kind,
        first.first,
        access,
        made=_headed(sections, "allocated by"),
        freed=_headed(sections, "freed by"),
        words=plain(words),
    )


def _headed(sections: Sequence[_Section], words: str) -> Frame | None:
    found = (s.first for s in sections[1:] if re.search(rf"(?:^|\n|region |\W){words} thread", s.heading))
    return next(found, None)


def _of_thread(kind: str, sections: list[_Section], places: Mapping[str, Place]) -> Report:
    accesses = list(_accesses(sections, places))
    place = re.search(r"Location is ([^\n]*)", "\n".join(section.heading for section in sections))
    first = next((access for access in accesses if access.frame), None)
    other = next((access for access in accesses if access is not first), None)
    words = plain(place[1]) if place else ""
    return Report("thread", kind.replace(" ", "-"), first.frame if first else None, first, other, words=words)
