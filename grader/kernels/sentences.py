"""What the execution model has seen, as sentences: who does what to which array, and in which line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from grader.kernels.seen import Seen
from grader.sanitize.sentences import Source

FLOAT = 4  # bytes; the arrays hold floats or ints
DIRECTIONS = {
    "cudaMemcpyHostToDevice": "from the host to the device",
    "cudaMemcpyDeviceToHost": "from the device to the host",
    "cudaMemcpyDeviceToDevice": "within the device",
    "cudaMemcpyHostToHost": "within the host",
}


@dataclass(frozen=True)
class Told:
    """A sentence, and what to think about."""

    text: str
    hint: str = ""


def tell(seen: Seen, source: Source) -> Told:
    """Says it."""
    known = KINDS.get(seen.kind)
    told = known(seen, source) if known else Told(f"{_code(seen)} does what the model calls {seen.kind}")
    return Told(told.text[:1].upper() + told.text[1:] if told.text.startswith("the ") else told.text, told.hint)


# ---- words -------------------------------------------------------------------------------------


def _thread(who: list[int]) -> str:
    """``thread (3,0,0) of block (1,0,0)``, without axes of which there is one."""
    if len(who) < 6:
        return "a thread"
    return f"thread {_place(who[:3])} of block {_place(who[3:])}"


def _place(values: list[int]) -> str:
    last = 3 if values[2] else 2
    return f"({','.join(map(str, values[:last]))})"


def _code(seen: Seen) -> str:
    return seen.kernel or seen.function or "the code"


def _at(line: int | None, source: Source, quote: bool = True) -> str:
    if line is None:
        return ""
    code = source.code(line) if quote else ""
    return f", at {source.name}:{line}" + (f": `{code}`" if code else "")


def _array(seen: Seen) -> str:
    name = f"`{seen.name}`" if seen.name else "an array"
    return name if seen.space != "shared" else f"{name} in shared memory"


def _elements(count: int) -> str:
    whole, rest = divmod(abs(count), FLOAT)
    if rest:
        return f"{abs(count)} bytes"
    return f"{whole} element{'' if whole == 1 else 's'}"


def _verb(access: str) -> str:
    return "writes" if access == "write" else "reads"


def _by(seen: Seen) -> str:
    return f": {_thread(seen.who)}" if seen.who else ""


def _beyond(seen: Seen) -> str:
    """How far outside of its array an access lies: ``1 element past the end of `a_storage` (of 12)``."""
    of = f" (of {_elements(seen.size)})" if seen.size else ""
    if seen.offset < 0:
        return f"{_elements(-seen.offset)} before the start of {_array(seen)}{of}"
    return f"{_elements(max(seen.offset + seen.bytes - seen.size, 1))} past the end of {_array(seen)}{of}"


# ---- memory ------------------------------------------------------------------------------------


def _bounds(seen: Seen, source: Source) -> Told:
    where = f"{_code(seen)} {_verb(seen.access)} {_beyond(seen)}"
    if seen.space == "shared":
        hint = "how large is the tile, and which indices does a thread of this block have?"
    elif seen.space == "host":
        hint = "how many elements does this argument of the launcher have?"
    elif seen.offset < 0:
        hint = "which indices can be negative there?"
    else:
        hint = "which threads have no element of their own, at the end of a tensor or in the last tile?"
    return Told(f"{where}{_by(seen)}{_at(seen.line, source)}", hint)


def _freed(seen: Seen, source: Source) -> Told:
    does = _verb(seen.access) if seen.access else "uses"
    return Told(f"{_code(seen)} {does} {_array(seen)} after cudaFree{_by(seen)}{_at(seen.line, source)}")


def _stray(seen: Seen, source: Source) -> Told:
    nothing = "memory that is not the device's, far outside of every array or the host's own"
    what = f"`{seen.name}` in the host's memory" if seen.name else nothing
    text = f"{_code(seen)} {_verb(seen.access)} {what}{_by(seen)}{_at(seen.line, source)}"
    return Told(text, "a kernel reaches what cudaMalloc gave; was every pointer that it gets copied to the device?")


def _host(seen: Seen, source: Source) -> Told:
    text = f"{_code(seen)}, on the host, touches {_array(seen)} in the device's memory{_at(seen.line, source)}"
    return Told(text, "the host reaches the device's memory by cudaMemcpy alone")


def _unwritten(seen: Seen, source: Source) -> Told:
    text = f"{_code(seen)} reads element {seen.offset // FLOAT} of {_array(seen)}, which nothing has written"
    hint = "who writes it, and has that happened by then?"
    return Told(f"{text}{_by(seen)}{_at(seen.line, source)}", hint)


def _unwritten_copy(seen: Seen, source: Source) -> Told:
    whole = seen.bytes // FLOAT
    what = "none of the" if seen.count == whole else f"{seen.count} of the"
    if seen.count == whole:
        text = f"no element of {_array(seen)} was written by the time it is copied to the host"
    else:
        first = seen.offset // FLOAT
        text = f"{what} {whole} elements of {_array(seen)} were never written, element {first} the first"
    hint = "are there as many threads as elements, and which of them leave early?"
    return Told(f"{_code(seen)}: {text}{_at(seen.line, source)}", hint)


def _misaligned(seen: Seen, source: Source) -> Told:
    text = f"{_code(seen)} {_verb(seen.access)} {seen.bytes} bytes of {_array(seen)} at an address that is no multiple"
    return Told(f"{text} of {seen.bytes}{_by(seen)}{_at(seen.line, source)}")


# ---- threads -----------------------------------------------------------------------------------


def _race(seen: Seen, source: Source) -> Told:
    other = _thread(seen.other) if seen.other else "another thread"
    within = not seen.other or seen.other[3:] == seen.who[3:]
    text = (
        f"{_code(seen)}: {_thread(seen.who)} {_verb(seen.access)} element {seen.offset // FLOAT} of {_array(seen)}"
        f"{_at(seen.line, source)}, which {other} {_verb(seen.other_access)}"
        f"{_at(seen.other_line, source, seen.other_line != seen.line)}, with nothing that puts the two in order"
    )
    hint = "what must be over before this line may run, for all threads of the block?"
    if not within or (seen.other_line == seen.line and seen.access == seen.other_access == "write"):
        hint = "do two threads write what only one of them should?"
    return Told(text, hint)


def _again(seen: Seen, source: Source) -> Told:
    other = _thread(seen.other) if seen.other else "another thread"
    text = (
        f"{_code(seen)}: {_thread(seen.who)} writes element {seen.offset // FLOAT} of {_array(seen)} again, as it was"
    )
    return Told(f"{text} written by {other}{_at(seen.line, source)}: harmless, and work that nobody needs")


def _barrier(seen: Seen, source: Source) -> Told:
    here = f"__syncthreads{_at(seen.line, source, quote=False)}"
    hint = "every thread of a block has to reach the barrier, those without an element of their own too"
    if seen.text == "ended":
        text = (
            f"{_code(seen)}: {seen.count} of the {seen.size} threads of a block have ended before {here}, at which the"
            f" others wait: {_thread(seen.other)}, last{_at(seen.other_line, source).removeprefix(',')}"
            if seen.other_line
            else f"{_code(seen)}: {seen.count} of the {seen.size} threads of a block have ended before {here}, at which"
            f" the others wait: {_thread(seen.other)} is the first of them"
        )
        return Told(text, hint)
    if seen.text == "warp":
        return Told(f"{_code(seen)}: a part of a warp waits at {source.name}:{seen.line}, and the others never come")
    where = f"{source.name}:{seen.other_line}" if seen.other_line else "elsewhere"
    text = f"{_code(seen)}: {seen.count} of the {seen.size} threads of a block wait at {where}, the others at {here}"
    return Told(text, hint)


# ---- launches, copies, and the functions themselves ----------------------------------------------


def _launch(seen: Seen, source: Source) -> Told:
    return Told(f"{_code(seen)} cannot be launched: {seen.text}{_at(seen.line, source)}")


def _copy(seen: Seen, source: Source) -> Told:
    does = "writes" if seen.access == "write" else "reads"
    where = "in the host's memory" if seen.space == "host" else "on the device"
    outside = max(seen.offset + seen.bytes - seen.size, 1) if seen.offset >= 0 else -seen.offset
    text = f"{seen.function}: the copy {does} {_elements(outside)} outside of {_array(seen)} {where}, which has"
    hint = "how many bytes does each of the two arrays have?"
    return Told(f"{text} {_elements(seen.size)}{_at(seen.line, source)}", hint)


def _direction(seen: Seen, source: Source) -> Told:
    asked, _, real = seen.text.partition(",")
    if asked == "cudaMemset":
        return Told(f"{seen.function}: cudaMemset of memory that is not the device's{_at(seen.line, source)}")
    text = f"{seen.function}: the copy is said to be {asked}, and goes {DIRECTIONS.get(real, 'elsewhere')}"
    return Told(f"{text}{_at(seen.line, source)}", "the first argument is where the copy goes to")


def _pointer(seen: Seen, source: Source) -> Told:
    return Told(f"{seen.function}: the copy uses a pointer that cudaMalloc did not give{_at(seen.line, source)}")


def _room(seen: Seen, source: Source) -> Told:
    text = f"{seen.function}: cudaMalloc of {seen.bytes:,} bytes is more than the model's device has"
    return Told(f"{text}{_at(seen.line, source)}", "is the number of elements multiplied by something twice?")


def _free(seen: Seen, source: Source) -> Told:
    why = {"twice": "a second time", "host": "though it is the host's", "inside": "by an address inside of it"}
    text = f"{seen.function}: cudaFree of {_array(seen)} {why.get(seen.text, 'that cudaMalloc did not give')}"
    return Told(f"{text}{_at(seen.line, source)}")


def _leak(seen: Seen, source: Source) -> Told:
    text = f"{seen.function} never frees {_array(seen)} on the device ({_elements(seen.size)})"
    hint = "each call leaves it behind: a training makes hundreds of thousands of calls"
    return Told(f"{text}, which it gets{_at(seen.line, source).removeprefix(',')}", hint)


def _not_copied(seen: Seen, source: Source) -> Told:
    text = f"{seen.function}: nothing is copied from the device back into `{seen.name}`"
    return Told(text, "the result is on the device; who brings it to the host?")


def _missing(seen: Seen, source: Source) -> Told:
    return Told(f"there is no function {seen.function} in {source.name}")


def _signature(seen: Seen, source: Source) -> Told:
    if seen.count < 0:
        return Told(f"{seen.function} returns something, and is to return nothing")
    if seen.text == "missing":
        return Told(f"{seen.function} has too few parameters: parameter {seen.count + 1} is missing")
    text = (
        f"{seen.function}: parameter {seen.count + 1} is declared as {seen.text}, and minitorch hands over another type"
    )
    hint = "reduce_value is a float" if seen.function == "tensorReduce" and seen.text == "double" else ""
    return Told(text, hint)


def _assert(seen: Seen, source: Source) -> Told:
    return Told(f"{_code(seen)}: the assertion `{seen.text}` does not hold{_by(seen)}{_at(seen.line, source, False)}")


def _signal(seen: Seen, source: Source) -> Told:
    why = {
        "division": "divides by zero",
        "abort": "calls abort",
        "trap": "ends in a trap",
        "stack": "uses more stack than a thread has: an endless recursion, or large arrays in a function",
    }
    does = why.get(seen.text, "touches memory that is nobody's")
    return Told(f"{_code(seen)} {does}{_by(seen)}{_at(seen.line, source)}")


def _time(seen: Seen, source: Source) -> Told:
    text = f"{_code(seen)} does not end in time{_by(seen)} was last{_at(seen.line, source).removeprefix(',')}"
    if not seen.who:
        text = f"{_code(seen)} does not end in time"
    return Told(text, "does each loop of the kernel come to its end for every thread?")


def _index(seen: Seen, source: Source) -> Told:
    return Told(f"{_code(seen)}: index {seen.count} of an array {seen.text}{_by(seen)}{_at(seen.line, source)}")


def _division(seen: Seen, source: Source) -> Told:
    return Told(f"{_code(seen)} divides by zero{_by(seen)}{_at(seen.line, source)}")


def _local(seen: Seen, source: Source) -> Told:
    what = "an array of its own function" if seen.text.startswith("stack") else f"an array ({seen.text})"
    text = f"{_code(seen)} {_verb(seen.access)} beyond {what}{_by(seen)}{_at(seen.line, source)}"
    return Told(text, "how many axes can a tensor have?")


def _arithmetic(seen: Seen, source: Source) -> Told:
    what = "shifts by more bits than there are" if seen.kind == "shift" else f"a number of type {seen.text} overflows"
    return Told(f"{_code(seen)}: {what}{_by(seen)}{_at(seen.line, source)}")


# In the order in which they are told: what stands before is likelier to be the cause of what stands behind.
KINDS: Mapping[str, Callable[[Seen, Source], Told]] = {
    "missing": _missing,
    "signature": _signature,
    "assert": _assert,
    "room": _room,
    "direction": _direction,
    "pointer": _pointer,
    "copy": _copy,
    "launch": _launch,
    "stray": _stray,
    "host": _host,
    "barrier": _barrier,
    "index": _index,
    "local": _local,
    "bounds": _bounds,
    "freed": _freed,
    "misaligned": _misaligned,
    "division": _division,
    "race": _race,
    "signal": _signal,
    "time": _time,
    "unwritten": _unwritten,
    "unwritten copy": _unwritten_copy,
    "not copied": _not_copied,
    "free": _free,
    "leak": _leak,
    "shift": _arithmetic,
    "overflow": _arithmetic,
    "again": _again,
}
LOCAL = "local"  # what AddressSanitizer alone sees
HARMLESS = ("again",)  # told, and no mistake
RANK = {kind: rank for rank, kind in enumerate(KINDS)}
