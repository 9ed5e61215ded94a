"""Headless Chromium, spoken to over the DevTools protocol. Tests that need it are skipped where it is not found."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

in_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


_CHEAPLY = (
    "--no-zygote",
    "--disable-threaded-compositing",
    "--use-gl=disabled",
    "--disable-extensions",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-features=PaintHolding,Translate,OptimizationHints,MediaRouter",
)
"""What a browser does for people, and what takes half of its time in the tests."""

LONG = 200
"""Seconds after which a test gives up: it waits for an event, never for a time, so a busy machine changes nothing."""

LOADED = """location.href !== 'about:blank' && document.readyState === 'complete'
  && (!document.getElementById('data') || document.documentElement.dataset.ready === 'yes')"""
"""True when a page is loaded and its script, if it has data for one, has run."""


class Browser:
    """One browser with one page. It keeps what the console and uncaught errors say."""

    def __init__(self, profile: Path) -> None:
        import fcntl  # which Windows lacks, as the tests for which no browser is opened do not need to know

        commands, self._write = os.pipe()
        self._read, answers = os.pipe()
        # out of the way of the descriptors 3 and 4, from which and to which the browser reads and writes
        to_browser, from_browser = (fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (commands, answers))
        command = [
            str(CHROMIUM),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--hide-scrollbars",
            *_CHEAPLY,
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
            "about:blank",
        ]
        pipes = f"os.dup2({to_browser}, 3); os.dup2({from_browser}, 4)"
        start = f"import os, sys; {pipes}; os.execv(sys.argv[1], sys.argv[1:])"
        self._process = subprocess.Popen(
            [sys.executable, "-c", start, *command],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (commands, answers, to_browser, from_browser):
            os.close(end)
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self._session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(f"{domain}.enable")
        self("Emulation.setFocusEmulationEnabled", enabled=True)  # whatever had the focus in the page before

    def __call__(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None and not method.startswith("Browser."):
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                result: dict[str, Any] = answer["result"]
                return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = os.read(self._read, 1 << 20)
            assert data, "the browser has gone"
            self._rest += data
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str(parameters["args"]))
        elif method == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        return message

    def open(
        self,
        page: Path,
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        is_ready: str = LOADED,
        fragment: str = "",
    ) -> None:
        self.complaints.clear()
        self.requests.clear()
        self(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self("Emulation.setEmulatedMedia", features=[scheme])
        self.run("window.isLeft = true")  # the page that is open until now may answer for a while
        self("Page.navigate", url=page.as_uri() + fragment)
        self.wait_for(f"!window.isLeft && {is_ready}")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> None:
        self.wait_until(lambda: bool(self.run(condition)), condition)

    def wait_until(self, is_so: Callable[[], bool], what: str = "") -> None:
        end = time.monotonic() + LONG
        while not is_so():
            assert time.monotonic() < end, f"never true: {what}; {self.complaints}"
            time.sleep(0.02)

    @contextmanager
    def in_frame(self) -> Iterator[None]:
        """Speak to the page in the frame, which has a process of its own, since it is sandboxed."""

        def found() -> list[str]:
            targets = self("Target.getTargets")["targetInfos"]
            return [target["targetId"] for target in targets if target["type"] == "iframe"]

        self.wait_until(lambda: len(found()) == 1, "there is one frame")
        outer = self._session
        self._session = self("Target.attachToTarget", targetId=found()[0], flatten=True)["sessionId"]
        try:
            for domain in ("Runtime", "Log"):
                self(f"{domain}.enable")
            self.wait_for(LOADED)
            yield
        finally:
            self._session = outer

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=9)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(LONG)
        os.close(self._write)
        os.close(self._read)


def select(browser: Browser, name: str, value: str) -> None:
    browser.run(
        f"(() => {{ const s = document.getElementById({json.dumps(name)}); s.value = {json.dumps(value)};"
        " for (const name of ['input', 'change']) s.dispatchEvent(new Event(name, { bubbles: true })); })()"
    )


def download(browser: Browser, folder: Path) -> Path:
    """Export the decisions of the page, and return the file."""
    browser("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    browser.run("document.getElementById('export').click()")
    file = folder / "decisions.tsv"
    browser.wait_until(lambda: file.exists() and file.stat().st_size > 0)
    return file


def give(browser: Browser, *files: Path) -> None:
    """Choose files in the field for imports, one after the other."""
    for file in files:
        browser.run("document.getElementById('decided').textContent = ''")
        answer = browser("Runtime.evaluate", expression="document.getElementById('import')")
        browser("DOM.setFileInputFiles", files=[str(file)], objectId=answer["result"]["objectId"])
        browser.wait_for("document.getElementById('decided').textContent.includes('import')")


FOUND_BY_AXE = """axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations.flatMap(
  (rule) => rule.nodes.map((node) => `${rule.id}: ${node.target.join(" ")}: ${node.failureSummary}`)))"""
"""What axe-core, whose script has run in the page, finds."""
