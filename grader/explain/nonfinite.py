"""Numbers that are none: where they come first, and what the inputs are there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grader.explain.observed import Float
from grader.explain.wrong import WrongCase, WrongTensor

HUGE = 1e30  # what memory holds that was handed out and never written: the sandbox fills it with such numbers


@dataclass(frozen=True)
class Seen:
    """What a pattern sees.

    Attributes:
        says: completes "dinp …".
        hint: what to think about.
        numbers: what was measured, for those who want it.
        cause: whether what else is wrong follows from it.
        placed: whether it says where.
    """

    says: str
    hint: str
    numbers: str = ""
    cause: bool = False
    placed: bool = False


def rubbish(tensor: WrongTensor) -> Seen | None:
    """Memory that was never set."""

    def huge(one: WrongCase) -> bool:
        values = np.abs(one.got[np.isfinite(one.got)])
        return bool(values.max(initial=0.0) > HUGE) or (one.before is None and bool(np.isinf(one.got).any()))

    if not any(huge(one) for one in tensor.cases):
        return None
    return Seen(
        "holds numbers like 3e38 or infinity, as uninitialised memory does",
        "malloc hands out memory as it is: what has to be done before it is added to?",
        cause=True,
    )


def not_finite(tensor: WrongTensor) -> Seen | None:
    """NaN, or infinity, with what the inputs are where it stands."""
    broken = [one for one in tensor.cases if not np.isfinite(one.got).all()]
    if not broken:
        return None
    for name in _beside(broken):
        if all(np.array_equal(~np.isfinite(one.got), _input(one, name) == 0.0) for one in broken):
            return Seen(f"is not a number exactly where `{name}` is 0", "0/0: what is divided by there?", placed=True)
        if all(_only_large(one, name) for one in broken):
            says = f"is not a number exactly where `{name}` is large"
            return Seen(says, "an exp or a cosh overflows there: infinity minus, or by, infinity", placed=True)
    everywhere = all(not np.isfinite(one.got).any() for one in broken)
    first = broken[0]
    index = np.unravel_index(int(np.argmax(~np.isfinite(first.got))), first.got.shape)
    place = f", first at [{', '.join(str(int(i)) for i in index)}]" if tensor.public and not everywhere else ""
    says = "is not a number anywhere" if everywhere else f"is not a number in places{place}"
    return Seen(says, "0/0, a root of something negative, an overflow, or an element that was read and never set")


def _input(one: WrongCase, name: str) -> Float:
    return np.broadcast_to(np.abs(one.case.inputs()[name].astype(np.float64)), one.got.shape)


def _beside(broken: list[WrongCase]) -> list[str]:
    """Inputs in the tensor's shape, element by element beside it, and the buffer itself not among them."""
    one = broken[0]
    return [
        name
        for name, value in one.case.inputs().items()
        if np.issubdtype(value.dtype, np.floating)
        and value.shape in (one.got.shape, one.got.shape[1:])
        and one.before is not None
        and not np.array_equal(np.broadcast_to(value, one.got.shape), one.before)
    ]


def _only_large(one: WrongCase, name: str) -> bool:
    size, broken = _input(one, name), ~np.isfinite(one.got)
    return bool(not broken.all() and size[broken].min() > size[~broken].max())
