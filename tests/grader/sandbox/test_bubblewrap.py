"""Behind bubblewrap: nothing of the machine but the system and what the box names."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grader.fixtures import set_folder
from grader.home import ROOT
from grader.sandbox import bubblewrap
from grader.sandbox.box import Box, interpreter
from grader.sandbox.bubblewrap import Bubblewrap

UNUSABLE = Bubblewrap().unusable()
pytestmark = pytest.mark.skipif(UNUSABLE is not None, reason=f"{UNUSABLE}")

LOOK = """\
import os, sys
for path in sys.argv[1:]:
    try:
        os.listdir(path) if os.path.isdir(path) else open(path).read(1)
        print(path, "there")
    except OSError as error:
        print(path, type(error).__name__)
"""
TRY = """\
try:
    {code}
except OSError as error:
    print(type(error).__name__, error.strerror)
"""


def inside(
    code: str,
    *arguments: str,
    readable: tuple[Path, ...] = (),
    writable: tuple[Path, ...] = (),
    hands_over: bool = True,
) -> str:
    command = [interpreter(), "-I", "-S", "-c", code, *arguments]
    box = Box(command, readable, writable, {"PATH": "/usr/bin:/bin"})
    return Bubblewrap(hands_over=hands_over).run(box).output.strip()


MANNERS = pytest.mark.parametrize("hands_over", [True, False])


def test_home_repository_and_fixtures_are_not_there() -> None:
    hidden = [ROOT / "grader" / "judge.py", ROOT / "reference", set_folder("A2", "public"), Path.home() / ".bashrc"]
    hidden += [Path("/etc/passwd"), Path("/root/.ssh"), Path("/var"), Path("/work"), Path("/etc/shadow")]
    said = inside(LOOK, *map(str, hidden)).splitlines()
    assert [line.rsplit(" ", 1)[1] for line in said] == ["FileNotFoundError"] * len(hidden)


def test_what_is_named_is_there_and_its_neighbours_are_not() -> None:
    inputs = set_folder("A2", "public") / "inputs" / "gelu_backward" / "core.safetensors"
    neighbours = [inputs.with_name("left.safetensors"), Path(str(inputs).replace("inputs", "expected"))]
    code = "import os, sys\nfor path in sys.argv[1:]: print(os.path.exists(path))"
    assert all(path.exists() for path in neighbours)
    assert inside(code, *map(str, [inputs, *neighbours]), readable=(inputs,)).split() == ["True", "False", "False"]


def test_what_is_readable_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("as it was")
    for place in (str(tmp_path / "in"), "/x", "/usr/bin/x", "/etc/x", "/dev/x", "/bin/sh"):
        code = TRY.format(code=f"open({place!r}, 'w')")
        assert inside(code, readable=(tmp_path,)).startswith(("OSError Read-only", "PermissionError")), place
    assert (tmp_path / "in").read_text() == "as it was"


def test_what_is_writable_is_kept(tmp_path: Path) -> None:
    inside("open('here', 'w').write('kept')", writable=(tmp_path,))
    assert (tmp_path / "here").read_text() == "kept"


def test_tmp_is_its_own_and_gone_afterwards() -> None:
    name = f"/tmp/left-behind-{os.getpid()}"
    code = f"import os\nprint(os.listdir('/tmp'))\nopen({name!r}, 'w').write('x')\nprint(os.path.exists({name!r}))"
    assert inside(code).split() == ["[]", "True"]
    assert not Path(name).exists()


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_what_lies_in_memory_is_bounded(place: str) -> None:
    code = TRY.format(code=f"open('{place}/fill', 'wb', 0).writelines(bytes(1 << 20) for _ in range(300))")
    assert "No space left" in inside(code)


def test_no_network_at_all() -> None:
    server = socket.create_server(("127.0.0.1", 0))
    here = server.getsockname()
    connect = TRY.format(code=f"__import__('socket').create_connection({here!r}, 2)")
    assert inside(connect).startswith(("ConnectionRefusedError", "OSError"))
    resolve = TRY.format(code="__import__('socket').gethostbyname('localhost.example.org')")
    assert inside(resolve).startswith("gaierror")
    assert inside("print(open('/proc/net/dev').read().count(':'))") == "1", "there is more than the loopback"
    server.close()


def test_no_socket_of_the_machine() -> None:
    code = "import os\nfor p in ('/run', '/var/run', '/tmp/.X11-unix'): print(os.path.exists(p))"
    assert set(inside(code).split()) == {"False"}


def test_no_other_process_is_seen() -> None:
    found = inside("import os; print(len([p for p in os.listdir('/proc') if p.isdigit()]))")
    assert int(found) <= 2


@MANNERS
def test_it_is_nobody_without_capabilities(hands_over: bool) -> None:
    told = inside("print(open('/proc/self/status').read())", hands_over=hands_over)
    said = dict(line.split(":\t", 1) for line in told.splitlines())
    assert {said[name] for name in ("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (said["NoNewPrivs"], said["Seccomp"]) == ("1", "2")
    who = "import os; print(os.getuid(), os.getgid(), os.uname().nodename)"
    user, group, name = inside(who, hands_over=hands_over).split()
    assert user == group
    assert int(user) not in (0, os.getuid())
    assert name == "sandbox"


def test_two_boxes_at_once_are_two_users() -> None:
    code = "import os, time; print(os.getuid()); time.sleep(0.5)"
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(inside, [code, code])
    if Bubblewrap().hands_over:
        assert first != second


SETTINGS = """\
import os
found = 0
for folder, _, files in os.walk("/proc/sys"):
    for name in files:
        found += 1
        try:
            os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
            print(folder, name)
        except OSError:
            pass
print(found > 50)
"""


@MANNERS
def test_settings_of_the_kernel_cannot_be_written(hands_over: bool) -> None:
    assert inside(SETTINGS, hands_over=hands_over) == "True"


@MANNERS
def test_the_first_process_does_not_tell_of_our_folders(hands_over: bool, tmp_path: Path) -> None:
    told = inside("print(open('/proc/1/cmdline').read())", readable=(tmp_path,), hands_over=hands_over)
    assert "bwrap" in told
    assert str(tmp_path) not in told


@pytest.mark.parametrize("name", ["numpy", "torch", "grader", "pydantic"])
def test_no_package_of_the_graders_is_in_reach(name: str) -> None:
    assert "ModuleNotFoundError" in inside(f"import {name}")


def test_shared_memory_is_its_own() -> None:
    name = f"/dev/shm/left-behind-{os.getpid()}"
    code = f"try: open({name!r}, 'w')\nexcept OSError: pass"
    inside(code)
    assert not Path(name).exists()


def wrapped(wall: Bubblewrap, **parts: Sequence[Path]) -> str:
    return " ".join(wall.arguments(Box(["true"], **parts), False))  # type: ignore[arg-type]


def test_a_repository_inside_of_the_system_is_covered_and_its_named_parts_are_bound_on_top() -> None:
    place, named = Path("/usr/local/course"), Path("/usr/local/course/assignments/A2/driver.py")
    told = wrapped(Bubblewrap(), hidden=(place, Path("/opt/elsewhere")), readable=(named,))
    cover, part = f"--tmpfs {place}", f"--ro-bind {named} {named}"
    assert told.index("--ro-bind /usr /usr") < told.index(cover) < told.index(part)
    assert told.index(part) < told.index(f"--remount-ro {place}")
    assert "/opt/elsewhere" not in told


def test_a_repository_inside_of_the_interpreters_folder_is_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "interpreters", lambda: [ROOT.parent])
    told = wrapped(Bubblewrap())
    assert told.index(f"--ro-bind {ROOT.parent} {ROOT.parent}") < told.index(f"--tmpfs {ROOT}")


def test_an_interpreter_inside_of_a_covered_repository_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "interpreters", lambda: [Path("/usr/course/python")])
    told = wrapped(Bubblewrap(), hidden=(Path("/usr/course"),))
    assert told.index("--tmpfs /usr/course") < told.index("--ro-bind /usr/course/python")


def test_what_is_covered_is_empty_and_cannot_be_written() -> None:
    place = Path("/usr/share")
    named = next(path for path in sorted(place.iterdir()) if path.is_dir())
    code = "import os\nprint(os.listdir('/usr/share'))\n" + TRY.format(code="open('/usr/share/x', 'w')")
    command = [interpreter(), "-I", "-S", "-c", code]
    box = Box(command, [named], hidden=(place,), environment={"PATH": "/usr/bin:/bin"})
    said = Bubblewrap().run(box).output.strip()
    assert said == f"['{named.name}']\nOSError Read-only file system"
