"""From what came back of a kernel's calls to a verdict, and to the mistake that is the likeliest cause."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from grader import tensorfile
from grader.cases import Array
from grader.compare import Comparison, compare
from grader.engine import Probed
from grader.judge import finite
from grader.kernels import sentences
from grader.kernels.calls import Call
from grader.kernels.cases import ABOUT, ADVICE, KernelCase
from grader.kernels.functions import Float
from grader.kernels.result import KernelEvidence, KernelResult, KernelVerdict, Mistake
from grader.kernels.seen import Seen, read
from grader.kernels.settings import Kernel
from grader.result import words
from grader.sanitize.sentences import Source
from grader.tensorfile import TensorFileError
from grader.tolerances import Limit, Tolerances

TABLE = "HW2-kernels"  # in tolerances.yaml
TENSOR = "out"
MOST_MISTAKES = 6
MOST_EVIDENCE = 6
MOST_TENSOR_BYTES = 64 << 20
NOT_IMPLEMENTED = "not implemented"
UNFINISHED: dict[str, KernelVerdict] = {"crashed": "crashed", "exited": "crashed", "timed_out": "timed_out"}


@dataclass
class Looked:
    """A case as judged.

    Attributes:
        case: the case.
        ended: the verdict of a process that did not come to its end.
        how: how it ended then, in words.
        seen: what the model has seen.
        compared: the results that are wrong, each with its call.
    """

    case: KernelCase
    ended: KernelVerdict | None = None
    how: str = ""
    seen: list[Seen] = field(default_factory=list)
    compared: list[tuple[Call, Comparison]] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        """Whether nothing is wrong with it."""
        return self.ended is None and not self.mistaken and not self.compared

    @property
    def mistaken(self) -> list[Seen]:
        """What was seen and is a mistake."""
        return [seen for seen in self.seen if seen.kind not in sentences.HARMLESS]


def judge(
    kernel: Kernel,
    cases: Sequence[KernelCase],
    probed: Probed,
    source: Source,
    tolerances: Tolerances,
    more: Probed | None = None,
) -> KernelResult:
    """The verdict on a kernel; ``more``: what AddressSanitizer says of some of its cases."""
    limit = tolerances.limit(TABLE, kernel.id, TENSOR, official=False)
    looked = [_look(case, probed, limit) for case in cases]
    statuses = more.statuses if more is not None else {}
    for one in looked:
        told = read(statuses.get(one.case.id, {}))
        one.seen += [seen for seen in told if seen.kind == sentences.LOCAL]
    failed = [one for one in looked if not one.is_right and _counts(one)]
    mistakes = _mistakes(failed, source)
    verdict = _verdict(failed)
    if verdict == "not_implemented":
        mistakes = [m for m in mistakes if m.kind == "assert"]
    return KernelResult(
        id=kernel.id,
        title=kernel.title,
        function=kernel.function,
        verdict=verdict,
        detail=mistakes[0].text if mistakes else "",
        cases=len(cases),
        failed_cases=[one.case.id for one in failed],
        mistakes=mistakes[:MOST_MISTAKES],
        evidence=[_evidence(one.case, *pair) for one in failed for pair in one.compared][:MOST_EVIDENCE],
        notes=_notes(looked, source),
        output=probed.outcome.output.strip() if failed else "",
    )


def _counts(looked: Looked) -> bool:
    """Whether a case decides: of those for advice, the numbers do not."""
    return looked.case.about not in ADVICE or bool(looked.mistaken) or looked.ended is not None


def _look(case: KernelCase, probed: Probed, limit: Limit) -> Looked:
    status = probed.statuses.get(case.id, {"status": "crashed"})
    looked = Looked(case, seen=read(status))
    ended = str(status.get("status"))
    if ended != "ok":
        looked.ended = UNFINISHED.get(ended, "crashed")
        looked.how = str(status.get("detail") or _ending(ended, status.get("code")))
    try:
        tensors = tensorfile.read(probed.outputs[case.id], MOST_TENSOR_BYTES)
    except TensorFileError:
        tensors = {}
    for number, call in enumerate(case.calls):
        got = tensors.get(f"{number:03d}")
        if got is None and (looked.ended or looked.mistaken):
            continue  # the end says why
        comparison = compared(case.id, got, call.expected, limit)
        if not comparison.ok:
            looked.compared.append((call, comparison))
    return looked


def _ending(status: str, code: object) -> str:
    if status == "timed_out":
        return "it does not end in time"
    if status == "exited":
        return f"it ends the program with exit code {code}"
    return f"it ends with signal {code}" if code else "it does not come to its end"


def compared(case: str, got: Array | None, expected: Float, limit: Limit) -> Comparison:
    """A result with the right one; a NaN is right where, and only where, there has to be one."""
    if got is not None and got.size == expected.size and got.dtype == np.float32:
        got, missing = got.reshape(expected.shape), np.isnan(expected)
        if missing.any():
            if not np.array_equal(np.isnan(got), missing):
                wrong = int(np.count_nonzero(np.isnan(got) != missing))
                return Comparison(
                    case, TENSOR, expected.shape, False, "nan", math.inf, limit.rtol, wrong=wrong, size=expected.size
                )
            got, expected = np.where(missing, 0, got), np.where(missing, 0, expected)
    return compare(case, TENSOR, got, expected, limit)


def _verdict(failed: Sequence[Looked]) -> KernelVerdict:
    if not failed:
        return "pass"
    asserted = [seen for one in failed for seen in one.mistaken if seen.kind == "assert"]
    if asserted and all(NOT_IMPLEMENTED in seen.text.lower() for seen in asserted):
        return "not_implemented"
    kinds = {seen.kind for one in failed for seen in one.mistaken}
    if "signal" in kinds:
        return "crashed"
    if "time" in kinds:
        return "timed_out"
    if kinds:
        return "fail"
    return next((one.ended for one in failed if one.ended), "fail")


# ---- why ---------------------------------------------------------------------------------------


def _mistakes(failed: Sequence[Looked], source: Source) -> list[Mistake]:
    """What was seen, the likeliest cause first; where nothing was, what the wrong numbers have in common."""
    grouped: dict[tuple[str, int | None, str], list[tuple[str, Seen]]] = {}
    for one in failed:
        for seen in one.mistaken:
            grouped.setdefault((seen.kind, seen.line, seen.name), []).append((one.case.id, seen))
    ordered = sorted(grouped.items(), key=lambda item: sentences.RANK.get(item[0][0], len(sentences.RANK)))
    mistakes = [_mistake(found, source) for _, found in ordered]
    mistakes += _values(failed, bool(mistakes))
    if ended := [one for one in failed if one.ended and not one.mistaken]:
        text = f"{ended[0].case.calls[0].function}: {ended[0].how}"
        ids = [one.case.id for one in ended]
        mistakes.append(Mistake(kind="ending", text=text, hint="", file="", line=None, cases=ids))
    return mistakes


def _mistake(found: Sequence[tuple[str, Seen]], source: Source) -> Mistake:
    seen = found[0][1]
    told = sentences.tell(seen, source)
    return Mistake(
        kind=seen.kind,
        text=told.text,
        hint=told.hint,
        file=source.name if seen.line else "",
        line=seen.line,
        cases=list(dict.fromkeys(case for case, _ in found)),
    )


def _values(failed: Sequence[Looked], explained: bool) -> list[Mistake]:
    """Wrong numbers as a mistake: what the cases that have them are about."""
    wrong = [one for one in failed if one.compared]
    if not wrong:
        return []
    call, comparison = wrong[0].compared[0]
    text = f"{call.function}: {call.says} is wrong {_where(comparison)}"
    abouts = list(dict.fromkeys(one.case.about for one in wrong))
    hint = "" if explained else _hint(abouts, wrong)
    ids = [one.case.id for one in wrong]
    return [Mistake(kind="values", text=text, hint=hint, file="", line=None, cases=ids)]


def _where(comparison: Comparison) -> str:
    if comparison.reason == "nan":
        return f"in {comparison.wrong} of {comparison.size} elements: a NaN is lost, or there is one too many"
    if comparison.worst is None:
        return "altogether"
    worst = comparison.worst
    place = f"[{', '.join(map(str, worst.index))}]"
    return (
        f"in {comparison.wrong} of {comparison.size} elements: {place} is {worst.got:g}, and should be"
        f" {worst.expected:g}"
    )


def _hint(abouts: Sequence[str], wrong: Sequence[Looked]) -> str:
    told = " and ".join(ABOUT[about] for about in abouts)
    if all(_is_zero(comparison) for one in wrong for _, comparison in one.compared):
        return "all that is wrong is 0, as the result was beforehand: which elements does nobody write?"
    return f"what is wrong is about {told} alone" if len(abouts) <= 2 else ""


def _is_zero(comparison: Comparison) -> bool:
    return comparison.worst is not None and comparison.worst.got == 0


def _notes(looked: Sequence[Looked], source: Source) -> list[str]:
    lost = [call.says for one in looked if one.case.about in ADVICE for call, _ in one.compared]
    notes = [f"a NaN is lost by {says}: a training that has gone wrong goes on as if it had not" for says in lost]
    harmless = [seen for one in looked for seen in one.seen if seen.kind in sentences.HARMLESS]
    first = {(seen.kind, seen.line): seen for seen in reversed(harmless)}
    return notes + [sentences.tell(seen, source).text for seen in first.values()]


def _evidence(case: KernelCase, call: Call, comparison: Comparison) -> KernelEvidence:
    worst = comparison.worst
    return KernelEvidence(
        case=case.id,
        call=call.says,
        reason=comparison.reason,
        wrong=comparison.wrong,
        size=comparison.size,
        error=finite(comparison.error),
        limit=comparison.limit,
        index=list(worst.index) if worst else None,
        got=finite(worst.got) if worst else None,
        expected=finite(worst.expected) if worst else None,
    )


def blocked(kernel: Kernel, why: str) -> KernelResult:
    """A kernel that could not be tried."""
    nothing: Mapping[str, list[str]] = {"failed_cases": [], "notes": []}
    return KernelResult(
        id=kernel.id,
        title=kernel.title,
        function=kernel.function,
        verdict="blocked",
        detail=why,
        cases=0,
        mistakes=[],
        evidence=[],
        output="",
        **nothing,
    )


def lacking(kernel: Kernel, why: str) -> KernelResult:
    """A kernel whose function minitorch would not find."""
    mistake = Mistake(kind="missing", text=f"{kernel.function}: {why}", hint="", file="", line=None, cases=[])
    verdict: KernelVerdict = "not_implemented" if "no function" in why else "fail"
    return blocked(kernel, mistake.text).model_copy(update={"verdict": verdict, "mistakes": [mistake]})


def in_words(verdict: KernelVerdict) -> str:
    """A verdict in words."""
    return words(verdict)
