"""Cases that do not end well, or are wrong, beside those that do: what the first have and the others have not."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from grader import tensorfile
from grader.fixtures import FixtureCase

MOST_SIZES = 2  # that are named together


def what_tells_apart(cases: Sequence[FixtureCase], bad: Collection[str], pointers: bool = True) -> str:
    """What all bad cases have and no good one has, e.g. ``B > 1`` or ``dbias is NULL``; empty: nothing known.

    Args:
        cases: all of them.
        bad: the ids of the bad ones.
        pointers: whether an input that a case lacks is passed as NULL.
    """
    wrong = [case for case in cases if case.id in bad]
    good = [case for case in cases if case.id not in bad]
    if not wrong or not good:
        return ""
    return (_lacking(wrong, good) if pointers else "") or _size_of_one(wrong, good) or _equal_sizes(wrong, good)


def _lacking(wrong: Sequence[FixtureCase], good: Sequence[FixtureCase]) -> str:
    """An input that the bad cases lack: it is passed as NULL."""
    inputs = {case.id: set(tensorfile.read(case.inputs_path)) for case in (*wrong, *good)}
    there = set.intersection(*(inputs[case.id] for case in good))
    lacking = [name for name in sorted(there) if all(name not in inputs[case.id] for case in wrong)]
    return f"{lacking[0]} is NULL" if lacking else ""


def _size_of_one(wrong: Sequence[FixtureCase], good: Sequence[FixtureCase]) -> str:
    """A size that is 1 in all good cases and more in all bad ones; where many are, it may be any of them."""
    found = []
    for name in wrong[0].entry.params:
        sizes = [case.entry.params.get(name) for case in wrong]
        others = [case.entry.params.get(name) for case in good]
        if all(size == 1 for size in others) and all(isinstance(size, int) and size > 1 for size in sizes):
            found.append(f"{name} > 1")
    return " and ".join(found) if len(found) <= MOST_SIZES else ""


def _equal_sizes(wrong: Sequence[FixtureCase], good: Sequence[FixtureCase]) -> str:
    """Two sizes, one named after the other (V, Vp), that are equal in the good cases alone."""
    names = [n for n in wrong[0].entry.params if all(n in case.entry.params for case in (*wrong, *good))]
    for name in names:
        for longer in (other for other in names if other != name and other.startswith(name)):
            apart = [case.entry.params[name] != case.entry.params[longer] for case in wrong]
            equal = [case.entry.params[name] == case.entry.params[longer] for case in good]
            if all(apart) and all(equal):
                return f"{longer} > {name}"
    return ""
