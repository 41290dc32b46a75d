"""What a machine has of CUDA: nvcc with its toolkit, a GPU with its driver, PyCUDA; and what is missing, in words."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

TOOLKITS = ("/usr/local/cuda", "/opt/cuda")  # where nvcc is looked for besides PATH
DEVICES = ("nvidia[0-9]*", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps/*", "dxg")
A_GPU = re.compile(r"nvidia\d+|dxg")  # dxg: the Windows Subsystem for Linux
DRIVER = "libcuda.so.1"
# where the driver's library lies that is not in the linker's cache: containers, WSL, NixOS
DRIVER_FOLDERS = ("/usr/local/nvidia/lib64", "/usr/lib/wsl/lib", "/run/opengl-driver/lib")
HARDWARE = ("/sys/bus/pci", "/sys/devices")  # what the driver's library reads of the machine
KEPT = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")  # which of several GPUs; a cluster's scheduler sets them
SANITIZER = "compute-sanitizer"
LONGEST_S = 60.0
_TOP = re.compile(r"^#\$ TOP=(.+)$", re.MULTILINE)
_RELEASE = re.compile(r"release [\d.]+, V([\d.]+)")

NO_NVCC = "there is no nvcc; install the CUDA toolkit, or load its module, so that `nvcc --version` answers"
NO_PYCUDA = "PyCUDA is not installed (grader/requirements-cuda.txt); `./grade HW2 --backend cuda` sets it up"


@dataclass(frozen=True)
class Nvcc:
    """The CUDA compiler.

    Attributes:
        program: nvcc itself, not a script around it.
        toolkit: the folder that it belongs to.
        version: e.g. ``13.0.88``.
    """

    program: Path
    toolkit: Path
    version: str

    @property
    def readable(self) -> list[Path]:
        """What a box must be shown of the toolkit; under /usr it sees it already."""
        return outside_of_the_system([self.toolkit])

    @property
    def sanitizer(self) -> Path | None:
        """The toolkit's memory checker, where it is installed."""
        found = shutil.which(SANITIZER)
        places = [Path(found)] if found else []
        places += [self.toolkit / "bin" / SANITIZER, self.toolkit / SANITIZER / SANITIZER]
        return next((path for path in places if path.is_file()), None)


@dataclass(frozen=True)
class Gpu:
    """A GPU that can be tried.

    Attributes:
        devices: what programs open to use it.
        readable: what they read besides: the driver's library, the machine's description.
        environment: variables for them.
    """

    devices: Sequence[Path]
    readable: Sequence[Path] = ()
    environment: dict[str, str] = field(default_factory=dict)


def _said(command: Sequence[str]) -> str:
    """What a program says, on both streams; empty where it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout + done.stderr


def find_nvcc() -> Nvcc | None:
    """The nvcc in PATH, or in one of the usual places; None: there is none that answers."""
    found = shutil.which("nvcc") or next(
        (path for folder in TOOLKITS if os.access(path := f"{folder}/bin/nvcc", os.X_OK)), None
    )
    release = _RELEASE.search(_said([found, "--version"])) if found else None
    if found is None or release is None:
        return None
    # nvcc in PATH may be a script; it tells itself where it lies
    top = _TOP.search(_said([found, "--dryrun", "-x", "cu", os.devnull]))
    toolkit = Path(os.path.realpath(top[1])) if top else Path(os.path.realpath(found)).parent.parent
    program = toolkit / "bin" / "nvcc"
    return Nvcc(program if program.is_file() else Path(found), toolkit, release[1])


def find_gpu(toolkit: Path | None = None, dev: Path = Path("/dev")) -> Gpu | str:
    """The machine's GPU, or why none can be used; ``dev``: where devices are."""
    devices = [path for pattern in DEVICES for path in sorted(dev.glob(pattern)) if not path.is_dir()]
    if not any(A_GPU.fullmatch(path.name) for path in devices):
        return f"there is no NVIDIA GPU here (no {dev}/nvidia0)"
    driver = find_driver()
    if driver is None:
        return f"the NVIDIA driver's library {DRIVER} is not found: install the driver"
    folders = [driver.parent, *([toolkit / "lib64"] if toolkit else [])]
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment["LD_LIBRARY_PATH"] = os.pathsep.join(map(str, folders))
    hardware = [Path(name) for name in HARDWARE if Path(name).is_dir()]
    return Gpu(devices, [*outside_of_the_system(folders), *hardware], environment)


def find_driver() -> Path | None:
    """The driver's library: the linker's, or that of one of the usual places."""
    cached = [line.rpartition(" => ")[2] for line in _said(["ldconfig", "-p"]).splitlines() if DRIVER in line]
    asked = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    places = [*cached, *(f"{folder}/{DRIVER}" for folder in (*DRIVER_FOLDERS, *asked) if folder)]
    return next((Path(path) for path in places if os.path.isfile(path)), None)


def outside_of_the_system(folders: Sequence[Path]) -> list[Path]:
    """The folders that a box does not see already."""
    return [path for path in folders if path.is_dir() and not path.resolve().is_relative_to("/usr")]


def lacks(packages: Sequence[str]) -> bool:
    """Whether one of the packages that the CUDA backend imports is not installed."""
    return any(importlib.util.find_spec(name) is None for name in packages)
