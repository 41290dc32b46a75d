"""The explanations of one failed check, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.call_steps import function_of, layer_of
from grader.explain import calls as call_words
from grader.explain.descriptions import Description, describe
from grader.explain.dictionary import Lookup, Match
from grader.explain.endings import what_tells_apart
from grader.explain.levels import Level
from grader.explain.observed import Observed
from grader.explain.record import Record, differing_record
from grader.explain.words import listed
from grader.judge import Explained
from grader.result import Explanation

PLACE = "into which buffer does the result go?"
CALLS = {
    "calls": "beside the forward pass, read from its last line up: which call stands where, on which tensors?",
    "layers": "which layer do the pointers of the loop's body belong to?",
    "sizes": "compare the sizes with those of the forward's call",
}


def explain(observed: Observed, level: Level, public: bool) -> Explained:
    """The explanations of a failed check, best first.

    Args:
        observed: the check.
        level: how much is told.
        public: whether indices and measured numbers may be told.
    """
    if level == "none":
        return Explained()
    record = differing_record(observed)
    if level == "where":
        return Explained(list(_places(observed, record, public)))
    matches = Lookup(observed).matches()
    named = list(_of_named(observed))
    found = [*named, *(_of_match(observed, match, level) for match in matches)]
    explained = {tensor for match in matches for tensor in match.tensors}
    whole = any(match.whole for match in matches)
    found += [*_of_writes(observed), *_of_record(record, public, whole)]
    if record is None:
        rest = [tensor for tensor in observed.wrong if tensor not in explained]
        told = bool(named or observed.judged.detail)  # the cause is told: that all is wrong adds nothing
        described = [one for one in describe(observed, rest, public) if not (told and one.vague)]
        found += [_of_description(one, level == "full" and public) for one in described]
    found += _of_endings(observed)
    steps = call_words.records(record.steps, call_words.Sizes(record.sizes, public)) if record else []
    return Explained(found, steps, record.case if record else "")


def _places(observed: Observed, record: Record | None, public: bool) -> Iterator[Explanation]:
    """Where it is wrong, and nothing of why."""
    if record is not None:
        first = next(step for step in record.steps if step.kind != "same")
        layer = "" if first.layer is None else f" of layer {first.layer}"
        text = f"the calls part from the right ones at {first.call.get('function')}{layer}"
        yield Explanation(kind="calls", text=text, hint="", fault=None, tensors=[], cases=[record.case])
        return
    for one in describe(observed, list(observed.wrong), public):
        yield Explanation(
            kind="place", text=one.place, hint="", fault=None, tensors=list(one.tensors), cases=list(one.cases)
        )
    yield from _of_endings(observed)


# ---- a known mistake ---------------------------------------------------------------------------------------


def _of_named(observed: Observed) -> Iterator[Explanation]:
    """Known mistakes after which there is nothing to compare."""
    for fault in observed.dictionary.of_check(observed.owner):
        if fault.id in observed.judged.named:
            text = f"this is what happens when {fault.says}"
            yield Explanation(kind="fault", text=text, hint=fault.hint, fault=fault.id, tensors=[], cases=[])


def _of_match(observed: Observed, match: Match, level: Level) -> Explanation:
    verb = "equals" if len(match.tensors) == 1 else "equal"
    cases = list(dict.fromkeys(case for tensor in match.tensors for case in observed.wrong[tensor]))
    text = f"{listed(observed.spoken(match.tensors))} {verb} what comes out when {_says(match)}"
    if level == "full":
        text += f" (within the limit, in {len(observed.cases)} case{'s' if len(observed.cases) != 1 else ''})"
    return Explanation(
        kind="fault",
        text=text,
        hint=_hints(match),
        fault="+".join(fault.id for fault in match.faults),
        tensors=list(match.tensors),
        cases=cases,
    )


def _says(match: Match) -> str:
    found = [match.faults, *match.alike]
    return ", or when ".join(dict.fromkeys(_both([fault.says for fault in faults]) for faults in found))


def _hints(match: Match) -> str:
    """What to think about; of mistakes that give the same, one after the other, as they are named."""
    hints: dict[str, str] = {}
    for faults in (match.faults, *match.alike):
        says = _both([fault.says for fault in faults])
        hints.setdefault(says, "; ".join(dict.fromkeys(fault.hint for fault in faults if fault.hint)))
    return " Or: ".join(dict.fromkeys(hint for hint in hints.values() if hint))


def _both(says: Sequence[str]) -> str:
    return says[0] if len(says) == 1 else f"two mistakes come together: {says[0]}; and {says[1]}"


# ---- the rest ----------------------------------------------------------------------------------------------


def _of_writes(observed: Observed) -> list[Explanation]:
    """Inputs that the code writes to: a result may have gone there."""
    if not (names := observed.judged.writes):
        return []
    text = f"{observed.check.function} writes to {listed(names)}, which it should only read"
    return [Explanation(kind="pattern", text=text, hint=PLACE, fault=None, tensors=[], cases=[])]


def _of_record(record: Record | None, public: bool, named: bool) -> list[Explanation]:
    """What the calls say; nothing where they differ in one thing, and a known mistake says it already."""
    if record is None:
        return []
    sentences = call_words.in_words(record.steps, record.layers, call_words.Sizes(record.sizes, public))
    if named and len(sentences) == 1:
        return []
    hint = CALLS[call_words.about(record.steps)]
    return [
        Explanation(kind="calls", text=text, hint="" if i else hint, fault=None, tensors=[], cases=[record.case])
        for i, text in enumerate(sentences)
    ]


def _of_description(one: Description, numbers: bool) -> Explanation:
    return Explanation(
        kind="pattern" if one.pattern else "place",
        text=one.text + (f" ({one.numbers})" if numbers and one.numbers else ""),
        hint=one.hint,
        fault=None,
        tensors=list(one.tensors),
        cases=list(one.cases),
    )


def _of_endings(observed: Observed) -> list[Explanation]:
    """What the cases that do not end well have, and the others have not; how far they come."""
    endings = observed.judged.endings
    apart = what_tells_apart(observed.fixtures, endings, observed.assignment.buffers)
    told = [(text, "what happens next?") for name in list(endings)[:1] if (text := _how_far(observed, name))]
    if apart:
        hint = "what is different there, in the loops and in what may be read?"
        told.append((f"only the cases in which {apart} do not end well; the others do", hint))
    return [
        Explanation(kind="crash", text=text, hint=hint, fault=None, tensors=[], cases=list(endings))
        for text, hint in told
    ]


def _how_far(observed: Observed, case: str) -> str:
    """The last call that is made before a case ends; empty where calls are not recorded."""
    made, right = observed.judged.calls.get(case, ([], []))
    if not right:
        return ""
    if not made:
        return "it ends before it calls anything"
    layer = layer_of(made[-1])
    of = "" if layer is None else f" of layer {layer}"
    return f"it ends at or after call {len(made)} (of {len(right)}), {function_of(made[-1])}{of}"
