"""The page in Chromium: read by axe-core, walked through with the keyboard, and nothing in it runs."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.report import html
from grader.result import Result, Series
from tests.grader.builders import check_result, evidence, result, row_result
from tests.grader.report import browser as browsers
from tests.grader.report.browser import Browser
from tests.grader.report.test_html import HOSTILE, drawn, everything, step, wrong

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(browsers.lacking()), reason=browsers.lacking() or "there"),
]

AXE = "axe-core@4.14.1"
LOOKS = [(1280, False), (1280, True), (390, False), (390, True)]  # width, dark
# What axe cannot tell: text over pictures, and signs. Their colours are the text's, which test_html measures.
UNTOLD = {"color-contrast"}


@pytest.fixture(scope="module")
def session() -> Iterator[Browser]:
    with browsers.browser() as found:
        yield found


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, from npm's registry."""
    folder = tmp_path_factory.mktemp("axe")
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    done = subprocess.run(["npm", "pack", AXE], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"npm cannot fetch {AXE}: {done.stderr.strip().splitlines()[-1:]}")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        found = archive.extractfile("package/axe.min.js")
        assert found is not None
        return found.read().decode()


def full() -> Result:
    """A page with one of everything."""
    curve = Series(title="loss", across="step", first=0, every=1, got=[2.0, 1.0], expected=[2.0, 0.5], bar=1.5)
    steps = [step("same", 1), step("changed", 2, "swapped"), step("missing", 3, "left out")]
    lost = check_result(
        "fail",
        output="line " * 300,
        series=[curve],
        call_steps=steps,
        evidence=[wrong(shape=[2, 5, 40], picture=drawn((2, 5, 40), ["b", "t", "c"])), evidence()],
    )
    rows = [row_result("fail", checks=[lost]), row_result(id="second"), row_result("blocked", id="third")]
    hidden = row_result("hidden", id="fourth", points=0, max_points=0, withheld=10)
    return result(*rows, hidden, problems=["x.c:1:1: error: what"], transcript="TENSOR OK\n" * 80)


def page(given: Result, folder: Path, guarded: bool = True) -> Path:
    """The page as a file; not ``guarded``: without its content security policy."""
    path = folder / "page.html"
    text = html.text(given)
    path.write_text(text if guarded else text.replace("Content-Security-Policy", "x"))
    return path


def open_all(session: Browser) -> None:
    session.run("for (const d of document.querySelectorAll('details')) d.open = true")


@pytest.mark.parametrize(("width", "dark"), LOOKS)
@pytest.mark.parametrize("given", [full(), everything(HOSTILE)], ids=["full", "hostile"])
def test_axe_finds_nothing(given: Result, width: int, dark: bool, session: Browser, axe: str, tmp_path: Path) -> None:
    session.open(page(given, tmp_path), width, dark)
    open_all(session)
    found = session.run(axe + "; return axe.run(document)")
    assert [(v["id"], v["nodes"][0]["html"]) for v in found["violations"]] == []
    assert {v["id"] for v in found["incomplete"]} <= UNTOLD
    assert len(found["passes"]) > 15


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_nothing_is_wider_than_the_screen(width: int, dark: bool, session: Browser, tmp_path: Path) -> None:
    for given in (full(), everything(HOSTILE), everything("x" * 5000)):
        session.open(page(given, tmp_path), width, dark)
        open_all(session)
        assert session.run("return document.documentElement.scrollWidth") <= width


def test_the_theme_is_the_readers(session: Browser, tmp_path: Path) -> None:
    grounds = []
    for dark in (False, True):
        session.open(page(full(), tmp_path), 1280, dark)
        grounds.append(session.run("return getComputedStyle(document.body).backgroundColor"))
    assert grounds == ["rgb(255, 255, 255)", "rgb(16, 20, 26)"]


def focused(session: Browser) -> dict[str, Any]:
    found: dict[str, Any] = session.run(
        "const e = document.activeElement, s = getComputedStyle(e);"
        "return {tag: e.tagName, href: e.getAttribute('href'), text: e.textContent.slice(0, 40),"
        " outline: s.outlineStyle, open: e.parentElement?.open}"
    )
    return found


def test_the_keyboard_reaches_everything_and_shows_where_it_is(session: Browser, tmp_path: Path) -> None:
    session.open(page(full(), tmp_path), 1280)
    wanted = session.run(
        "return [...document.querySelectorAll('a, summary, pre')].filter(e => e.checkVisibility()).length"
    )
    seen = []
    for _ in range(wanted):
        session.press(browsers.TAB)
        seen.append(focused(session))
    assert {entry["tag"] for entry in seen} == {"A", "SUMMARY", "PRE"}
    assert seen[0]["href"] == "#rows", "the way past the head comes first"
    assert all(entry["outline"] == "solid" for entry in seen[1:])
    assert len({(entry["tag"], entry["text"], i) for i, entry in enumerate(seen)}) == wanted


def test_enter_opens_what_is_closed(session: Browser, tmp_path: Path) -> None:
    session.open(page(full(), tmp_path), 1280)
    session.run("document.querySelector('details.passed > summary').focus()")
    assert focused(session)["open"] is False
    session.press(browsers.ENTER)
    assert focused(session)["open"] is True


@pytest.mark.parametrize("guarded", [True, False])
def test_nothing_of_a_hostile_submission_runs(guarded: bool, session: Browser, tmp_path: Path) -> None:
    session.open(page(everything(HOSTILE), tmp_path, guarded), 1280)
    open_all(session)
    assert session.run("return document.title") == "X1: 0/10"
    assert session.run("return document.querySelectorAll('script, img, iframe, object, embed, form').length") == 0
    loaded = session.run("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert loaded == []
    assert session.run("return document.body.innerText.includes('<script>')") is True


def test_a_big_page_is_drawn(session: Browser, tmp_path: Path) -> None:
    big = [wrong(shape=[32, 48], picture=drawn((32, 48), ["b", "c"], seed)) for seed in range(16)]
    path = page(result(row_result("fail", checks=[check_result("fail", evidence=big)])), tmp_path)
    assert path.stat().st_size < 2_000_000
    session.open(path, 390)
    open_all(session)
    session.picture(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 100_000
    sizes = session.run("return [...document.querySelectorAll('.panel svg')].map(e => e.getBoundingClientRect().width)")
    assert len(sizes) == 3 * len(big)
    assert np.min(sizes) > 100


def test_it_is_printed(session: Browser, tmp_path: Path) -> None:
    session.open(page(full(), tmp_path), 1280, dark=True)
    session.paper(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
