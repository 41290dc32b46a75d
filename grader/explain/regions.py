"""Where a tensor is wrong, in words: one head, the padded columns, from a layer on, behind the mask.

For each axis, everything that is true of the wrong elements' indices is noted, in every case; what is true in all
cases is told. An axis of one index says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grader.explain.axes import Axes
from grader.explain.words import listed, numeral
from grader.explain.wrong import Mask, WrongCase, WrongTensor

VECTORS = (4, 8, 16)  # what loops are unrolled by
MOST_FACTS = 3  # that are told of one tensor
FEW = 3  # indices that are listed
LEAST_HALVED = 6  # indices from which on every second one says something
ROW = "row"  # all axes but the last, as one
IMPLIED = "implied"  # begins what holds of an axis since it is short, which is no evidence by itself
Fact = tuple[str | int, ...]


@dataclass(frozen=True)
class Region:
    """Where a tensor is wrong; empty words: everywhere, or in no pattern.

    Attributes:
        words: e.g. ``in the K third, at head 0``.
        facts: what they rest on, by axis.
    """

    words: str
    facts: tuple[tuple[str, Fact], ...] = ()


def region_of(tensor: WrongTensor) -> Region:
    """The region in which a tensor is wrong in all its cases."""
    per_case = [facts for one in tensor.cases if (facts := _facts(one))]
    if not per_case:
        return Region("")
    names = list(dict.fromkeys(axis for facts in per_case for axis in facts))
    told: list[tuple[str, Fact]] = []
    sloping = {d.masked_by for one in tensor.cases for d, n in zip(one.axes.details, one.axes.names, strict=True) if n}
    for name in names:
        known = [facts[name] for facts in per_case if name in facts]
        seen = dict.fromkeys(fact for own in known for fact in own if fact[0] != IMPLIED)
        common = [fact for fact in seen if all(fact in own or (IMPLIED, *fact) in own for own in known)]
        if common and not (name in sloping and common[0][0] in ("not first", "not last")):  # the mask's corner
            told.append((name, common[0]))
    axes = tensor.cases[0].axes
    words = [_say(axes, name, fact, tensor.public) for name, fact in told]
    return Region(", ".join([*words, *_beside(tensor)][:MOST_FACTS]), tuple(told))


# ---- what is true of the inputs there -----------------------------------------------------------------------


def _beside(tensor: WrongTensor) -> Iterator[str]:
    """What an input in the tensor's shape is at the wrong elements, and is not at the right ones."""
    names = set.intersection(*({n for n in one.case.inputs() if n != tensor.name} for one in tensor.cases))
    for name in sorted(names):
        values = [one.case.inputs()[name] for one in tensor.cases]
        pairs = list(zip(tensor.cases, values, strict=True))
        if any(value.shape != one.got.shape or value.dtype.kind != "f" for one, value in pairs):
            continue
        wrong = np.concatenate([value[one.wrong].astype(np.float64) for one, value in pairs])
        right = np.concatenate([value[~one.wrong & ~one.mute].astype(np.float64) for one, value in pairs])
        if min(len(wrong), len(right)) >= FEW and (words := _apart(wrong, right)):
            yield f"where `{name}` is {words}"


def _apart(wrong: NDArray[np.float64], right: NDArray[np.float64]) -> str:
    if wrong.max() < 0 <= right.min():
        return "negative"
    if wrong.min() > 0 >= right.max():
        return "positive"
    if np.abs(wrong).max() < np.abs(right).min():
        return "near 0"
    return "large" if np.abs(wrong).min() > np.abs(right).max() else ""


# ---- what is true of the indices of an axis ---------------------------------------------------------------


def _facts(one: WrongCase) -> dict[str, list[Fact]]:
    """For each axis that has more than one index: what is true of the wrong ones, the most telling first."""
    wrong, mute, found = one.divided, one.mute.reshape(one.axes.shape), {}
    for at, (name, size, details) in enumerate(zip(one.axes.names, one.axes.shape, one.axes.details, strict=True)):
        real = _real_size(one.axes, at)
        others = tuple(i for i in range(wrong.ndim) if i != at)
        hit = np.asarray(wrong.any(axis=others))
        silent = np.asarray(mute.all(axis=others))
        facts: list[Fact] = []
        masked = one.axes.index(details.masked_by) if details.masked_by else None
        if size > 1 and masked is not None:
            facts += _behind_mask(wrong, masked, at)
        elif size > 1 and real < size and not wrong.take(range(real), at).any():
            facts.append(("padding",))
        elif real > 1:
            facts += _indices(np.flatnonzero(hit[:real]), np.flatnonzero(~hit & ~silent), real, bool(details.names))
        facts += _chosen(one, at, wrong, mute)
        if size > 1:
            found[name or f"axis {at}"] = facts
    if one.got.ndim > 2:
        found[ROW] = list(_rows(one))
    return found


def _rows(one: WrongCase) -> Iterator[Fact]:
    """Whether every second row is wrong, whatever its indices are."""
    hit, silent = (table.reshape(-1, one.got.shape[-1]) for table in (one.wrong, one.mute))
    right = np.flatnonzero(~hit.any(1) & ~silent.all(1))
    yield from (f for f in _indices(np.flatnonzero(hit.any(1)), right, len(hit), False) if f == ("second",))


def _real_size(axes: Axes, at: int) -> int:
    bound = axes.details[at].padded_from
    return min(int(axes.params[bound]), axes.shape[at]) if bound in axes.params else axes.shape[at]


def _indices(hit: NDArray[np.int64], right: NDArray[np.int64], size: int, named: bool) -> Iterator[Fact]:
    """What is true of the wrong ones of ``size`` indices; ``right``: those where right values say something."""
    if len(hit) == size:
        yield from ((IMPLIED, "tail", width) for width in VECTORS if width > size)
        return
    if len(right) == 0 or len(hit) == 0:
        return
    first, last, count = int(hit[0]), int(hit[-1]), len(hit)
    if named:
        yield ("named", *(int(i) for i in hit))
        return
    if count == 1:
        if first == 0:
            yield ("first",)
        elif last == size - 1:
            yield ("last",)
        yield ("at", first)
    if last == size - 1 and count == size - first:
        if first == 1:
            yield ("not first",)
        yield from (("tail", width) for width in VECTORS if first == size // width * width)
        yield ("from", first)
    if first == 0 and count == last + 1:
        if last == size - 2:
            yield ("not last",)
        yield ("up to", last)
    if size >= LEAST_HALVED and any(np.array_equal(hit, np.arange(start, size, 2)) for start in (0, 1)):
        yield ("second",)
    if count <= FEW:
        yield ("some", *(int(i) for i in hit))


def _behind_mask(wrong: Mask, by: int, at: int) -> Iterator[Fact]:
    """What is true of an index beside that of the axis that masks it."""
    pairs = np.moveaxis(wrong, (by, at), (0, 1)).reshape(wrong.shape[by], wrong.shape[at], -1).any(-1)
    rows, columns = np.nonzero(pairs)
    if (columns > rows).all():
        yield ("masked",)
    if (columns == rows).all():
        yield ("diagonal",)
    if (columns < rows).all():
        yield ("before",)
    if (columns == 0).all():
        yield ("first",)


def _chosen(one: WrongCase, at: int, wrong: Mask, mute: Mask) -> Iterator[Fact]:
    """Whether the wrong elements are those that a whole-numbered input names."""
    details = one.axes.details[at]
    inputs = one.case.inputs() if details.chosen_by else {}
    for name in details.chosen_by:
        if name not in inputs or one.axes.shape[at] < 2:
            continue
        indices = inputs[name].astype(np.int64)
        if at == indices.ndim and one.axes.shape[:at] == indices.shape:
            named = indices[..., None] == np.arange(one.axes.shape[at])
            if np.array_equal(named, wrong):
                yield ("named by", name)
            elif not (named & wrong).any() and (wrong | mute | named).take(range(_real_size(one.axes, at)), at).all():
                yield ("not named by", name)
        elif at == 0:
            counts = np.bincount(indices.reshape(-1), minlength=one.axes.shape[0])
            rows = wrong.reshape(wrong.shape[0], -1).any(1)
            if (counts > 1).any() and (counts == 1).any() and np.array_equal(rows, counts > 1):
                yield ("several times in", name)


# ---- in words ----------------------------------------------------------------------------------------------

_SHAPES: dict[str, str] = {
    "second": "at every second {axis}",
    "first": "at {axis} 0",
    "last": "at the last {axis}",
    "not first": "at every {axis} but the first",
    "not last": "at every {axis} but the last",
    "padding": "in the padding, {axis} >= {bound}",
    "masked": "behind the mask, where {axis} > {mask}",
    "diagonal": "on the diagonal, where {axis} = {mask}",
    "before": "below the diagonal, where {axis} < {mask}",
    "named by": "at the {axis} that `{first}` names",
    "not named by": "at every {axis} but the one that `{first}` names",
    "several times in": "in the rows of what stands several times in `{first}`",
}


def _say(axes: Axes, name: str, fact: Fact, public: bool) -> str:
    at = axes.index(name)
    details = axes.details[at] if at is not None else None
    axis = (details.says if details else "") or (name if at is not None or name == ROW else f"{name} =")
    kind, *numbers = fact
    if details and kind == "named":
        own = [details.names[int(n)] for n in numbers]
        return f"in the {listed(own)} {name}{'s' if len(own) > 1 else ''}"
    if str(kind) in _SHAPES:
        bound, mask = (details.padded_from, details.masked_by) if details else ("", "")
        return _SHAPES[str(kind)].format(
            axis=axis if kind != "masked" else name, bound=bound, mask=mask, first=fact[-1]
        )
    if kind == "tail":
        return f"behind the last multiple of {numeral(int(numbers[0]))} of {axis}"
    flows_down = bool(details and details.passed_last_first)
    return _numbered(str(kind), axis, [int(n) for n in numbers], flows_down, public)


def _numbered(kind: str, axis: str, numbers: list[int], flows_down: bool, public: bool) -> str:
    if not public:
        return {"at": f"at one {axis}", "from": f"from some {axis} on", "up to": f"up to some {axis}"}.get(
            kind, f"at few {axis}s"
        )
    if kind == "at":
        return f"at {axis} {numbers[0]}"
    if kind == "from":
        return f"from {axis} {numbers[0]} on"
    if kind == "up to":
        return f"from {axis} {numbers[0]} down" if flows_down else f"up to {axis} {numbers[0]}"
    return f"at {axis} {listed([str(n) for n in numbers])}"
