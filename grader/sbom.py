"""A software bill of materials of where the grader runs: its Python packages, Python itself, the system's packages.

In CycloneDX 1.6 (ECMA-424), as JSON. The same installation gives the same bytes: it bears no time.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import Distribution, distributions
from typing import Any
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from grader import __version__
from grader.errors import InfrastructureError
from grader.report.plain import dumps

Component = dict[str, Any]

SPEC = "1.6"
SCHEMA = f"http://cyclonedx.org/schema/bom-{SPEC}.schema.json"
NAME = "tensorgrade"
DPKG = ("dpkg-query", "--show", "--showformat=${Package}\t${Version}\t${Architecture}\t${Status}\n")
INSTALLED = "install ok installed"


def bill() -> Component:
    """The bill.

    Raises:
        InfrastructureError: the system's list of packages cannot be read.
    """
    components = [*_pythons(), *sorted(_installed(distributions()), key=_reference), *_system()]
    return {
        "$schema": SCHEMA,
        "bomFormat": "CycloneDX",
        "specVersion": SPEC,
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, dumps(components))}",
        "version": 1,
        "metadata": {"component": _component("application", NAME, __version__, f"pkg:generic/{NAME}@{__version__}")},
        "components": components,
    }


def _component(kind: str, name: str, version: str, purl: str) -> Component:
    return {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl}


def _reference(component: Component) -> str:
    return str(component["bom-ref"])


def _pythons() -> Iterator[Component]:
    """The interpreter: many images bring one that is none of the system's packages."""
    version = platform.python_version()
    yield _component("platform", "python", version, f"pkg:generic/python@{version}")


def _installed(found: Iterable[Distribution]) -> Iterator[Component]:
    """The packages of this Python's environment, each once."""
    seen: set[str] = set()
    for one in found:
        name = normalised(one.metadata["Name"])
        if name not in seen:
            seen.add(name)
            component = _component("library", name, one.version, f"pkg:pypi/{name}@{quote(one.version)}")
            licences = one.metadata.get_all("License-Expression")  # in SPDX's terms; many have none yet
            yield {**component, "licenses": [{"expression": licences[0]}]} if licences else component


def normalised(name: str) -> str:
    """A package's name as indices know it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _system() -> Iterator[Component]:
    """The system, and its packages where dpkg keeps them."""
    try:
        release: Mapping[str, str] = platform.freedesktop_os_release()
    except OSError:  # no Linux
        return
    system, version = release.get("ID", "linux"), release.get("VERSION_ID", "")
    distribution = f"{system}-{version}" if version else system
    yield _component("operating-system", system, version, f"pkg:generic/{system}@{quote(version or 'rolling')}")
    if shutil.which(DPKG[0]) is None:
        return
    done = subprocess.run(DPKG, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InfrastructureError(f"{DPKG[0]} cannot list what is installed: {done.stderr.strip()}")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    for name, number, architecture, status in sorted(rows):
        if status == INSTALLED:
            purl = f"pkg:deb/{system}/{quote(name)}@{quote(number)}?arch={architecture}&distro={distribution}"
            yield _component("library", name, number, purl)
