"""The calls that were made against the right ones: where they part, in the names of the interface."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

Call = dict[str, Any]


def without(calls: Sequence[Call], functions: Collection[str]) -> list[Call]:
    """The calls of other functions."""
    return [call for call in calls if call.get("function") not in functions]


def first_difference(got: Sequence[Call], right: Sequence[Call], sizes: bool = True) -> str | None:
    """The first difference as a sentence, with sizes or without; None where the calls are right, in order."""
    for step, (mine, theirs) in enumerate(zip(got, right, strict=False), start=1):
        if mine.get("function") != theirs["function"]:
            return f"call {step} is {mine.get('function')}, should be {_brief(theirs)}"
        wrong = _arguments(mine.get("args", {}), theirs["args"], sizes)
        if wrong:
            return f"call {step}, {theirs['function']}: {wrong}"
    if len(got) < len(right):
        return f"only {len(got)} of {len(right)} calls are made; next should be {_brief(right[len(got)])}"
    if len(got) > len(right):
        return f"{len(got)} calls are made, {len(right)} are right; too many from {_brief(got[len(right)])} on"
    return None


def _brief(call: Call) -> str:
    arguments = call.get("args", {})
    first = next(iter(arguments.values()), "")
    return f"{call.get('function')}({first}, …)"


def _arguments(mine: dict[str, Any], theirs: dict[str, Any], sizes: bool) -> str:
    wrong = [name for name, value in theirs.items() if mine.get(name) != value]
    if len(wrong) == 2:
        a, b = wrong
        if mine.get(a) == theirs[b] and mine.get(b) == theirs[a]:
            return f"`{a}` and `{b}` are swapped"
    told = [
        f"`{name}` is {mine.get(name)}, should be {theirs[name]}"
        if sizes or not isinstance(theirs[name], int)
        else f"`{name}` is not the right size"
        for name in wrong[:3]
    ]
    return "; ".join(told)
