"""Taking a submission: a folder, an archive or a file; only what the assignment names is read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from grader import archives
from grader.archives import MOST_ENTRIES, Archive, BrokenArchiveError, Reader, RefusedError
from grader.assignment import Submission as Rules
from grader.errors import UsageError
from grader.fixtures import sha256

DEEPEST = 6  # a folder in a folder in a folder, and a little more
MOST_NAMED = 3  # files named in a message
MOST_REFUSED = 20  # members of an archive that are listed as refused
NOT_LOOKED_AT = {".git", "__MACOSX", ".venv", "node_modules", "__pycache__"}


@dataclass
class Taken:
    """What was taken of a submission.

    Attributes:
        origin: what the user named.
        files: the bytes of each file that counts, by the assignment's path.
        hashes: their sha256.
        ignored: files that were brought and changed, though the assignment provides its own.
        problems: why it cannot be graded; empty if it can.
        paths: where each file that counts lay in the submission.
        refused: members of an archive that were not looked at as they stand, each with the reason.
    """

    origin: str
    files: dict[str, bytes] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    paths: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)


def shown(name: Path | str) -> str:
    """A file's name as text that can be written: bytes that are not UTF-8 are escaped."""
    return str(name).encode("utf-8", "backslashreplace").decode()


def take(path: Path, rules: Rules, ours: Path) -> Taken:
    """Takes the files that count from ``path``; ``ours`` is the template's folder.

    What is wrong with the submission itself stands in ``problems``.

    Raises:
        UsageError: there is nothing at ``path``, or it is neither folder, archive nor a file that counts.
    """
    if not path.exists():
        raise UsageError(f"there is no submission at {path}")
    if not path.is_dir() and not path.is_file():
        raise UsageError(f"{path} is neither a file nor a folder")
    if path.is_dir():
        return _collect(path, rules, ours, _walk(path), _folder_reader(path))
    if path.name in {PurePosixPath(name).name for name in rules.files}:
        return _single_file(path, rules, ours)
    return _take_archive(path, rules, ours)


def _take_archive(path: Path, rules: Rules, ours: Path) -> Taken:
    try:
        with archives.opened(path) as archive:
            if archive is None:
                wanted = " or ".join(rules.files)
                raise UsageError(f"{shown(path)} is neither a folder, nor a zip or tar, nor {wanted}")
            taken = _collect(path, rules, ours, archive.names, archive.read)
            taken.refused = _refused_of(archive)
            return taken
    except BrokenArchiveError as error:
        return Taken(shown(path), problems=[f"{shown(path.name)} cannot be unpacked: {shown(str(error))}"])
    except OSError as error:
        raise UsageError(f"{shown(path)} cannot be read: {error.strerror}") from error


def _refused_of(archive: Archive) -> list[str]:
    """The members that were refused, each with the reason; the first ones, of many."""
    told = [shown(f"{name} {reason}") for name, reason in archive.refused.items()]
    more = len(told) - MOST_REFUSED
    return told if more <= 0 else [*told[:MOST_REFUSED], f"and {more} more"]


def _walk(root: Path) -> Iterable[str]:
    for folder, folders, files in os.walk(root):
        depth = len(Path(folder).relative_to(root).parts)
        folders[:] = sorted(f for f in folders if f not in NOT_LOOKED_AT) if depth < DEEPEST else []
        for name in sorted(files):
            yield (Path(folder) / name).relative_to(root).as_posix()


def _folder_reader(root: Path) -> Reader:
    def read(name: str, limit: int) -> bytes:
        try:
            descriptor = os.open(root / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            if (root / name).is_symlink():
                raise RefusedError("is a link; hand in the file itself") from error
            raise RefusedError(f"cannot be read: {error.strerror}") from error
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise RefusedError("is not a regular file")
            return file.read(limit + 1)

    return read


def _single_file(path: Path, rules: Rules, ours: Path) -> Taken:
    wanted = next(name for name in rules.files if PurePosixPath(name).name == path.name)
    folder = path.absolute().parent
    taken = _collect(path, rules, ours, [wanted], lambda _, limit: _folder_reader(folder)(path.name, limit))
    taken.paths[wanted] = shown(path.name)
    return taken


def _prefixes(names: list[str], wanted: str) -> list[str]:
    """The folders, with a slash behind, in which ``wanted`` lies; the shallowest first."""
    found = {n[: -len(wanted)] for n in names if n == wanted or n.endswith("/" + wanted)}
    barred = NOT_LOOKED_AT | {".."}
    usable = [p for p in found if not barred & set(p.split("/")) and not p.startswith("/")]
    return sorted(usable, key=lambda prefix: (prefix.count("/"), prefix))


def _collect(path: Path, rules: Rules, ours: Path, listing: Iterable[str], read: Reader) -> Taken:
    taken = Taken(shown(path))
    names: list[str] = []
    for name in listing:
        names.append(name)
        if len(names) > MOST_ENTRIES:
            taken.problems.append(f"{shown(path.name)} holds more than {MOST_ENTRIES} files")
            return taken
    prefix = _best_prefix(names, rules, taken)
    flat = _flat_folder(names, rules) if prefix is None else None
    if prefix is None and flat is None:
        taken.problems.append(_nothing_found(path, names, rules))
        return taken
    for wanted in rules.files:
        lies = f"{prefix}{wanted}" if flat is None else f"{flat}{PurePosixPath(wanted).name}"
        _take_file(taken, rules, lies, wanted, names, read)
    if prefix is not None:
        taken.ignored = [shown(name) for name in _ignored(rules, ours, prefix, names, read)]
    return taken


def _flat_folder(names: Iterable[str], rules: Rules) -> str | None:
    """The one folder that holds files that count by their names alone, without the folders that they belong in."""
    wanted = {PurePosixPath(name).name for name in rules.files}
    found = {prefix for name in wanted for prefix in _prefixes(list(names), name)}
    return found.pop() if len(found) == 1 else None


def _ignored(rules: Rules, ours: Path, prefix: str, names: Iterable[str], read: Reader) -> Iterable[str]:
    """The files that were brought in another version than ours, and modules that a package of ours has not.

    A package is known by its name wherever it lies: a second one beside a program would take the place of ours.
    """
    packages = {PurePosixPath(name).parts[0] for name in rules.provided if name.endswith("/__init__.py")}
    for name in sorted(n.removeprefix(prefix) for n in names if n.startswith(prefix)):
        parts = PurePosixPath(name).parts
        within = [i for i, part in enumerate(parts[:-1]) if part in packages and name.endswith(".py")]
        same = "/".join(parts[within[0] :]) if within else name
        counts = name in rules.files or (not within and name not in rules.provided)
        if not counts and _is_own(rules, ours / same, prefix + name, read):
            yield name


def _is_own(rules: Rules, ours: Path, name: str, read: Reader) -> bool:
    """Whether a file that the assignment provides was brought in another version."""
    try:
        return not ours.is_file() or read(name, rules.max_file_kb << 10) != ours.read_bytes()
    except RefusedError:
        return True


def _best_prefix(names: list[str], rules: Rules, taken: Taken) -> str | None:
    """The shallowest folder that holds a file that counts; another at the same depth is a problem."""
    candidates = {prefix for wanted in rules.files for prefix in _prefixes(names, wanted)}
    ordered = sorted(candidates, key=lambda p: (-sum(p + w in names for w in rules.files), p.count("/"), p))
    if not ordered:
        return None
    same = [p for p in ordered[1:] if p.count("/") == ordered[0].count("/")]
    if same and all(ordered[0] + w in names and same[0] + w in names for w in rules.files):
        taken.problems.append(
            shown(f"there are two submissions in it, {ordered[0] or './'} and {same[0]}; hand in one of them")
        )
    return ordered[0]


def _nothing_found(path: Path, names: list[str], rules: Rules) -> str:
    wanted = " or ".join(rules.files)
    if hints := "".join(dict.fromkeys(_instead_of(name, names) for name in rules.files)):
        return shown(f"there is no {wanted} in {path}{hints}")
    near = [n for n in names if PurePosixPath(n).suffix == PurePosixPath(rules.files[0]).suffix][:3]
    hint = f"; it holds {', '.join(near)}: rename it" if near else ""
    return shown(f"there is no {wanted} in {path}{hint}")


def _instead_of(wanted: str, names: Iterable[str]) -> str:
    """What there is in place of a file that is missing, and what to do; empty if nothing is."""
    file = PurePosixPath(wanted)
    paths = [p for p in map(PurePosixPath, names) if not NOT_LOOKED_AT & set(p.parts)]
    if same := [str(p) for p in paths if p.name == file.name][:MOST_NAMED]:
        which = f"move {same[0]} there" if len(same) == 1 else f"put the one that counts there, {' or '.join(same)}"
        return f"; {which}"
    notebooks = [p for p in paths if p.suffix == ".ipynb" and file.suffix == ".py"]
    if found := [str(p) for p in notebooks if p.stem == file.stem] or [str(p) for p in notebooks][:MOST_NAMED]:
        are = "is a notebook, export it as a script" if len(found) == 1 else "are notebooks, export them as scripts"
        return f"; {' and '.join(found)} {are} (jupyter nbconvert --to script)"
    return ""


def _take_file(taken: Taken, rules: Rules, lies: str, wanted: str, names: list[str], read: Reader) -> None:
    if lies not in names:
        taken.problems.append(shown(f"{wanted} is missing{_instead_of(wanted, names)}"))
        return
    limit = rules.max_file_kb << 10
    try:
        blob = read(lies, limit)
    except RefusedError as error:
        taken.problems.append(f"{wanted} {error}")
        return
    if len(blob) > limit:
        taken.problems.append(f"{wanted} is larger than {rules.max_file_kb} KiB")
    elif not blob.replace(b"\0", b"").strip():  # NUL bytes alone: what a crash leaves of a file
        taken.problems.append(f"{wanted} is empty")
    else:
        taken.files[wanted], taken.hashes[wanted] = blob, sha256(blob)
        taken.paths[wanted] = shown(lies)
