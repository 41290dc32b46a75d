"""The difference of the calls that were made from the right ones, in the names of the struct's fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from grader.call_steps import Step, arguments, function_of, layer_of
from grader.calls import Call
from grader.explain.words import listed
from grader.result import CallStep

MOST_SAID = 3
_LAYERED = re.compile(r"\[l=(\d+)\]")
Values = Mapping[str, str | int]


@dataclass(frozen=True)
class Sizes:
    """A case's sizes, which name numbers; ``public``: whether the numbers themselves may be told."""

    sizes: Mapping[str, int]
    public: bool = True

    def name(self, value: str | int | None, sure: bool = False) -> str:
        """A number with its likely name; ``sure``: only where no other size has that value."""
        if not isinstance(value, int):
            return str(value)
        names = dict(self.sizes)
        names |= {f"{k}*{name}": k * size for k in (2, 3, 4) for name, size in self.sizes.items()}
        if {"B", "T", "C"} <= self.sizes.keys():
            row = self.sizes["B"] * self.sizes["T"]
            names |= {"B*T": row, "B*T*C": row * self.sizes["C"], "B*T*4*C": 4 * row * self.sizes["C"]}
        found = [name for name, size in names.items() if size == value and size > 1]
        known = found[0] if found and (len(found) == 1 or not sure) else ""
        if not self.public:
            return known or "something else"
        return f"{value} ({known})" if known else str(value)

    def shown(self, call: Call | None) -> dict[str, str | int]:
        """The arguments of a call, as they may be told."""
        found = arguments(call) if call else {}
        return found if self.public else {n: self.name(v) if isinstance(v, int) else v for n, v in found.items()}


@dataclass(frozen=True)
class Said:
    """A sentence about some steps: ``what`` of ``whom``, in these layers."""

    whom: str
    what: str
    layers: tuple[int | None, ...]


def in_words(steps: Sequence[Step], right_layers: Sequence[int], sizes: Sizes) -> list[str]:
    """What differs, each kind of difference once, with the layers in which it does.

    Args:
        steps: the aligned records.
        right_layers: the layers in the order in which they should be gone through.
        sizes: the case's sizes.
    """
    if (order := _order_of_layers(steps, right_layers)) is not None:
        return [order]
    one_layer = _all_of_one_layer(steps)
    if one_layer is not None:
        return [one_layer]
    found: dict[tuple[str, str], list[int | None]] = {}
    for step in steps:
        if step.kind != "same":
            found.setdefault((_whom(step, steps), _what(step, steps, sizes)), []).append(step.layer)
    said = [Said(whom, what, tuple(dict.fromkeys(layers))) for (whom, what), layers in found.items()]
    sentences = [_sentence(one, right_layers) for one in _whole_layers(said, steps)]
    more = len(sentences) - MOST_SAID
    return sentences[:MOST_SAID] + ([f"and {more} more such difference{'s' if more > 1 else ''}"] if more > 0 else [])


def about(steps: Sequence[Step]) -> Literal["layers", "sizes", "calls"]:
    """What the differences are about: tensors of the wrong layer alone, sizes alone, or anything else."""
    kinds = set()
    for step in steps:
        made, right = arguments(step.made or {}), arguments(step.right or {})
        if step.kind not in ("same", "changed"):
            return "calls"
        for name in step.wrong:
            if isinstance(right.get(name), int):
                kinds.add("sizes")
            else:
                kinds.add("layers" if _base(made.get(name, "")) == _base(right.get(name, "")) else "calls")
    return "layers" if kinds == {"layers"} else "sizes" if kinds == {"sizes"} else "calls"


def records(steps: Sequence[Step], sizes: Sizes) -> list[CallStep]:
    """The steps as they stand in the result; places count from 1."""
    return [
        CallStep(
            kind=step.kind,
            function=function_of(step.call),
            layer=step.layer,
            made_at=None if step.made_at is None else step.made_at + 1,
            right_at=None if step.right_at is None else step.right_at + 1,
            made=sizes.shown(step.made),
            right=sizes.shown(step.right),
            wrong=step.wrong,
            text="" if step.kind == "same" else _alone(step, steps, sizes),
        )
        for step in steps
    ]


def _alone(step: Step, steps: Sequence[Step], sizes: Sizes) -> str:
    where = "" if step.layer is None else f"layer {step.layer}: "
    return f"{where}{_whom(step, steps)} {_what(step, steps, sizes)}"


def _sentence(said: Said, right_layers: Sequence[int]) -> str:
    layers = [layer for layer in said.layers if layer is not None]
    text = f"{said.whom} {said.what}".strip()
    if not layers:
        return text
    if len(layers) == len(right_layers) > 1:
        return f"in every layer: {text}"
    return f"layer{'s' if len(layers) > 1 else ''} {listed([str(layer) for layer in layers])}: {text}"


# ---- whom --------------------------------------------------------------------------------------------------


def _base(value: str | int) -> str:
    return _LAYERED.sub("", str(value))


def _whom(step: Step, steps: Sequence[Step]) -> str:
    """The function, and which of its calls where a layer has several: by an argument that tells them apart."""
    function = function_of(step.call)
    right = [s.right for s in steps if s.right is not None and function_of(s.right) == function]
    argument = _telling(right)
    value = arguments(step.call).get(argument, "")
    return f"{function} for {_base(value)}" if value else function


def _telling(calls: Sequence[Call]) -> str:
    """The first argument that differs between the calls of each layer, and is the same ones in all layers."""
    by_layer: dict[int | None, list[Values]] = {}
    for call in calls:
        by_layer.setdefault(layer_of(call), []).append(arguments(call))
    layers = [own for layer, own in by_layer.items() if layer is not None] or list(by_layer.values())
    if all(len(own) < 2 for own in layers) and not (None in by_layer and len(by_layer) > 1):
        return ""
    for name in arguments(calls[0]):
        bases = [[_base(own[name]) for own in layer] for layer in layers]
        if all(len(set(one)) == len(one) and one == bases[0] for one in bases):
            return name
    return ""


# ---- what --------------------------------------------------------------------------------------------------


def _what(step: Step, steps: Sequence[Step], sizes: Sizes) -> str:
    if step.kind == "missing":
        return "is not called"
    if step.kind == "extra":
        return "is called where it should not be"
    if step.kind == "moved":
        return f"is called {_where(step, steps)}"
    made, right = arguments(step.made or {}), arguments(step.right or {})
    wrong = step.wrong
    swapped = _swapped(made, right, wrong)
    rest = [name for name in wrong if name not in swapped]
    parts = [f"got {swapped[0]} and {swapped[1]} swapped"] if swapped else []
    parts += [_argument(name, made.get(name), right[name], sizes) for name in rest]
    return "; ".join(parts[:MOST_SAID])


def _where(step: Step, steps: Sequence[Step]) -> str:
    """Too early, or too late, and behind which call it belongs."""
    assert step.made_at is not None
    assert step.right_at is not None
    before = [s for s in steps if s.right_at == step.right_at - 1]
    behind = f", should be right after {_whom(before[0], steps)}" if before else ", should be the first"
    passed = [s for s in steps if s.kind in ("same", "changed") and s.made_at is not None and s.right_at is not None]
    early = any(s.made_at > step.made_at and s.right_at < step.right_at for s in passed)  # type: ignore[operator]
    return f"too {'early' if early else 'late'}{behind}"


def _swapped(made: Values, right: Values, wrong: Sequence[str]) -> tuple[str, ...]:
    for i, one in enumerate(wrong):
        for other in wrong[i + 1 :]:
            if made.get(one) == right[other] and made.get(other) == right[one]:
                return one, other
    return ()


def _argument(name: str, mine: str | int | None, theirs: str | int, sizes: Sizes) -> str:
    """One wrong argument."""
    if isinstance(theirs, int):
        return f"got {name} = {sizes.name(mine, sure=True)}, should be {sizes.name(theirs)}"
    got, right = str(mine), theirs
    if got == "NULL":
        return f"got NULL as {name}, should be {_base(right)}"
    if _base(got) == _base(right):
        return f"got {name} of the wrong layer: {_relative(got, right)}"
    return f"got {_base(got)} as {name}, should be {_base(right)}"


def _relative(got: str, right: str) -> str:
    """Which layer's tensor it got, told so that like mistakes of several layers read alike."""
    mine, theirs = (_LAYERED.search(text) for text in (got, right))
    if mine is None or theirs is None:
        return f"{got}, should be {right}"
    if int(mine[1]) == 0:
        return f"{_base(got)} of layer 0"
    by = int(mine[1]) - int(theirs[1])
    return (
        f"{_base(got)} of the layer {'above' if by > 0 else 'below'}" if abs(by) == 1 else f"{got}, should be {right}"
    )


# ---- many at once ------------------------------------------------------------------------------------------


def _order_of_layers(steps: Sequence[Step], right_layers: Sequence[int]) -> str | None:
    """Whether all calls are made, and the layers are gone through in another order."""
    if len(right_layers) < 2 or any(step.kind not in ("same", "moved") for step in steps):
        return None
    made = [layer for step in steps if (layer := step.layer) is not None and step.made is not None]
    order = list(dict.fromkeys(made))
    if order == list(right_layers) or sorted(order) != sorted(right_layers) or made != sorted(made, key=order.index):
        return None
    if order == sorted(order):
        return "the layers are gone through from the first to the last, should be from the last to the first"
    return f"the layers are gone through in the order {listed([str(n) for n in order])}"


def _all_of_one_layer(steps: Sequence[Step]) -> str | None:
    """Whether every difference is that tensors of a group are those of one layer in all layers."""
    changed = [step for step in steps if step.kind != "same"]
    if len(changed) < 2 or any(step.kind != "changed" for step in changed):
        return None
    groups, layers = set(), set()
    for step in changed:
        made, right = arguments(step.made or {}), arguments(step.right or {})
        for name in step.wrong:
            got = str(made.get(name))
            found = _LAYERED.search(got)
            if found is None or _base(got) != _base(right[name]):
                return None
            groups.add(got.split(".", 1)[0])
            layers.add(int(found[1]))
    if len(groups) != 1 or len(layers) != 1 or len({_whom(step, steps) for step in changed}) < 2:
        return None
    group, layer = groups.pop(), layers.pop()
    return f"every layer uses the {group} of layer {layer}"


def _whole_layers(said: Sequence[Said], steps: Sequence[Step]) -> list[Said]:
    """Calls that are all missing in a layer are told as one."""
    missing = [one for one in said if one.what == "is not called"]
    rest = [one for one in said if one not in missing]
    empty = _without_calls(steps)
    kept = []
    for one in missing:
        layers = tuple(layer for layer in one.layers if layer not in empty)
        if layers:
            kept.append(Said(one.whom, one.what, layers))
    whole = [Said(f"no call is made for layer {layer}", "", ()) for layer in empty]
    return [*whole, *kept, *rest]


def _without_calls(steps: Sequence[Step]) -> list[int]:
    layers = list(dict.fromkeys(layer for step in steps if step.right and (layer := layer_of(step.right)) is not None))
    return [n for n in layers if all(s.kind == "missing" for s in steps if s.right and layer_of(s.right) == n)]
