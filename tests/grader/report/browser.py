"""Chromium by its WebDriver, for tests that look at a page as a reader sees it."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]
TAB, ENTER = "\ue004", "\ue007"


def lacking() -> str:
    """What is missing to open a browser; empty if nothing is."""
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"{' and '.join(missing)} not installed: apt-get install chromium chromium-driver" if missing else ""


@dataclass(frozen=True)
class Browser:
    """A session; ``base`` is its address."""

    base: str

    def _ask(self, method: str, path: str, content: dict[str, Any] | None = None) -> Any:
        body = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(f"{self.base}{path}", body, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, page: Path, width: int = 1280, dark: bool = False, height: int = 900) -> None:
        """Opens a file as on a screen of that width, by day or by night."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._cdp("Emulation.setEmulatedMedia", {"features": scheme})
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._cdp("Emulation.setDeviceMetricsOverride", metrics)
        self._ask("POST", "/url", {"url": page.as_uri()})

    def _cdp(self, command: str, parameters: dict[str, Any]) -> Any:
        return self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def run(self, script: str) -> Any:
        """What a script returns; it may be a promise."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": []})

    def press(self, key: str) -> None:
        """Presses a key."""
        strokes = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})

    def picture(self, to: Path) -> None:
        """The whole page as PNG."""
        found = self._cdp("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True})
        to.write_bytes(base64.b64decode(found["data"]))

    def paper(self, to: Path) -> None:
        """The page as it is printed, as PDF."""
        found = self._cdp("Page.printToPDF", {"printBackground": True})
        to.write_bytes(base64.b64decode(found["data"]))


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A browser of the test's own, gone afterwards."""
    port = _free_port()
    driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            arguments = [*ARGUMENTS, f"--user-data-dir={profile}"]
            options = {"args": arguments, "binary": shutil.which("chromium")}
            wanted = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}}
            rim = Browser(f"http://127.0.0.1:{port}")
            session = _session(rim, wanted)
            try:
                yield session
            finally:
                session._ask("DELETE", "")
    finally:
        driver.terminate()
        driver.wait()


def _session(rim: Browser, wanted: dict[str, Any]) -> Browser:
    for _ in range(100):
        with contextlib.suppress(OSError):
            return Browser(f"{rim.base}/session/{rim._ask('POST', '/session', wanted)['sessionId']}")
        time.sleep(0.1)
    raise AssertionError("chromedriver does not answer")
