"""What the hostile tests share: a listener that nobody is to reach, a copy of the project with short limits."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.clone import Clone, shortened
from tests.hostile.grading import Place


@pytest.fixture(scope="session")
def short_place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A copy of the project whose limits strike soon."""
    clone = Clone(tmp_path_factory.mktemp("short"))
    for assignment in ("A2", "HW2"):
        clone.change(assignment, shortened)
    return Place(clone.launcher, str(clone.home))


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A server on this machine; a test ends with an error if anybody connected."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.fixture
def neighbour(tmp_path: Path) -> Path:
    """Another submission, beside the hostile one, and a home folder with a secret."""
    (tmp_path / "neighbour").mkdir()
    (tmp_path / "neighbour" / "train_gpt2.c").write_text("// somebody else's\n", encoding="utf-8")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".netrc").write_text("password tensorgrade-secret\n", encoding="utf-8")
    return tmp_path / "neighbour"
