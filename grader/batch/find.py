"""What was handed in: the submissions in a folder or a download, each with whose it is and when it came."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import yaml

from grader.assignment import known_ids
from grader.assignment import load as load_assignment
from grader.batch import names
from grader.batch.late import YEARS
from grader.batch.roster import Roster, key_of
from grader.data import LOADER
from grader.errors import UsageError
from grader.report.batch import Student
from grader.report.texts import visible
from grader.submission import NOT_LOOKED_AT

GRADESCOPE = "submission_metadata.yml"
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2")


@dataclass(frozen=True)
class HandedIn:
    """One submission.

    Attributes:
        key: the student's folder and name in the ledger.
        student: who it is, as far as that is known.
        paths: a folder, an archive or a file; several files are laid into one folder.
        label: what it is called in messages.
        at: when it was handed in; None: the download does not say.
        late: whether the course site marked it as late.
        order: a later one has a higher order, among those of one student.
        formerly: the key that it would have without the roster.
    """

    key: str
    student: Student
    paths: Sequence[Path]
    label: str
    at: datetime | None = None
    late: bool = False
    order: tuple[float, ...] = ()
    formerly: str = ""


@dataclass
class Findings:
    """The submissions, and what there was that is none.

    Attributes:
        submissions: the newest of each student, or all of them; in the order of the students.
        superseded: earlier ones of the same students, that are not graded.
        notes: what the user should know: files of nobody on the roster, students without a submission.
    """

    submissions: list[HandedIn] = field(default_factory=list)
    superseded: list[HandedIn] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def find(root: Path, roster: Roster | None, every: bool = False, out: Path | None = None) -> Findings:
    """The submissions in ``root``: a Canvas or Gradescope download, unpacked, or a folder or file a student.

    ``out``, the folder of the ledger, may lie there, and is no submission.

    Raises:
        UsageError: there is nothing in it, or it cannot be read.
    """
    try:
        return _find(_looked_through(root, out), roster, every, out)
    except OSError as error:
        raise UsageError(f"{error.filename or root} cannot be read: {error.strerror}") from error


def _find(root: Path, roster: Roster | None, every: bool, out: Path | None) -> Findings:
    findings = Findings()
    if (root / GRADESCOPE).is_file():
        found = list(_gradescope(root, findings))
    else:
        entries = sorted(p for p in _inside(root, out) if p.name != GRADESCOPE)
        from_canvas = [(p, names.canvas(p.name)) for p in entries]
        found = [*_canvas([(p, n) for p, n in from_canvas if n]), *_plain(p for p, n in from_canvas if n is None)]
    if not found:
        raise UsageError(f"there are no submissions in {root}: a folder, archive or file a student is expected")
    joined = [_joined(one, roster, findings) for one in found] if roster else found
    _choose(joined, every, findings)
    if roster:
        there = {one.student for one in joined}
        missing = [s.name or s.login or s.id for s in roster.students if s not in there]
        if missing:
            findings.notes.append(f"{len(missing)} of the roster handed in nothing: {_some(missing)}")
    return findings


def _inside(root: Path, out: Path | None) -> list[Path]:
    ours = os.path.realpath(out) if out else None
    seen = (p for p in root.iterdir() if p.name not in NOT_LOOKED_AT and not p.name.startswith("."))
    return [path for path in seen if os.path.realpath(path) != ours]


def _is_one(folder: Path) -> bool:
    """Whether a folder is a student's: it holds a file of an assignment where the assignment has it."""
    return any((folder / name).is_file() for known in known_ids() for name in load_assignment(known).submission.files)


def _looked_through(root: Path, out: Path | None) -> Path:
    """The folder itself, or the one that is all it holds where that is a download's."""
    inside = _inside(root, out)
    if len(inside) == 1 and inside[0].is_dir() and not inside[0].is_symlink():
        below = inside[0]
        if (below / GRADESCOPE).is_file() or any(names.canvas(p.name) for p in below.iterdir()):
            return below
        if (
            not _is_one(below)
            and sum(1 for p in below.iterdir() if p.is_dir() or p.name.lower().endswith(ARCHIVES)) > 1
        ):
            return below
    return root


def _canvas(files: Iterable[tuple[Path, names.CanvasName]]) -> Iterable[HandedIn]:
    """One submission for each version of a student's: the n-th versions of all files belong together."""
    of_student: dict[str, list[tuple[Path, names.CanvasName]]] = {}
    for path, name in files:
        of_student.setdefault(name.user, []).append((path, name))
    for user, group in sorted(of_student.items()):
        for version in sorted({name.version for _, name in group}):
            newest: dict[str, tuple[Path, names.CanvasName]] = {}
            for path, name in sorted(group, key=lambda one: one[1].attachment):
                if name.version <= version and (name.version == version or name.file not in newest):
                    newest[name.file] = (path, name)
            parts = [part for part in newest.values() if part[1].version == version] or list(newest.values())
            # an archive is a whole submission: what lies beside it is notes
            whole = [part for part in parts if part[0].name.lower().endswith(ARCHIVES)]
            chosen = whole[-1:] or parts
            who = _said(chosen[0][1].who)
            yield HandedIn(
                key=user,
                student=Student(name=who, id=user),
                paths=[path for path, _ in chosen],
                label=_said(", ".join(path.name for path, _ in chosen)),
                late=any(name.late for _, name in chosen),
                order=(version, max(name.attachment for _, name in chosen)),
            )


def _gradescope(root: Path, findings: Findings) -> Iterable[HandedIn]:
    """The folders that Gradescope's metadata names; a group's submission is each member's."""
    try:
        text = (root / GRADESCOPE).read_text(encoding="utf-8")
        listed = yaml.load(text, Loader=LOADER)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"{root / GRADESCOPE} cannot be read: {error}") from error
    if not isinstance(listed, dict):
        raise UsageError(f"{root / GRADESCOPE} is not what Gradescope writes: it names no submissions")
    for folder, about in sorted(((str(k), v) for k, v in listed.items()), key=lambda one: one[0]):
        if not names.is_plain(folder):
            findings.notes.append(f"{GRADESCOPE}: `{_said(folder)[:80]}` is no name of a folder, and is left out")
            continue
        if not isinstance(about, dict) or not (root / folder).is_dir():
            continue
        at = about.get(":created_at")
        moment = _moment(at)
        submitters = about.get(":submitters")
        for person in submitters if isinstance(submitters, list) else []:
            if isinstance(person, dict):
                known = [str(person.get(field) or "") for field in (":name", ":sid", ":email")]
                student = Student(name=known[0], sis_id=known[1], login=known[2])
                order = (moment.timestamp() if moment else 0.0,)
                yield HandedIn(
                    key_of(student) if any(known) else names.key(folder),
                    student,
                    [root / folder],
                    folder,
                    moment,
                    order=order,
                )


def _moment(value: object) -> datetime | None:
    """A time of the metadata; without a zone it is UTC. One that no calendar of a course has is none."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime) or value.year not in YEARS:
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _plain(entries: Iterable[Path]) -> Iterable[HandedIn]:
    """A folder, archive or file for each student, by whose name it is called."""
    for path in entries:
        name = _said(path.name if path.is_dir() else names.stem(path.name))
        order = (path.lstat().st_mtime,)
        yield HandedIn(names.key(name), Student(name=name), [path], _said(path.name), order=order)


def _joined(one: HandedIn, roster: Roster, findings: Findings) -> HandedIn:
    known = roster.find(one.student.id, one.student.sis_id, one.student.login, one.student.name, one.key)
    if known is None:
        findings.notes.append(f"{one.label}: nobody on the roster has this name or number")
        return one
    return replace(one, student=known, key=key_of(known), formerly=one.key)


def _choose(found: Sequence[HandedIn], every: bool, findings: Findings) -> None:
    of_student: dict[str, list[HandedIn]] = {}
    for one in found:
        of_student.setdefault(one.key, []).append(one)
    for _, group in sorted(of_student.items()):
        group.sort(key=lambda one: (one.order, one.label))
        findings.submissions += group if every else group[-1:]
        findings.superseded += [] if every else group[:-1]
    if findings.superseded:
        labels = [one.label for one in findings.superseded]
        findings.notes.append(f"{len(labels)} earlier submissions are left out (--all grades them): {_some(labels)}")


def _said(name: str) -> str:
    """A file's name in a line of text: no command to a terminal, no line of its own."""
    return visible(name).replace("\n", "\\n")


def _some(labels: Sequence[str], most: int = 5) -> str:
    rest = len(labels) - most
    return ", ".join(labels[:most]) + (f" and {rest} more" if rest > 0 else "")
