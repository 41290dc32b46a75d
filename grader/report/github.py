"""GitHub Actions: annotations at the student's own lines, a log that gives no commands, and the step's summary.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands says how these are written. What
the student's code printed stands between `stop-commands` and its token, which nobody can know beforehand.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from grader.errors import NotShownError
from grader.report import markdown
from grader.report.plain import blamed, clip, headline, one_line, remarks, row_text, row_title
from grader.report.target import put
from grader.report.texts import printable
from grader.result import Result, RowResult

Level = Literal["error", "warning", "notice"]

MOST_OF_A_LEVEL = 10  # annotations of one kind that a step may make; more are not shown
MOST_OF_AN_ANNOTATION = 2_000  # characters
MOST_OF_A_SUMMARY = (1 << 20) - 4096  # bytes; a larger one is not shown at all
SUMMARY = "GITHUB_STEP_SUMMARY"
WORKSPACE = "GITHUB_WORKSPACE"
_COMPILER = re.compile(
    r"^(?P<file>[^\s:]+):(?P<line>\d{1,6}):(?:(?P<column>\d{1,5}):)? (?:fatal )?error: (?P<text>.*)$", re.M
)


def write(result: Result, target: str) -> None:
    """Writes log and annotations; the summary goes where the runner wants it, if one is there.

    Raises:
        NotShownError: one of both cannot be written.
    """
    folder = _folder(result.submission.origin, os.environ)
    put(render(result, folder, secrets.token_hex(16)), target)
    if path := os.environ.get(SUMMARY):
        try:
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(summary(result))
        except OSError as error:
            raise NotShownError(f"cannot write the step's summary, {path}: {error.strerror}") from error


def _folder(origin: str, environment: Mapping[str, str]) -> str:
    """The submission's folder as the repository names it; empty for its top, and for what lies outside."""
    path = Path(origin).absolute()
    folder = path.parent if path.is_file() else path
    try:
        inside = folder.resolve().relative_to(Path(environment.get(WORKSPACE, ".")).resolve())
    except ValueError:
        return ""
    return "" if inside == Path() else inside.as_posix()


def render(result: Result, folder: str, token: str) -> str:
    """What stands in the step's log; ``folder`` is the submission's within the repository."""
    lines = [headline(result), remarks(result)]
    lines += [f"{row_title(row)}: {row_text(row)}" for row in result.rows]
    log = printable("\n".join(line for line in lines if line))
    return "\n".join([f"::stop-commands::{token}", log, f"::{token}::", *annotated(result, folder)]) + "\n"


def summary(result: Result) -> str:
    """The step's summary, in Markdown and within its limit."""
    most = markdown.MOST_OF_A_ROW
    while len((text := markdown.render(result, most)).encode()) > MOST_OF_A_SUMMARY and most > 1:
        most //= 2
    return text


def annotated(result: Result, folder: str) -> list[str]:
    """The commands that annotate: of each level as many as are shown, the last of them saying how many are not."""
    errors = [*_compile_errors(result, folder), *_lost(result, folder, "error")]
    if result.problems and not errors:
        errors = [command("error", "it cannot be judged", one_line(result.problems[0]))]
    notices = [command("notice", f"advice on {note.check} (no points)", one_line(note.text)) for note in result.advice]
    total = command("notice", "score", headline(result))
    kinds: dict[Level, list[str]] = {
        "error": errors,
        "warning": list(_lost(result, folder, "warning")),
        "notice": [total, *notices],
    }
    return [line for level, lines in kinds.items() for line in _bounded(level, lines)]


def _bounded(level: Level, lines: list[str]) -> list[str]:
    if len(lines) <= MOST_OF_A_LEVEL:
        return lines
    kept = lines[: MOST_OF_A_LEVEL - 1]
    return [*kept, command(level, "more", f"{len(lines) - len(kept)} more: see the summary")]


def _level(row: RowResult) -> Level | None:
    """What a row is worth: nothing where it is right, or where something else is told already."""
    if row.verdict in ("pass", "blocked", "hidden"):
        return None
    return "warning" if row.verdict == "not_implemented" else "error"


def _lost(result: Result, folder: str, level: Level) -> Iterator[str]:
    for row in result.rows:
        if _level(row) == level:
            check = blamed(row)
            text = clip(row_text(row), MOST_OF_AN_ANNOTATION)
            yield command(level, row_title(row), text, place(folder, check.file), check.line)


def _compile_errors(result: Result, folder: str) -> Iterator[str]:
    """Where the compiler found fault, in files of the student's."""
    found = [match for text in result.problems for match in _COMPILER.finditer(text)]
    for line in dict.fromkeys(
        (m["file"], int(m["line"]), m["text"]) for m in found if m["file"] in result.submission.hashes
    ):
        yield command("error", "it does not compile", one_line(line[2]), place(folder, line[0]), line[1])


def place(folder: str, file: str) -> str:
    """A file of the submission as the repository names it."""
    return f"{folder}/{file}" if file and folder else file


def command(level: Level, title: str, message: str, file: str = "", line: int | None = None) -> str:
    """One workflow command; nothing in it ends it before its time."""
    found: dict[str, object | None] = {"file": file or None, "line": line if file else None, "title": one_line(title)}
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in found.items() if value is not None)
    return f"::{level} {properties}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
