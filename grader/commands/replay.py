"""``./grade replay RESULT.json SUBMISSION``: grades again as a result was made, and says what differs."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from grader import assignment as assignments
from grader import deciding, fixtures, replay
from grader.batch.work import one_place, take
from grader.cli import grade_parser
from grader.commands.grade import graded, seen
from grader.errors import EXIT_BELOW_MINIMUM, EXIT_GRADED, UsageError
from grader.parsing import Parser, tell, writable
from grader.progress import following
from grader.report.texts import printable
from grader.result import SCHEMA, Result

MOST = 30  # differences that are shown; --json has them all
SHORT = 60  # characters of a value
SHORT_HASH = 12
_HASH = re.compile(r"[0-9a-f]{64}")
_COMPILER = re.compile(r"(?:gcc|g\+\+|clang|clang\+\+|cc|c\+\+)(?:-\d[\d.]*)?")

DESCRIPTION = """\
Grades SUBMISSION again with the options of an earlier result, and says what differs: first in what it was made from
(files, fixtures, tolerances, assignment, grader, compiler, sandbox), then in what came of it. Exit codes: 0 the same,
1 something differs, 2 wrong usage, 3 infrastructure error.
"""


def parser() -> argparse.ArgumentParser:
    """The parser of ``./grade replay``."""
    top = Parser(prog="grade replay", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("result", type=Path, metavar="RESULT.json", help="what `--json` wrote, or a batch")
    top.add_argument("submission", type=Path, metavar="SUBMISSION", help="what was graded")
    top.add_argument("--fixtures", type=Path, metavar="DIR", help="where the result's private fixture set lies")
    top.add_compiler()
    top.add_sandbox("the submission")
    top.add_argument("--checkpoint", type=Path, metavar="BIN", help="for a result of real files: the checkpoint")
    top.add_argument("--state", type=Path, metavar="BIN", help="for a result of real files: the debug state")
    top.add_json("what differs")
    top.add_quiet()
    return top


def run(arguments: Sequence[str]) -> int:
    """Grades again; returns 0 if all is the same, 1 if something differs."""
    options = parser().parse_args(arguments)
    writable(options, "json")
    before = read(options.result)
    lies = options.submission
    found = replay.compare(before, _again(before, options), [str(lies), str(lies.absolute()), str(lies.resolve())])
    tell(
        options.json,
        lambda: found.model_dump_json(by_alias=True, indent=1) + "\n",
        lambda: print("\n".join(printable(line) for line in _lines(found))),
    )
    return EXIT_GRADED if found.same else EXIT_BELOW_MINIMUM


def read(path: Path) -> Result:
    """A result.

    Raises:
        UsageError: the file cannot be read, or holds no result.
    """
    try:
        return Result.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{path} is no result ({SCHEMA}): {where}{': ' if where else ''}{first['msg']}") from error


def _again(before: Result, options: argparse.Namespace) -> Result:
    assignment = assignments.load(before.assignment)
    arguments = grade_parser().parse_args(_command(before, options))
    rows = before.options.rows if before.options else []
    if not options.submission.exists():
        raise UsageError(f"there is no submission at {options.submission}")
    with one_place([str(options.submission)]) as path, following(options.quiet) as progress:
        taken = take(path, assignment, before.submission.origin)
        result = graded(assignment, taken, path, arguments, rows, progress)
    return seen(result, assignment, arguments)


def _command(before: Result, options: argparse.Namespace) -> list[str]:
    """The arguments of ``./grade`` that make such a result."""
    words = [before.assignment, "--fixtures", str(_fixtures(before, options.fixtures)), "--sandbox", options.sandbox]
    words += ["--require-sandbox"] * options.require_sandbox
    words += _real_files(before, options)
    if (chosen := before.options) is None:
        return words
    compiler = options.cc or _compiler(chosen.compiler)
    words += ["--cc", compiler] if compiler else []
    words += [f"--cflags={shlex.join(chosen.flags)}"] if chosen.flags else []
    words += ["--backend", chosen.backend] if chosen.backend else []
    words += ["--framework", chosen.framework, "--explain", chosen.explain]
    words += ["--audience", "staff"] * chosen.staff + ["--after-due"] * chosen.after_due
    words += ["--no-second-look"] * (not chosen.second_look and not chosen.real_files)
    words += ["--sanitize"] * chosen.sanitize + ["--full"] * chosen.full
    return words + ["--no-training"] * (not chosen.training)


def _compiler(name: str | None) -> str | None:
    """The compiler of a result: a result is somebody's file, and may not name any program to be run.

    Raises:
        UsageError: it is no plain name of a compiler.
    """
    if name and not _COMPILER.fullmatch(name):
        raise UsageError(
            f"the result names the compiler `{name}`; where that is meant, say so: --cc {shlex.quote(name)}"
        )
    return name


def _fixtures(before: Result, folder: Path | None) -> Path:
    """Where the set of a result lies.

    Raises:
        UsageError: it is a private one, and nobody says where; or the name is none.
    """
    if not fixtures.NAME.fullmatch(before.fixtures.set):
        raise UsageError(f"the result names no fixture set: `{before.fixtures.set}`")
    usual = fixtures.set_folder(before.assignment, before.fixtures.set)
    if before.sets == [fixtures.PUBLIC]:
        return folder or usual
    found = deciding.asked_for(before.assignment, folder) or usual
    if not (found / fixtures.MANIFEST).is_file():
        raise UsageError(f"the result is of the fixture set `{before.fixtures.set}`; say where it lies: --fixtures DIR")
    return found


def _real_files(before: Result, options: argparse.Namespace) -> list[str]:
    real = before.options is not None and before.options.real_files
    given = [word for name in ("checkpoint", "state") if (word := getattr(options, name)) is not None]
    if real and len(given) < 2:
        raise UsageError("the result is of real files; name them: --checkpoint BIN --state BIN")
    if given and not real:
        raise UsageError("the result is not of real files: --checkpoint and --state are not for it")
    return ["--checkpoint", str(options.checkpoint), "--state", str(options.state)] if real else []


def _lines(found: replay.Replayed) -> Iterator[str]:
    yield from _part("made from something else", found.provenance)
    yield from _part("made elsewhere (this decides nothing by itself)", found.machine)
    yield from _part("what came of it differs", found.result)
    score = f"score {found.score_before}, now {found.score_now}"
    if found.same:
        yield f"{found.assignment}: the same result from the same files ({score})"
    elif not found.result:
        yield f"{found.assignment}: the same result, made from something else ({score})"
    else:
        yield f"{found.assignment}: {len(found.provenance)} + {len(found.result)} things differ ({score})"


def _part(title: str, differences: Sequence[replay.Difference]) -> Iterator[str]:
    if not differences:
        return
    yield f"{title}:"
    for one in differences[:MOST]:
        yield f"  {one.what}: {_cut(one.before)} -> {_cut(one.now)}"
    if len(differences) > MOST:
        yield f"  ... and {len(differences) - MOST} more; --json has them all"


def _cut(value: str) -> str:
    value = " ".join(value.split())
    if _HASH.fullmatch(value):
        return value[:SHORT_HASH]
    return value if len(value) <= SHORT else value[:SHORT] + "..."
