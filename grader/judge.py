"""From raw outcomes to the verdict on a check: statuses, tensors, comparisons."""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from grader import calls as call_records
from grader import derive, pictures, tensorfile
from grader.assignment import Assignment, AxisDetails, Check
from grader.calls import Call
from grader.cases import DOES_NOT_FIT, Array
from grader.compare import Comparison, compare
from grader.engine import Probed
from grader.fixtures import FixtureCase
from grader.result import CallStep, CheckResult, Evidence, Explanation, Picture, Verdict
from grader.tolerances import Tolerances

MOST_TENSOR_BYTES = 64 << 20
_ELEMENT = re.compile(r", at element \d+ of \d+")
LAYER_AXIS = "l"
MOST_ADVICE = 5  # sentences of one check: they come from the sandbox


@dataclass(frozen=True)
class Explained:
    """Why a check failed, as `grader.explain` tells it."""

    explanations: Sequence[Explanation] = ()
    call_steps: Sequence[CallStep] = ()
    calls_case: str = ""


@dataclass
class Judged:
    """A check as judged: the verdict, what it rests on, and what its explanation can rest on.

    Attributes:
        given: by case, reads what the probe was given.
        faults: by case, computes what known mistakes give where that depends on what was handed back.
        named: known mistakes that what was handed back is told to be, since there is nothing to compare.
        endings: the cases that did not end well.
        calls: by case, those that were made and the right ones, those of the student's own operators left out.
        unseen: by case, the functions of the right calls that were left out.
        writes: inputs that the code wrote to.
    """

    verdict: Verdict
    comparisons: list[Comparison] = field(default_factory=list)
    detail: str = ""
    calls_differ: str = ""
    output: str = ""
    inferred: bool = False
    tensors: dict[str, dict[str, Array]] = field(default_factory=dict)
    expected: dict[str, dict[str, Array]] = field(default_factory=dict)
    params: dict[str, Mapping[str, int | float]] = field(default_factory=dict)
    given: dict[str, Callable[[], Mapping[str, Array]]] = field(default_factory=dict)
    faults: dict[str, Callable[[], Mapping[str, Mapping[str, Array]]]] = field(default_factory=dict)
    named: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)
    endings: dict[str, Verdict] = field(default_factory=dict)
    calls: dict[str, tuple[list[Call], list[Call]]] = field(default_factory=dict)
    unseen: dict[str, list[str]] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    explained: Explained = field(default_factory=Explained)
    found: list[Explanation] = field(default_factory=list)  # by what has watched the code as it ran

    def compared(self, tensors: Sequence[str]) -> list[Comparison]:
        """The comparisons of these tensors alone."""
        return [c for c in self.comparisons if c.tensor in tensors]


def _last_words(output: str) -> str:
    """The last two lines that were printed: a program that stops itself says why there."""
    lines = [line.strip() for line in output.splitlines() if line.strip()][-2:]
    return f" after printing `{_text(' / '.join(lines))}`" if lines else ""


def _text(value: object) -> str:
    """A status field as one line of printable text: it comes from the sandbox."""
    try:
        text = str(value)
    except RecursionError:  # lists in lists in lists
        text = "?"
    return "".join(c if c.isprintable() else "?" for c in text)[:400]


def ending_of(status: Mapping[str, Any]) -> tuple[Verdict, str] | None:
    """Verdict and sentence for a case that did not end well; None for one that did."""
    kind = status.get("status")
    detail = _text(status.get("detail", ""))
    if kind == "ok":
        return None
    if kind == "not_implemented":
        return "not_implemented", detail or "it is not written yet"
    if kind == "wrong":
        return "fail", detail
    if kind == "timed_out":
        return "timed_out", detail or "it did not end in time"
    if kind == "crashed":
        return "crashed", detail or _signal_name(status.get("code"))
    if "error" in status:
        return "crashed", _text(status["error"])
    return "crashed", detail or f"it stopped the program with exit code {_text(status.get('code'))}"


def _signal_name(number: object) -> str:
    try:
        return f"ended by {signal.Signals(int(str(number))).name}"
    except ValueError:
        return "ended by a signal"


class Judge:
    """Judges the checks of one assignment under its tolerances."""

    def __init__(self, assignment: Assignment, tolerances: Tolerances, values: bool = True) -> None:
        self.assignment = assignment
        self.tolerances = tolerances
        self.values = values  # whether the fixtures' values may be shown, as numbers, indices, pictures and curves

    def check(
        self,
        check_id: str,
        check: Check,
        cases: Sequence[FixtureCase],
        probed: Probed,
        own: Sequence[str] = (),
    ) -> Judged:
        """Judges a check on all its cases; ``own`` functions were the student's where ours should stand."""
        ended = self._endings(cases, probed)
        verdict, detail = ended or ("pass", "")
        judged = Judged(verdict, detail=detail)
        if judged.verdict == "pass":
            if all(probed.statuses[case.id].get("untouched") is True for case in cases):
                judged = Judged("not_implemented", detail=f"{check.function} does nothing yet")
            self._compare_all(check_id, check, cases, probed, judged)
        judged.advice += _advice(cases, probed)
        judged.endings, judged.writes = self._endings_by_case(cases, probed), _writes(cases, probed)
        if check.calls:
            judged.calls = {case.id: found for case in cases if (found := _calls(case, probed, own)) is not None}
            judged.unseen = {case.id: [c["function"] for c in case.calls if c["function"] in own] for case in cases}
            judged.calls_differ = _calls_differ(cases, judged, self.values)
        if judged.verdict not in ("pass", "not_implemented"):
            judged.output = probed.outcome.output
        return judged

    @staticmethod
    def _endings_by_case(cases: Sequence[FixtureCase], probed: Probed) -> dict[str, Verdict]:
        statuses = {case.id: probed.statuses.get(case.id, {"status": "crashed"}) for case in cases}
        return {name: ended[0] for name, status in statuses.items() if (ended := ending_of(status)) is not None}

    def _endings(self, cases: Sequence[FixtureCase], probed: Probed) -> tuple[Verdict, str] | None:
        found = []
        for case in cases:
            status = probed.statuses.get(case.id)
            if status is None:
                status = {"status": "timed_out" if probed.outcome.timed_out else "crashed"}
                status["detail"] = "" if probed.outcome.timed_out else "the probe itself was ended"
            if (ended := ending_of(status)) is not None:
                found.append((ended[0], f"{self._how(ended[1], status, probed)} (case {case.id})"))
        return next((e for e in found if e[0] == "crashed"), found[0] if found else None)

    def _how(self, detail: str, status: Mapping[str, Any], probed: Probed) -> str:
        """How a case ended; what was printed, and which element was reached, may tell of the fixtures' values."""
        if not self.values:
            return _ELEMENT.sub("", detail)
        return detail + (_last_words(probed.outcome.output) if status.get("status") == "exited" else "")

    def _compare_all(
        self, check_id: str, check: Check, cases: Sequence[FixtureCase], probed: Probed, judged: Judged
    ) -> None:
        for case in cases:
            try:
                got = tensorfile.read(probed.outputs[case.id], self._most_bytes(case))
            except tensorfile.TensorFileError as error:
                judged.verdict = "fail"
                judged.detail = f"{error} (case {case.id})"
                continue
            judged.params[case.id] = case.entry.params
            judged.given[case.id] = partial(tensorfile.read, case.inputs_path)
            try:
                got, expected = self._expected(check_id, check, case, got, judged)
            except derive.UnusableError as error:
                judged.verdict, judged.detail = "fail", _text(f"{error} (case {case.id})")
                judged.named += [error.fault] if error.fault not in ("", *judged.named) else []
                continue
            except DOES_NOT_FIT as error:
                detail = f"what was handed back does not fit together: {error} (case {case.id})"
                judged.verdict, judged.detail = "fail", _text(detail)
                continue
            judged.tensors[case.id], judged.expected[case.id] = got, expected
            names = self.tolerances.in_order(self.assignment.id, check_id, expected, check.official)
            judged.comparisons += [
                self._compare(check_id, check, case.id, name, got.get(name), expected[name]) for name in names
            ]
        counting = [c for c in judged.comparisons if c.tensor not in check.context]
        if judged.verdict == "pass" and not counting:  # nothing passes in a vacuum
            judged.verdict, judged.detail = "fail", "nothing was compared"
        if judged.verdict == "pass" and not all(c.ok for c in counting):
            judged.verdict = "fail"

    def _expected(
        self, check_id: str, check: Check, case: FixtureCase, got: dict[str, Array], judged: Judged
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """What was handed back, with the facts that follow from it, and what is right."""
        if not check.derive:
            return got, case.expected
        inputs = tensorfile.read(case.inputs_path)
        policies = self.assignment.policies
        handed = derive.Handed(check_id, case.entry.params, inputs, case.expected, got, check.options, policies)
        found = derive.of(self.assignment)(handed)
        judged.advice += [text for text in found.advice if text not in judged.advice]
        judged.detail = judged.detail or _text(found.says)
        if found.faults is not None:
            judged.faults[case.id] = found.faults
        return {**got, **found.facts}, dict(found.expected)

    @staticmethod
    def _most_bytes(case: FixtureCase) -> int:
        """Twice what right tensors take, and a header: enough to be told of a wrong type."""
        return max(MOST_TENSOR_BYTES, 2 * sum(array.nbytes for array in case.expected.values()) + (1 << 20))

    def _compare(
        self, check_id: str, check: Check, case: str, name: str, got: Array | None, expected: Array
    ) -> Comparison:
        limit = self.tolerances.limit(self.assignment.id, check_id, name, check.official)
        return replace(compare(case, name, got, expected, limit, self._layered(name)), rule=limit)

    def _layered(self, tensor: str) -> bool:
        return self.assignment.axes.get(tensor, [""])[0] == LAYER_AXIS

    # -- evidence -----------------------------------------------------------------------------------------

    def result(self, check_id: str, check: Check, judged: Judged) -> CheckResult:
        """The check as it stands in the result."""
        names = list(dict.fromkeys(c.tensor for c in judged.comparisons))
        return CheckResult(
            id=check_id,
            title=check.title,
            function=check.function,
            role=check.role,
            verdict=judged.verdict,
            inferred=judged.inferred,
            detail=judged.detail,
            evidence=[
                self._evidence(check_id, judged, [c for c in judged.comparisons if c.tensor == n]) for n in names
            ],
            calls_differ=judged.calls_differ,
            output=judged.output,
            visibility=check.visibility,
            series=pictures.curves(check, judged) if self.values else [],
            explanations=[*judged.found, *judged.explained.explanations],
            call_steps=list(judged.explained.call_steps),
            calls_case=judged.explained.calls_case,
        )

    def _evidence(self, check_id: str, judged: Judged, comparisons: Sequence[Comparison]) -> Evidence:
        """The worst case of a tensor: a failed one before a passed one, then by how far off it is."""
        worst = max(comparisons, key=lambda c: (not c.ok, c.error / c.limit if c.limit else c.error))
        element, measured = worst.worst if self.values else None, worst.evidence
        return Evidence(
            tensor=worst.tensor,
            says=self.assignment.words_of(check_id, worst.tensor).says,
            case=worst.case,
            shape=list(worst.shape),
            ok=worst.ok,
            reason=worst.reason,
            note=worst.note if self.values or worst.reason != "order" else "the order is not a right one",
            error=finite(worst.error),
            limit=worst.limit,
            of_allowed=worst.of_allowed,
            index=list(element.index) if element else None,
            place=self.place(check_id, worst.tensor, element.index) if element else "",
            got=finite(element.got) if element else None,
            expected=element.expected if element else None,
            absolute=finite(element.absolute) if element else None,
            relative=finite(element.relative) if element else None,
            allowed=element.allowed if element else None,
            before=_before(judged, worst) if element and not worst.ok and self.assignment.buffers else None,
            wrong=worst.wrong,
            size=worst.size,
            layers=list(worst.layers),
            failed_cases=[c.case for c in comparisons if not c.ok],
            honest=measured.honest if measured else None,
            weakest_wrong=measured.wrong if measured else None,
            weakest_is=measured.wrong_is if measured and measured.wrong else "",
            picture=self._picture(check_id, judged, worst) if self.values else None,
        )

    def _picture(self, check_id: str, judged: Judged, worst: Comparison) -> Picture | None:
        axes = self._axes(check_id, worst.tensor)
        return pictures.picture_of(worst, judged, axes, [self.assignment.parts_of(axis) for axis in axes])

    def _axes(self, check_id: str, tensor: str) -> list[str]:
        """The names of a tensor's axes, as far as the assignment has them."""
        return self.assignment.axes.get(f"{check_id}.{tensor}") or self.assignment.axes.get(tensor, [])

    def place(self, check_id: str, tensor: str, index: Sequence[int]) -> str:
        """An index with the names of the tensor's axes: ``[l=1, o=17, c=3]``."""
        axes = self._axes(check_id, tensor)
        if len(axes) != len(index):
            return "[" + ", ".join(str(i) for i in index) + "]"
        details = [self.assignment.axis_details.get(axis, AxisDetails()).names for axis in axes]
        told = [names[i] if names else f"{axis}={i}" for names, axis, i in zip(details, axes, index, strict=True)]
        return f"[{', '.join(told)}]"


def _advice(cases: Sequence[FixtureCase], probed: Probed) -> list[str]:
    """The remarks in the statuses, each once; they come from the sandbox."""
    told = [probed.statuses.get(case.id, {}).get("advice") for case in cases]
    texts = [_text(text) for entry in told if isinstance(entry, list) for text in entry]
    return list(dict.fromkeys(texts))[:MOST_ADVICE]


def _before(judged: Judged, worst: Comparison) -> float | None:
    """What the buffer of a wrong element held before the call: the input of the same name and shape."""
    try:
        given = judged.given[worst.case]().get(worst.tensor)
    except (KeyError, OSError, tensorfile.TensorFileError):
        return None
    if given is None or worst.worst is None or given.shape != worst.shape:
        return None
    return finite(float(given[worst.worst.index]))


def finite(value: float) -> float | None:
    """The value, or None where JSON has no word for it."""
    return value if math.isfinite(value) else None


def _calls(case: FixtureCase, probed: Probed, own: Sequence[str]) -> tuple[list[Call], list[Call]] | None:
    """The calls that were made, as far as they are calls, and the right ones; None where none were recorded."""
    made = probed.statuses.get(case.id, {}).get("calls")
    if not isinstance(made, list):
        return None
    usable = [call for call in made if isinstance(call, dict) and isinstance(call.get("args"), dict)]
    return call_records.without(usable, own), call_records.without(case.calls, own)


def _writes(cases: Sequence[FixtureCase], probed: Probed) -> list[str]:
    """The inputs that a probe saw written to."""
    told = [probed.statuses.get(case.id, {}).get("changed_inputs") for case in cases]
    return list(dict.fromkeys(_text(name)[:40] for names in told if isinstance(names, list) for name in names))


def _calls_differ(cases: Sequence[FixtureCase], judged: Judged, sizes: bool) -> str:
    for case in cases:
        if case.id not in judged.calls:
            return "the calls were not recorded"
        try:
            difference = call_records.first_difference(*judged.calls[case.id], sizes)
        except RecursionError:
            difference = "the record of the calls cannot be read"
        if difference is not None:
            return _text(difference)
    return ""
