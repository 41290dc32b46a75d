"""What reads bytes from outside, on right inputs, mutated ones, and all that fuzzing has found (``fuzz/`` goes on)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.feed import Feed
from fuzz.targets import TARGETS

# Inputs that once did harm: found/<target>/<what came of it>
FOUND = sorted((Path(__file__).resolve().parent / "found").glob("*/*"))
SEEDS = {name: list(target.seeds()) for name, target in TARGETS.items()}


@pytest.mark.parametrize("name", TARGETS)
def test_right_inputs(name: str) -> None:
    assert SEEDS[name]
    for seed in SEEDS[name]:
        TARGETS[name].run(seed)


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found(path: Path) -> None:
    TARGETS[path.parent.name].run(path.read_bytes())


def mutated(name: str, data: st.DataObject) -> bytes:
    """A seed with bytes changed, taken out and put in."""
    blob = bytearray(data.draw(st.sampled_from(SEEDS[name])))
    for _ in range(data.draw(st.integers(1, 6))):
        start = data.draw(st.integers(0, len(blob)))
        end = min(len(blob), start + data.draw(st.sampled_from([0, 0, 1, 1, 4, 64])))
        blob[start:end] = data.draw(st.binary(max_size=8))
    return bytes(blob)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(data=st.data())
def test_mutated_inputs(name: str, data: st.DataObject) -> None:
    TARGETS[name].run(mutated(name, data))


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=2000, deadline=None)
@given(data=st.data())
def test_many_mutated_inputs(name: str, data: st.DataObject) -> None:
    TARGETS[name].run(mutated(name, data))


@settings(deadline=None)
@given(st.binary(max_size=40), st.integers(0, 1 << 40))
def test_a_feed_gives_what_is_asked_for(blob: bytes, most: int) -> None:
    feed = Feed(blob)
    assert 0 <= feed.number(most) <= most
    assert len(feed.piece()) <= 255
    assert feed.choice("abc") in "abc"
    feed.rest()
    assert (feed.rest(), feed.number(most), feed.choice("abc")) == (b"", 0, "a")
