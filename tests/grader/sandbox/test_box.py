"""What every wall does: time, output, environment, the whole process tree."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.errors import InfrastructureError, UsageError
from grader.sandbox import WALLS as ALL
from grader.sandbox import Box, Outcome, Sandbox, Wall, choose, seccomp
from grader.sandbox.bubblewrap import Bubblewrap
from grader.sandbox.launched import Landlock, Limits
from grader.sandbox.system import packages
from grader.sandbox.user import User


def wall_of(name: str, make: Callable[[], Wall]) -> object:
    """A wall as a parameter of tests; left out, with the reason, where it does not work."""
    wall = make()
    reason = wall.unusable()
    return pytest.param(wall, id=name, marks=pytest.mark.skipif(reason is not None, reason=f"{name}: {reason}"))


CONFINING: dict[str, Callable[[], Wall]] = {
    "bubblewrap": Bubblewrap,
    "bubblewrap-nobody": lambda: Bubblewrap(hands_over=False),
    "user": User,
    "landlock": Landlock,
}
TIGHT = [wall_of(name, make) for name, make in CONFINING.items()]
WALLS = pytest.mark.parametrize("wall", [*TIGHT, pytest.param(Limits(), id="limits")])
TIGHT_WALLS = pytest.mark.parametrize("wall", TIGHT)
PATH = {"PATH": "/usr/bin:/bin"}


def run(wall: Sandbox, command: list[str], wall_s: float = 30.0, writable: Path | None = None) -> Outcome:
    folders = [writable] if writable else []
    return wall.run(Box(command, writable=folders, environment=PATH, wall_s=wall_s, output_bytes=1000))


def python(wall: Sandbox, code: str, wall_s: float = 30.0, writable: Path | None = None) -> Outcome:
    return run(wall, [wall.python(), "-I", "-S", "-c", code], wall_s, writable)


def alive(mark: str) -> list[int]:
    """The processes that bear ``mark`` among their arguments."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            blob = path.read_bytes()
        except OSError:
            continue
        if mark.encode() in blob and int(path.parent.name) != os.getpid():
            found.append(int(path.parent.name))
    return found


def soon_gone(mark: str) -> list[int]:
    for _ in range(50):
        if not alive(mark):
            break
        time.sleep(0.1)
    return alive(mark)


@WALLS
def test_what_it_printed_and_how_it_ended(wall: Sandbox) -> None:
    outcome = python(wall, "import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(7)")
    assert (outcome.returncode, outcome.timed_out) == (7, False)
    assert outcome.output == "out\nerr\n"


@WALLS
def test_its_environment_is_the_boxs_alone(wall: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_TOKEN", "secret")
    found = json.loads(python(wall, "import os, json; print(json.dumps(dict(os.environ)))").output)
    assert found.keys() - {"PWD", "LC_CTYPE"} <= {"PATH", "TMPDIR"}


@WALLS
def test_it_starts_where_it_may_write(wall: Sandbox, place: Path) -> None:
    assert python(wall, "import os; print(os.getcwd())", writable=place).output == f"{place}\n"


@TIGHT_WALLS
def test_where_it_may_not_write_it_starts_at_the_root(wall: Sandbox) -> None:
    assert python(wall, "import os; print(os.getcwd())").output.startswith("/")


FOREIGN = """
import os, resource
def tried(name, call):
    try: call(); print(name, "done")
    except OSError as error: print(name, "not done")
n = resource.RLIMIT_NOFILE
tried("limit", lambda: resource.prlimit(PID, n, BOUND))
tried("processors", lambda: os.sched_setaffinity(PID, os.sched_getaffinity(0)))
tried("priority", lambda: os.setpriority(os.PRIO_PROCESS, PID, 0))
tried("its user's priority", lambda: os.setpriority(os.PRIO_USER, 0, 0))
tried("own limit", lambda: resource.setrlimit(n, (100, 100)))
tried("own processors", lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)))
tried("own priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, 5))
"""


@WALLS
def test_limits_and_priorities_are_its_own_alone(wall: Sandbox) -> None:
    """Those of the grader, of the same user under some walls, could be lowered until it fails."""
    if not seccomp.supported():
        pytest.skip("there is no filter for this machine")
    bound = repr(resource.getrlimit(resource.RLIMIT_NOFILE))  # as it is, should it come through
    said = python(wall, FOREIGN.replace("PID", str(os.getpid())).replace("BOUND", bound)).output.splitlines()
    others, own = said[:4], said[4:]
    assert others == [f"{name} not done" for name in ("limit", "processors", "priority", "its user's priority")]
    assert own == [f"own {name} done" for name in ("limit", "processors", "priority")]


@WALLS
def test_nothing_can_be_read_from_standard_input(wall: Sandbox) -> None:
    assert python(wall, "import sys; print(repr(sys.stdin.read()))").output == "''\n"


@WALLS
def test_output_is_bounded_and_the_program_does_not_wait(wall: Sandbox) -> None:
    outcome = python(wall, "import sys\nfor _ in range(2000): sys.stdout.write('x' * 10000)")
    assert (outcome.returncode, outcome.timed_out) == (0, False)
    assert outcome.output == "x" * 1000 + "\n[output cut here]"


@WALLS
def test_output_that_is_no_text_becomes_some(wall: Sandbox) -> None:
    assert python(wall, "import os; os.write(1, b'\\xff\\x00ok')").output == "\ufffd\x00ok"


@WALLS
def test_the_wall_limit_ends_it(wall: Sandbox) -> None:
    outcome = python(wall, "print('started', flush=True)\nwhile True: pass", wall_s=1.0)
    assert outcome.timed_out
    assert "started" in outcome.output


@WALLS
def test_signals_do_not_help_against_the_limit(wall: Sandbox, tmp_path: Path) -> None:
    mark = f"deaf-{tmp_path.name}-{os.getpid()}"
    deaf = f"import signal, time\nfor n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\ntime.sleep(90)  # {mark}"
    assert python(wall, deaf, wall_s=1.0).timed_out
    assert soon_gone(mark) == []


@WALLS
def test_children_end_with_it(wall: Sandbox, tmp_path: Path) -> None:
    mark = f"child-{tmp_path.name}-{os.getpid()}"
    code = f"import os, time\npid = os.fork()\nif pid == 0:\n    time.sleep(90)  # {mark}"
    python(wall, code, wall_s=20.0)
    assert soon_gone(mark) == []


GRANDCHILD = """\
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for descriptor in {closed}: os.close(descriptor)
        time.sleep(90)  # {mark}
    os._exit(0)
{then}
"""


@WALLS
@pytest.mark.parametrize("then", ["pass", "time.sleep(90)"])
@pytest.mark.parametrize("closed", ["(0, 1, 2)"])
def test_a_daemon_ends_with_it(wall: Sandbox, then: str, closed: str, tmp_path: Path) -> None:
    mark = f"daemon-{tmp_path.name}-{os.getpid()}"
    outcome = python(wall, GRANDCHILD.format(mark=mark, then=then, closed=closed), wall_s=3.0)
    assert outcome.timed_out == (then != "pass")
    assert alive(mark) == []


@WALLS
def test_a_crash_is_told(wall: Sandbox) -> None:
    outcome = python(wall, "import os; os.kill(os.getpid(), 11)")
    assert outcome.returncode in (-signal.SIGSEGV, 128 + signal.SIGSEGV)


OTHERS = """
import importlib, sys
for folder in sys.argv[2:]:
    sys.path.append(folder)
try:
    importlib.import_module(sys.argv[1])
    print("imported")
except (ImportError, OSError):
    print("not there")
"""


@TIGHT_WALLS
def test_what_is_installed_for_the_machines_python_is_not_there(wall: Sandbox) -> None:
    folders = [str(folder) for folder in packages()]
    found = [path.stem for folder in packages() for path in folder.iterdir() if (path / "__init__.py").exists()]
    if not found:
        pytest.skip("nothing is installed")
    outcome = run(wall, [wall.python(), "-I", "-S", "-c", OTHERS, found[0], *folders])
    assert outcome.output == "not there\n"


@TIGHT_WALLS
def test_what_is_to_be_hidden_is_hidden_inside_of_the_system_too(wall: Sandbox) -> None:
    hidden = Path("/usr/share")
    named, other = [path for path in sorted(hidden.iterdir()) if path.is_dir() and any(path.iterdir())][:2]
    code = "import os, sys\nfor path in sys.argv[1:]:\n    try: print(len(os.listdir(path)) > 0)\n"
    code += "    except OSError: print(False)"
    command = [wall.python(), "-I", "-S", "-c", code, str(named), str(other)]
    box = Box(command, readable=[named], hidden=[hidden], environment=PATH)
    assert wall.run(box).output == "True\nFalse\n"


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(InfrastructureError, match="cannot start no-such-program"):
        run(Limits(), ["no-such-program"])


def test_limits_alone_can_be_asked_for() -> None:
    assert choose("limits").name == "none"


@pytest.fixture
def nothing_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("grader.sandbox.ids.available", lambda: False)
    monkeypatch.setattr("grader.sandbox.launched.has_landlock", lambda: False)


@pytest.mark.usefixtures("nothing_works")
def test_where_no_wall_works() -> None:
    assert choose().name == "none"
    with pytest.raises(UsageError, match=r"bubblewrap is not installed .*; user: it takes root.*; landlock: .*doctor"):
        choose(required=True)


@pytest.mark.usefixtures("nothing_works")
@pytest.mark.parametrize("name", sorted(ALL))
def test_the_wall_that_is_asked_for_or_none(name: str) -> None:
    with pytest.raises(UsageError, match=f"no sandbox works here; {name}: "):
        choose(name)


def test_a_sandbox_that_is_required_and_not_asked_for() -> None:
    with pytest.raises(UsageError, match="limits alone are no sandbox"):
        choose("limits", required=True)


def test_a_broken_bubblewrap_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'No permissions to create a new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert choose().name != "bubblewrap"
    with pytest.raises(UsageError, match=re.escape("bubblewrap does not work here: No permissions")):
        choose("bubblewrap")


@pytest.mark.parametrize("broken", [{"hands_over"}, {"filtered"}, {"hands_over", "filtered"}])
def test_what_of_bubblewrap_does_not_work_is_left_out(broken: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    wall = Bubblewrap()
    wall.program, wall.hands_over, wall.filtered = "bwrap", True, True
    monkeypatch.setattr(wall, "_tried", lambda: "no" if any(getattr(wall, name) for name in broken) else None)
    assert wall.unusable() is None
    assert not any(getattr(wall, name) for name in broken)
