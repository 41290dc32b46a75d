"""What the dictionary does not know, described: which tensors, where in them, and what their values look like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grader.explain.endings import what_tells_apart
from grader.explain.flow import FirstWrong, first_wrong
from grader.explain.nonfinite import Seen
from grader.explain.observed import Observed
from grader.explain.patterns import Scene, pattern_of
from grader.explain.regions import region_of
from grader.explain.words import listed
from grader.explain.wrong import WrongTensor, wrong_tensor

MOST = 5  # descriptions
FORMULA = "check its formula on paper, term by term"
REST = "what is different there from the rest of {}?"
SEPARATE = 3  # tensors of a model without a pattern that are told one by one; of more, where it begins


@dataclass(frozen=True)
class Description:
    """A sentence about some wrong tensors.

    Attributes:
        tensors: which.
        cases: in which cases.
        place: the sentence without what the values look like.
        text: the whole sentence.
        hint: what to think about.
        numbers: what was measured.
        pattern: whether something is said of the values.
        vague: whether nothing is said but that they are wrong.
    """

    tensors: tuple[str, ...]
    cases: tuple[str, ...]
    place: str
    text: str
    hint: str = ""
    numbers: str = ""
    pattern: bool = False
    vague: bool = False


@dataclass(frozen=True)
class _Looked:
    """A wrong tensor with what is seen in it."""

    tensor: WrongTensor
    region: str
    apart: str
    seen: Seen | None


def describe(observed: Observed, tensors: Sequence[str], public: bool) -> list[Description]:
    """The descriptions of these wrong tensors."""
    wrong = [found for name in tensors if (found := wrong_tensor(observed, name, observed.wrong[name], public))]
    looked = [_look(observed, tensor) for tensor in wrong]
    alike: dict[tuple[str, str, str], list[_Looked]] = {}
    for one in looked:
        alike.setdefault((one.seen.says if one.seen else "", one.region, one.apart), []).append(one)
    groups = sorted(alike.values(), key=lambda group: group[0].seen is None)
    first = first_wrong(observed, wrong, _right_calls(observed)) if wrong else None
    told = list(_flow(first, looked)) if first and (len(wrong) > SEPARATE or _broken(looked)) else []
    if len(groups) == 1 and groups[0][0].seen and not _broken(looked):
        told = []
    if causes := [group for group in groups if group[0].seen and group[0].seen.cause]:
        return [_description(observed, group) for group in causes]
    plain = [group for group in groups if group[0].seen is None]
    if told and sum(len(group) for group in plain) > SEPARATE:
        groups = [group for group in groups if group[0].seen is not None]
    return [*told, *(_description(observed, group) for group in groups)][:MOST]


def _look(observed: Observed, tensor: WrongTensor) -> _Looked:
    seen = [case for case in observed.fixtures if case.id in observed.cases]
    apart = what_tells_apart(seen, observed.wrong[tensor.name], observed.assignment.buffers)
    return _Looked(tensor, region_of(tensor).words, apart, pattern_of(Scene(tensor, observed)))


def _description(observed: Observed, group: Sequence[_Looked]) -> Description:
    names = tuple(one.tensor.name for one in group)
    cases = tuple(dict.fromkeys(case for name in names for case in observed.wrong[name]))
    region, apart, seen = group[0].region, group[0].apart, group[0].seen
    where = f" only {region}" if region else ""
    where += f"{',' if region else ''} only in the cases where {apart}" if apart else ""
    verb = "is" if len(names) == 1 else "are"
    subject = listed(observed.spoken(names))
    place = f"{subject} {verb} wrong{where or _share(group)}"
    if seen is None:
        hint = observed.hint(names[0]) or (REST.format(subject) if where else FORMULA)
        return Description(names, cases, place, place, hint, vague=not where)
    subject = subject if len(names) == 1 else f"each of {subject}"
    if seen.cause and observed.check.allocates:
        seen = replace(seen, says=f"{seen.says}; {observed.check.function} allocates {observed.check.allocates}")
    text = f"{subject} {seen.says}" if seen.placed or not where else f"{place}; there, it {seen.says}"
    return Description(names, cases, place, text, seen.hint, seen.numbers, True)


def _share(group: Sequence[_Looked]) -> str:
    wrong = sum(one.tensor.elements for one in group)
    size = sum(case.wrong.size for one in group for case in one.tensor.cases)
    if all(case.wrong.size == 1 for one in group for case in one.tensor.cases):
        return ""  # it has one element
    if wrong == size:
        return " in every element"
    return " in nearly all elements" if wrong > 0.9 * size else f" in {100 * wrong / size:.0f} % of the elements"


# ---- a model's gradients -----------------------------------------------------------------------------------


def _right_calls(observed: Observed) -> list[dict[str, object]]:
    """The right calls of the case with most of them."""
    return max((case.calls for case in observed.fixtures), key=len, default=[])


def _broken(looked: Sequence[_Looked]) -> bool:
    return any(not np.isfinite(case.got).all() for one in looked for case in one.tensor.cases)


def _flow(first: FirstWrong, looked: Sequence[_Looked]) -> Iterator[Description]:
    """Where on its way through the model the gradient goes wrong."""
    names = tuple(one.tensor.name for one in looked)
    cases = tuple(dict.fromkeys(case.case.id for one in looked for case in one.tensor.cases))
    what = "is not a number" if _broken(looked) else "is wrong"
    start = f"{first.stop} is the first gradient that {what}"
    start = f"the gradient {what} from {first.stop} on" if first.all_behind else start
    before = f"; what comes before it, {first.before} last, is right" if first.before else ", from the very beginning"
    writer = f"look at the {first.writer} that fills {first.stop}, and at what it is given" if first.writer else ""
    yield Description(names, cases, start + before, start + before, writer)
