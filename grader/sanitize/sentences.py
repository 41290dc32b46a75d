"""A sanitizer's report as a sentence: function, what it does, file, line, and that line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from grader.sanitize.reports import Access, Frame, Place, Report

MOST_CODE = 90  # characters of a line that are shown
_DEFINITION = re.compile(r"^[A-Za-z_][\w\s*]*?\b(?P<name>[A-Za-z_]\w*)\s*\([^;]*$")
_LOCATED = re.compile(r"located (\d+) bytes (?:to the )?(right|left|inside|after|before)(?: of)? (?:of )?(\d+)-byte")
_COMPILERS_OWN = re.compile(r"^(?:\.omp_|<|main$)|^$")


@dataclass(frozen=True)
class Source:
    """The student's file: its name and its lines."""

    name: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        """The lines, as compilers count them."""
        return re.split(r"\r\n|\n", self.text)

    def code(self, line: int) -> str:
        """A line of it, short enough to be quoted; empty where there is none."""
        if not 0 < line <= len(self.lines):
            return ""
        text = " ".join(self.lines[line - 1].split()).replace("`", "'")
        return text if len(text) <= MOST_CODE else text[:MOST_CODE] + "..."

    def function(self, frame: Frame) -> str:
        """The function that a line stands in: the compiler's word, or the last definition before it."""
        name = frame.function.split(".")[0]
        if not _COMPILERS_OWN.match(name) and name.isidentifier():
            return name
        above = self.lines[: max(frame.line, 0)]
        found = next((m for text in reversed(above) if (m := _DEFINITION.match(text))), None)
        return found["name"] if found else "the code"

    def at(self, frame: Frame, quote: bool = True) -> str:
        """``at train_gpt2.c:412: `code```."""
        code = self.code(frame.line) if quote else ""
        return f"at {self.name}:{frame.line}" + (f": `{code}`" if code else "")


def sentence(report: Report, source: Source) -> str:
    """One sentence for the student."""
    if report.tool == "thread":
        return _race(report, source)
    what = report.words if report.tool == "undefined" else _memory(report, source)
    if report.frame is None:
        return f"{what[0].upper()}{what[1:]}" if what else report.kind
    who = source.function(report.frame)
    link = ": " if report.tool == "undefined" else " "
    return f"{who}{link}{what}, {source.at(report.frame)}"


# -- memory -----------------------------------------------------------------------------------------------


def _memory(report: Report, source: Source) -> str:
    """What was done to memory, as a verb and what belongs to it."""
    if report.access is not None and report.access.place is not None and report.access.place.where != "inside":
        return f"{_verb(report.access)} {_beside(report.access, report.access.place)}"
    told = _KINDS.get(report.kind)
    return told(report, source) if told else f"does what AddressSanitizer calls {report.kind} ({report.words})"


def _verb(access: Access | None) -> str:
    return "touches" if access is None else "writes" if access.writes else "reads"


def _beside(access: Access, place: Place) -> str:
    distance = place.index - place.count + 1 if place.where == "after" else -place.index
    side = "past the end" if place.where == "after" else "before the start"
    many = f"{distance} {place.unit}{'' if distance == 1 else 's'}"
    return f"{many} {side} of `{place.buffer}` (element {place.index} of {place.count})"


def _allocated(report: Report, source: Source) -> str:
    return f" that {source.function(report.made)} allocated at {source.name}:{report.made.line}" if report.made else ""


def _heap(report: Report, source: Source) -> str:
    found = re.search(
        r"located (\d+) bytes (?:to the )?(right|left|inside|after|before)(?: of)? (?:of )?(\d+)-byte", report.words
    )
    if found is None:
        return f"{_verb(report.access)} outside of what was allocated"
    side = {"right": "past the end", "after": "past the end", "inside": "inside"}.get(found[2], "before the start")
    far = f", {found[1]} bytes further on" if side == "past the end" and int(found[1]) else ""
    return f"{_verb(report.access)} {side} of the {found[3]} bytes{_allocated(report, source)}{far}"


def _variable(report: Report, source: Source) -> str:
    """A local or a global array."""
    local = re.search(r"variable (\w+) (\w+)", report.words)
    shared = re.search(r"global variable '(?:\w+\.)?(\w+)'", report.words)
    found = local or shared
    side = "before the start" if "underflows" in report.words or "to the left of" in report.words else "past the end"
    return f"{_verb(report.access)} {side} of {f'`{found[1]}`' if found else 'a local array'}"


def _scope(report: Report, source: Source) -> str:
    found = re.search(r"variable (\w+) ", report.words)
    return f"{_verb(report.access)} {f'`{found[1]}`' if found else 'a local variable'}, which is gone by then"


def _freed(report: Report, source: Source) -> str:
    freed = f" at {source.name}:{report.freed.line}" if report.freed else ""
    return f"{_verb(report.access)} memory that was freed{freed}"


def _twice(report: Report, source: Source) -> str:
    freed = f", first at {source.name}:{report.freed.line}" if report.freed else ""
    return f"frees the same memory twice{freed}"


def _fault(report: Report, source: Source) -> str:
    address = re.search(r"address (0x[0-9a-f]+)", report.words)
    if address and int(address[1], 16) < 1 << 16:
        return f"{_verb(report.access)} through a NULL pointer"
    return f"{_verb(report.access)} where no memory is"


def _said(text: str) -> Callable[[Report, Source], str]:
    return lambda report, source: text


_KINDS: dict[str, Callable[[Report, Source], str]] = {
    "heap-buffer-overflow": _heap,
    "stack-buffer-overflow": _variable,
    "stack-buffer-underflow": _variable,
    "dynamic-stack-buffer-overflow": _variable,
    "global-buffer-overflow": _variable,
    "stack-use-after-scope": _scope,
    "stack-use-after-return": _scope,
    "heap-use-after-free": _freed,
    "double-free": _twice,
    "bad-free": _said("frees what malloc did not hand out"),
    "SEGV": _fault,
    "BUS": _fault,
    "FPE": _said("divides an integer by zero"),
    "stack-overflow": _said("runs out of stack: a recursion without end, or a local array that is too large"),
    "negative-size-param": _said("copies or sets a negative number of bytes"),
    "memcpy-param-overlap": _said("copies memory onto itself; memmove may, memcpy may not"),
    "allocation-size-too-big": _said("asks for more memory than there can be"),
    "use-after-poison": _said("touches memory beside one of its buffers"),
}


# -- threads ----------------------------------------------------------------------------------------------


def _race(report: Report, source: Source) -> str:
    first, other = report.access, report.other
    if report.frame is None or first is None:
        return f"two threads get into each other's way ({report.kind})"
    who, what = source.function(report.frame), _shared(report)
    verbs = [_verb(access)[:-1] for access in (first, other) if access is not None]
    at = source.at(report.frame)
    same = other is None or other.frame is None or other.frame.line == report.frame.line
    if same or other is None or other.frame is None:
        doing = "write" if "write" in verbs else "touch"
        return f"{who} has two threads {doing} {what} at once (a data race), {at}"
    there = source.at(other.frame, quote=False).removeprefix("at ")
    return f"{who} has one thread {verbs[0]} {what} while another {verbs[-1]}s it at {there} (a data race), {at}"


def _shared(report: Report) -> str:
    """What the threads share: an element of a buffer, a variable."""
    place = next((a.place for a in (report.access, report.other) if a is not None and a.place is not None), None)
    if place is not None and place.where == "inside":
        return f"`{place.buffer}`"  # which element it is depends on the threads
    shared = re.search(r"global '(?:\w+\.)?(\w+)'", report.words)
    if shared:
        return f"`{shared[1]}`"
    return "a local variable that they share" if report.words.startswith("stack of") else "the same memory"
