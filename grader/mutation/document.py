"""``docs/mutation-study.md``: each assignment's part stands between two marks, and is written by its own study."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from grader.errors import NotShownError
from grader.mutation.outcome import Outcome
from grader.mutation.proof import FURTHER_SEEDS
from grader.mutation.report import HEADINGS, Summary, went
from grader.report import target


def write(summary: Summary, path: Path) -> None:
    """Writes the assignment's part into a document.

    Raises:
        NotShownError: the file cannot be read or written.
    """
    put_part(summary.assignment.id, lines(summary), path)


def put_part(name: str, content: Iterable[str], path: Path) -> None:
    """Writes a part into a document, in place of an older one of that name or at its end.

    Raises:
        NotShownError: the file cannot be read or written.
    """
    begin, end = (f"<!-- {name}: {word} -->" for word in ("begin", "end"))
    part = "\n".join([begin, *content, end])
    try:
        text = path.read_text("utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise NotShownError(f"{path}, which the study is part of, cannot be read: {error}") from error
    before, found, rest = text.partition(begin)
    after = rest.partition(end)[2] if found else "\n"
    target.put(before + ("" if found or not before else "\n") + part + after, str(path))


def lines(summary: Summary) -> Iterator[str]:
    """The assignment's part, in Markdown."""
    yield f"## {summary.assignment.id}"
    yield ""
    yield f"Made by `{summary.command}` ({summary.basis})."
    yield ""
    yield from table(HEADINGS, [[str(cell) for cell in summary.cells(region)] for region in [*summary.regions, None]])
    yield ""
    yield from _verdicts(summary)
    yield from _kinds(summary)
    yield from _listed("Survived", summary.survivors, lambda o: o.differs)
    yield from _listed("Cost other rows, or not their own", summary.astray, went)
    yield from _right(summary)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table in Markdown, its first column to the left."""
    yield "| " + " | ".join(headings) + " |"
    yield "|" + "|".join("---" if number == 0 else "--:" for number in range(len(headings))) + "|"
    yield from ("| " + " | ".join(row) + " |" for row in rows)


def _verdicts(summary: Summary) -> Iterator[str]:
    killed = summary.of("killed")
    counts = {v: sum(o.verdict == v for o in killed) for v in dict.fromkeys(o.verdict for o in killed)}
    told = ", ".join(f"{count} {str(verdict).replace('_', ' ')}" for verdict, count in counts.items())
    by_rule = sum(bool(set(o.by_rule) - {o.row}) for o in killed)
    yield f"Of the killed, by their own row's verdict: {told}."
    if by_rule:
        yield f"{by_rule} of them fail the check of the whole program as well, whose row is lost by its rule."
    yield ""


def _kinds(summary: Summary) -> Iterator[str]:
    kinds = sorted({o.kind for o in summary.outcomes})
    rows = []
    for kind in kinds:
        mine = [o for o in summary.outcomes if o.kind == kind and o.state != "build failed"]
        rows.append([kind, str(len(mine)), str(sum(o.state == "killed" for o in mine))])
    yield from table(("operator", "mutants", "killed"), rows)
    yield ""


def _listed(heading: str, outcomes: Sequence[Outcome], says: Callable[[Outcome], str]) -> Iterator[str]:
    if not outcomes:
        return
    yield f"### {heading}"
    yield ""
    for outcome in outcomes:
        yield f"`{outcome.id}`, line {outcome.line}: {says(outcome)}"
        yield from _diff(outcome)


def _diff(outcome: Outcome) -> Iterator[str]:
    yield ""
    yield "```diff"
    yield outcome.diff
    yield "```"
    yield ""


def _right(summary: Summary) -> Iterator[str]:
    """The equivalent ones, with what was found by looking at them."""
    found = [*summary.of("equivalent"), *summary.of("argued")]
    if not found:
        return
    yield "### Equivalent"
    yield ""
    yield (
        f"Every output is the reference's to the byte, on the public set and on {len(FURTHER_SEEDS)} further ones; or,"
        " where that cannot tell, it was argued. Each was looked at:"
    )
    yield ""
    reasons = dict.fromkeys(summary.notes.why(o.id) or "not looked at yet" for o in found)
    for why in reasons:
        mine = [o for o in found if (summary.notes.why(o.id) or "not looked at yet") == why]
        yield f"**{why}** ({len(mine)})"
        yield ""
        yield "```diff"
        for outcome in mine:
            argued = "argued" if outcome.state == "survived" else "equal"
            yield f"@@ {outcome.id}, line {outcome.line}, {argued} @@"
            yield outcome.diff
        yield "```"
        yield ""
