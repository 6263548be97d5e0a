# SPDX-License-Identifier: BSD-3-Clause
"""A Chromium without a window, driven by the protocol of its own tools over a pipe: no driver, no port, no library."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

PATIENCE = 60.0
"""Seconds after which nothing is waited for."""

_RUN = """
import fcntl, os, sys
reads, writes = (fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3])
os.dup2(reads, 3), os.dup2(writes, 4), os.set_inheritable(3, True), os.set_inheritable(4, True)
os.execvp(sys.argv[3], sys.argv[3:])
"""
"""Starts a program that reads from its file 3 and writes to 4."""


class Browser:
    """A browser with one page.

    Parameters
    ----------
    folder : path
        For its profile.

    Attributes
    ----------
    console : list of str
        What the console told: errors, warnings and what pages wrote.
    asked : list of str
        The addresses that pages asked for.
    """

    def __init__(self, folder: Path) -> None:
        self.console: list[str] = []
        self.asked: list[str] = []
        read_end, self._to = os.pipe()
        self._from, write_end = os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe"]
        flags += ["--disable-background-networking", "--disable-component-update", f"--user-data-dir={folder}"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _RUN, str(read_end), str(write_end), str(CHROMIUM), *flags, "about:blank"],
            pass_fds=(read_end, write_end),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_end)
        os.close(write_end)
        self._number, self._rest, self._session = 0, b"", ""
        self._loads = 0
        try:
            self._attach()
        except BaseException:
            self.close()
            raise

    def _attach(self) -> None:
        """Make a page, and hear of it."""
        target = self.call("Target.createTarget", url="about:blank")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol; return its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        left = memoryview(json.dumps(message).encode() + b"\0")
        while left:
            left = left[os.write(self._to, left) :]
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            heard = self._next()
            if heard.get("id") == self._number:
                assert "error" not in heard, (method, heard["error"])
                return heard["result"]
        raise TimeoutError(method)

    def _next(self) -> dict[str, Any]:
        """Return the next message, and keep what it tells."""
        while b"\0" not in self._rest:
            part = os.read(self._from, 1 << 20)
            if not part:
                raise ConnectionError("the browser has ended")
            self._rest += part
        one, _, self._rest = self._rest.partition(b"\0")
        heard: dict[str, Any] = json.loads(one)
        told = heard.get("params", {})
        match heard.get("method"):
            case "Network.requestWillBeSent":
                self.asked.append(told["request"]["url"])
            case "Log.entryAdded":
                self.console.append(f"{told['entry']['level']}: {told['entry']['text']}")
            case "Runtime.exceptionThrown" | "Runtime.consoleAPICalled":
                self.console.append(json.dumps(told))
            case "Page.loadEventFired":
                self._loads += 1
        return heard

    # ------------------------------------------------------------ what a person does

    def open(self, address: str) -> None:
        """Go to a page, and wait until it is there."""
        before = self._loads
        self.call("Page.navigate", url=address)
        self.wait_for_a_page(before)

    def wait_for_a_page(self, before: int) -> None:
        """Wait until a page is there; ``before`` is ``loads`` of before."""
        while self._loads == before:
            self._next()

    @property
    def loads(self) -> int:
        """Pages that were there by now."""
        return self._loads

    def press(self, key: str, modifiers: int = 0) -> None:
        """Press a key and let it go: Tab, Enter, or a character."""
        codes = {"Tab": 9, "Enter": 13}
        if key in codes:
            told = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key], "modifiers": modifiers}
            text = {"text": "\r"} if key == "Enter" else {}
            self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **told, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", **told)
        else:
            self.call("Input.dispatchKeyEvent", type="char", text=key)

    def type(self, text: str) -> None:
        """Type a text."""
        for character in text:
            self.press(character)

    def look(self, expression: str) -> Any:
        """Return what a script sees in the page; scripts of the page itself are another thing."""
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def be_a_phone(self) -> None:
        """Have a narrow screen, and be touched."""
        self.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=3, mobile=True)

    def prefer(self, scheme: str) -> None:
        """Prefer a light or dark scheme."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
