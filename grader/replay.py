"""A result made again: what differs, in what it was made from and in what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from grader.result import FixtureInfo, Record, Result

SCHEMA = "tensorgrade/replay/1"
NONE = "none"
HERE = "(the submission)"
Facts = Mapping[str, str]
# Of a result, what is compared on its own as provenance, and what is not compared.
PROVENANCE = {"grader", "sandbox", "fixtures", "beside", "build", "provenance", "options", "machine"}
NOT_COMPARED = {"timing", "schema"}
NAMES = ("id", "tensor", "set", "check")  # what tells an entry of a list from the others, in this order
WHOLE = {"picture", "series", "call_steps", "explanations"}  # told as one difference


class Difference(Record):
    """One thing that is not as it was."""

    what: str = Field(description="e.g. `compiler`, or `rows.adamw.points`")
    before: str
    now: str


class Replayed(Record):
    """A result beside the same made again."""

    schema_: str = Field(default=SCHEMA, serialization_alias="schema")
    assignment: str
    score_before: int
    score_now: int
    provenance: list[Difference] = Field(description="in what it was made from")
    result: list[Difference] = Field(description="in what came of it")
    machine: list[Difference] = Field(description="in where it was made; by itself this decides nothing")

    @property
    def same(self) -> bool:
        """Whether it was made from the same, and the same came of it."""
        return not self.provenance and not self.result


def compare(before: Result, now: Result, places: Sequence[str] = ()) -> Replayed:
    """What differs between a result and the same made again; durations, and where the submission lay, do not count.

    Args:
        before: the result.
        now: the same made again.
        places: names of the place where the submission lies now, as sentences may tell it.
    """
    old, new = (_compared(result, (*places, before.submission.origin)) for result in (before, now))
    return Replayed(
        assignment=before.assignment,
        score_before=before.score,
        score_now=now.score,
        provenance=list(_differing(_facts(before), _facts(now))),
        result=list(_walk("", old, new)),
        machine=list(_differing([_said_of("", before.machine)], [_said_of("", now.machine)])),
    )


def placeless(result: Result) -> Result:
    """A result without what is said of when, where, as what and behind which sandbox it was made: the rest is the same
    bytes wherever the same is graded.
    """
    submission = result.submission.model_copy(update={"origin": ""})
    return result.model_copy(update={"timing": {}, "machine": None, "sandbox": "", "submission": submission})


def _differing(before: Sequence[Facts | None], now: Sequence[Facts | None]) -> Iterator[Difference]:
    """The facts that differ, group by group; a group that a result does not tell says nothing."""
    for old, new in zip(before, now, strict=True):
        if old is None or new is None:
            continue
        for what in dict.fromkeys([*old, *new]):
            if old.get(what, NONE) != new.get(what, NONE):
                yield Difference(what=what, before=old.get(what, NONE), now=new.get(what, NONE))


def _facts(result: Result) -> list[Facts | None]:
    """All that a result was made from, in groups, in the order in which a difference is worth knowing."""
    files = {f"submitted {name}": value for name, value in result.submission.hashes.items()}
    sets = {f"fixtures {one.set}": one.digest for one in _sets(result)}
    made, build = result.provenance, result.build
    tools = {"compiler": f"{build.compiler}: {build.version}", "flags": " ".join(build.flags)} if build else {}
    return [
        {**files, **sets},
        {"tolerances": made.tolerances, "assignment": made.assignment} if made else None,
        {"grader's version": result.grader},
        {"grader's code": made.grader} if made else None,
        {**tools, "sandbox": result.sandbox},
        {f"cases of {check}": value for check, value in made.replaced.items()} if made else None,
        {f"seed of {case}": str(seed) for case, seed in made.seeds.items()} if made else None,
        _said_of("option ", result.options),
    ]


def _said_of(prefix: str, record: Record | None) -> Facts | None:
    """A record's fields as facts."""
    return None if record is None else {f"{prefix}{name}": _said(value) for name, value in record.model_dump().items()}


def _sets(result: Result) -> list[FixtureInfo]:
    return [*result.beside, result.fixtures]


def _compared(result: Result, places: Sequence[str]) -> dict[str, Any]:
    """What came of it, without what it was made from, and where that lay."""
    left_out = PROVENANCE | NOT_COMPARED
    found = {k: v for k, v in result.model_dump(mode="json", by_alias=True).items() if k not in left_out}
    found["submission"] = {k: v for k, v in found["submission"].items() if k not in ("origin", "hashes")}
    placed: dict[str, Any] = _placed(found, sorted(filter(None, places), key=len, reverse=True))
    return placed


def _placed(value: Any, places: Sequence[str]) -> Any:  # noqa: ANN401 (JSON)
    """The value with one name for all places."""
    if isinstance(value, dict):
        return {key: _placed(one, places) for key, one in value.items()}
    if isinstance(value, list):
        return [_placed(one, places) for one in value]
    if isinstance(value, str):
        for place in places:
            value = value.replace(f" {place}", f" {HERE}")
    return value


def _walk(path: str, before: Any, now: Any) -> Iterator[Difference]:  # noqa: ANN401 (JSON)
    """The leaves that differ."""
    if before == now:
        return
    whole = path.rpartition(".")[2] in WHOLE
    if not whole and isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*before, *now]):
            yield from _walk(f"{path}.{key}" if path else key, before.get(key), now.get(key))
    elif not whole and _named(before) and _named(now):
        yield from _walk(path, _by_name(before), _by_name(now))
    else:
        yield Difference(what=path, before=_said(before), now=_said(now))


def _named(value: object) -> bool:
    """Whether it is a list whose entries have names of their own."""
    return isinstance(value, list) and all(isinstance(one, dict) and any(n in one for n in NAMES) for one in value)


def _by_name(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The entries by their names; of those with one name, the second and later are numbered."""
    found: dict[str, Any] = {}
    for one in entries:
        name = str(next(one[key] for key in NAMES if key in one))
        same = sum(known.partition("#")[0] == name for known in found)
        found[f"{name}#{same + 1}" if same else name] = one
    return found


def _said(value: object) -> str:
    if value is None:
        return NONE
    if isinstance(value, list) and value and all(isinstance(one, str | int | float) for one in value):
        return ", ".join(map(str, value))
    if isinstance(value, list | dict):
        return f"{len(value)} of them" if value else NONE
    return str(value)
