"""What a course site is given so that it grades by itself: the grader for one assignment, and the site's own scripts.

The scripts lie in ``packages/``. They are the same for every assignment: what differs stands in the file ``assignment``
beside them, in the shell's language.
"""

from __future__ import annotations

import io
import json
import shlex
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from uuid import NAMESPACE_URL, uuid5

import yaml

from grader import fixtures
from grader.assignment import Assignment
from grader.errors import InfrastructureError, UsageError
from grader.home import ROOT

SCRIPTS = ROOT / "packages"
GRADER = "tensorgrade"  # the folder that the grader lies in
LEFT_OUT = {"__pycache__", ".DS_Store"}
ALWAYS = ("grade", "tolerances.yaml", "grader", "assignments/__init__.py", "assignments/common")
MIDNIGHT = (2020, 1, 1, 0, 0, 0)  # the time of all files: the same package has the same bytes
LONGEST_S = 600  # PrairieLearn's longest time limit, and a usual one elsewhere

Files = dict[str, bytes]


@dataclass(frozen=True)
class Settings:
    """What a package is made from.

    Attributes:
        assignment: what is graded.
        fixtures: the set that it is graded against; none: the public one.
        options: options of ``./grade`` that each grading gets.
        image: the name of the image, for sites that run one.
        readers: who grades there: root, or all, any user.
    """

    assignment: Assignment
    fixtures: Path | None
    options: Sequence[str]
    image: str
    readers: Literal["root", "all"] = "root"


def gradescope(settings: Settings) -> Files:
    """What is uploaded to Gradescope, as a zip."""
    scripts = _scripts("gradescope", ("setup.sh", "run_autograder"))
    return {**scripts, **_grader(settings)}


def prairielearn(settings: Settings) -> Files:
    """A question, and the image that grades it."""
    assignment = settings.assignment
    names = [PurePosixPath(name).name for name in assignment.submission.files]
    image = _image(settings, "prairielearn", ("run.sh",))
    question = f"questions/{assignment.id}"
    info: dict[str, Any] = {
        "uuid": str(uuid5(NAMESPACE_URL, f"tensorgrade {assignment.id}")),
        "title": assignment.title,
        "topic": "Assignments",
        "type": "v3",
        "singleVariant": True,
        "gradingMethod": "External",
        "externalGradingOptions": {
            "enabled": True,
            "image": settings.image,
            "entrypoint": f"/{GRADER}/run.sh",
            "timeout": LONGEST_S,
        },
    }
    page = (SCRIPTS / "prairielearn" / "question.html").read_text("utf-8").replace("@FILES@", ", ".join(names))
    return {
        f"{question}/info.json": (json.dumps(info, indent=2) + "\n").encode(),
        f"{question}/question.html": page.replace("@TITLE@", assignment.title).encode(),
        **{f"image/{name}": blob for name, blob in image.items()},
    }


def autolab(settings: Settings) -> Files:
    """An assessment's folder, and the image that grades it."""
    assignment, settings = settings.assignment, replace(settings, readers="all")  # Tango grades as a user of its own
    files = assignment.submission.files
    handin = files[0] if len(files) == 1 else "handin.zip"
    name = assignment.id.lower()
    content = {
        "general": {
            "name": name,
            "description": assignment.title,
            "display_name": assignment.id,
            "handin_filename": handin,
            "handin_directory": "handin",
            "max_size": 2,
            "category_name": "Assignments",
        },
        "problems": [
            {"name": row.id, "description": row.title, "max_score": float(row.points)} for row in assignment.rows
        ],
        "autograder": {
            "autograde_timeout": LONGEST_S,
            "autograde_image": settings.image,
            "release_score": True,
        },
    }
    makefile = (SCRIPTS / "autolab" / "autograde-Makefile").read_text("utf-8").replace("@HANDIN@", handin)
    return {
        f"{name}/{name}.yml": yaml.safe_dump(content, sort_keys=False).encode(),
        f"{name}/autograde-Makefile": makefile.encode(),
        f"{name}/autograde.tar": tar(_scripts("autolab", ("autograde.sh",))),
        **{f"image/{name}": blob for name, blob in _image(settings, "autolab", ()).items()},
    }


SITES: dict[str, Callable[[Settings], Files]] = {
    "gradescope": gradescope,
    "prairielearn": prairielearn,
    "autolab": autolab,
}


def _scripts(site: str, names: Iterable[str]) -> Files:
    return {name: (SCRIPTS / site / name).read_bytes() for name in names}


def _image(settings: Settings, site: str, names: Iterable[str]) -> Files:
    """The folder from which the image is built."""
    docker = (SCRIPTS / "Dockerfile").read_text("utf-8").replace("@IMAGE@", settings.image)
    scripts = {f"{GRADER}/{name}": blob for name, blob in _scripts(site, names).items()}
    return {"Dockerfile": docker.encode(), **scripts, **_grader(settings)}


# -- the grader itself -------------------------------------------------------------------------------------


def _grader(settings: Settings) -> Files:
    """All that grading one assignment takes, and how it is called."""
    assignment = settings.assignment
    found: Files = {}
    for name in _needed(assignment):
        found |= _read(ROOT / name, f"{GRADER}/{name}")
    options = [shlex.quote(option) for option in settings.options]
    public = fixtures.set_folder(assignment.id, "public").relative_to(ROOT)
    found |= _read(ROOT / public, f"{GRADER}/{public}")
    if settings.fixtures is not None:
        found |= _read(settings.fixtures, f"{GRADER}/{public.parent}/private")
        options[:0] = ["--fixtures", f'"$here/{public.parent}/private"']
    for name in ("setup.sh", "grade-submission.sh"):
        found[f"{GRADER}/{name}"] = (SCRIPTS / name).read_bytes()
    found[f"{GRADER}/assignment"] = _configuration(settings, options).encode()
    return found


def _needed(assignment: Assignment) -> list[str]:
    """The files and folders of the repository that grading it takes, beside the fixtures."""
    rules = assignment.submission
    sources = [build.source for build in assignment.builds.values() if build.source]
    corpora = [path for check in assignment.checks.values() for path in check.files.values()]
    template = [f"student_template/{assignment.id}/{name}" for name in [*rules.files, *rules.provided]]
    solved = [f"reference/{assignment.id}/{name}" for name in rules.files]
    return list(dict.fromkeys([*ALWAYS, f"assignments/{assignment.id}", *sources, *corpora, *template, *solved]))


def _configuration(settings: Settings, options: Sequence[str]) -> str:
    assignment = settings.assignment
    return (
        "# What the scripts beside this file grade, and with which options of ./grade.\n"
        f"ASSIGNMENT={assignment.id}\n"
        f"LANGUAGE={assignment.submission.language}\n"
        f"READERS={settings.readers}\n"
        f'set -- {" ".join([*options, ""])}"$@"\n'
    )


def _read(path: Path, name: str) -> Files:
    """A file, or all files of a folder."""
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    if not files:
        raise InfrastructureError(f"{path} is missing")
    kept = [file for file in files if file.is_file() and not LEFT_OUT & set(file.parts)]
    return {f"{name}/{file.relative_to(path)}" if file != path else name: file.read_bytes() for file in kept}


# -- writing it --------------------------------------------------------------------------------------------


def write(files: Mapping[str, bytes], out: Path) -> None:
    """Writes a package as a folder, or as a zip where the name says so.

    Raises:
        UsageError: something is there already, or it cannot be written.
    """
    try:
        if out.exists() and (not out.is_dir() or out.suffix == ".zip" or any(out.iterdir())):
            raise UsageError(f"{out} is there already; name a new folder, or a new .zip")
        if out.suffix == ".zip":
            out.write_bytes(zipped(files))
            return
        for name, blob in files.items():
            target = out / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(blob)
            target.chmod(_mode(blob))
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}") from error


def _mode(blob: bytes) -> int:
    return 0o755 if blob.startswith(b"#!") else 0o644


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip of them; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, blob in sorted(files.items()):
            info = zipfile.ZipInfo(name, MIDNIGHT)
            info.external_attr = _mode(blob) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, blob)
    return buffer.getvalue()


def tar(files: Mapping[str, bytes]) -> bytes:
    """A tar of them; the same files give the same bytes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, blob in sorted(files.items()):
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(blob), _mode(blob)
            archive.addfile(info, io.BytesIO(blob))
    return buffer.getvalue()
