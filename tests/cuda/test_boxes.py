"""A box that asks for devices has these and no others; the rest of its walls stand."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import assignment
from grader.cuda.machine import Gpu
from grader.engine import Engine
from grader.sandbox import Sandbox
from grader.sandbox.box import Box
from grader.sandbox.bubblewrap import Bubblewrap
from grader.sandbox.launched import Landlock

NULL = os.makedev(1, 3)


@pytest.fixture
def devices() -> Iterator[tuple[Path, Path]]:
    """Two devices, by names of their own, that are /dev/null by what they do."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        made = Path(folder, "gpu0"), Path(folder, "gpu1")
        try:
            for path in made:
                os.mknod(path, stat.S_IFCHR | 0o666, NULL)
                path.chmod(0o666)
                path.write_bytes(b"x")
        except PermissionError:
            pytest.skip("devices cannot be made, or used, here")
        yield made


@pytest.mark.parametrize("make", [Bubblewrap, Landlock])
def test_named_devices_are_there_and_no_others(make: type[Bubblewrap | Landlock], devices: tuple[Path, Path]) -> None:
    sandbox = make()
    if (why := sandbox.unusable()) is not None:
        pytest.skip(why)
    first, second = devices
    script = f"echo x >{first} && echo first; echo x 2>/dev/null >{second} && echo second; echo end"
    box = Box(["/bin/sh", "-c", script], environment={"PATH": "/usr/bin:/bin"}, devices=[first])
    said = sandbox.run(box).output.splitlines()
    assert "first" in said
    assert "second" not in said
    assert said[-1] == "end"


def test_the_gpu_is_for_boxes_on_cuda_alone(tmp_path: Path) -> None:
    loaded = assignment.load("HW2")
    gpu = Gpu([Path("/dev/full")], [tmp_path], {"LD_LIBRARY_PATH": "/driver"})
    sandbox = Bubblewrap()
    if (why := sandbox.unusable()) is not None:
        pytest.skip(why)
    asked: list[Box] = []
    run = sandbox.run

    def recorded(box: Box) -> object:
        asked.append(box)
        return run(box)

    sandbox.run = recorded  # type: ignore[method-assign, assignment]
    kept: Sandbox = sandbox
    work = tmp_path / "work"
    (work / "stage").mkdir(parents=True)
    engine = Engine(loaded, kept, work / "stage", work, "", gpu=gpu)
    for backend in ("numpy", "cuda"):
        out = work / backend / "out"
        out.mkdir(parents=True)
        job = {"step": "build", "out": str(out), "limits": {"memory_mb": 1.0, "case_s": 1.0}}
        engine._run(job, [], [out], loaded.limits, {"MINITORCH_BACKEND": backend})
    on_numpy, on_cuda = asked
    assert (on_numpy.devices, on_cuda.devices) == ((), gpu.devices)
    assert "LD_LIBRARY_PATH" not in on_numpy.environment
    assert on_cuda.environment["LD_LIBRARY_PATH"] == "/driver"
    assert '"memory_mb"' in (work / "numpy" / "job.json").read_text()
    assert '"memory_mb"' not in (work / "cuda" / "job.json").read_text(), "the driver maps more than there is"
