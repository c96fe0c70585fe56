"""A small WebDriver client (W3C, over plain HTTP): chromedriver and headless Chromium, nothing else."""

from __future__ import annotations

import base64
import json
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.ports import free_port

SWITCHES = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars",
)  # fmt: skip
PATIENCE_S = 120


class Browser:
    """One headless browser. `profile` is a new, empty folder."""

    def __init__(self, profile: Path) -> None:
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._wait_for_driver()
        chrome = {"args": [*SWITCHES, f"--user-data-dir={profile}"]}
        wanted = {"goog:chromeOptions": chrome, "goog:loggingPrefs": {"browser": "ALL"}}
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/session/{answer['sessionId']}"

    def _wait_for_driver(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._call("GET", "/status")
            except OSError:
                if time.monotonic() > deadline or self.driver.poll() is not None:
                    raise
                time.sleep(0.1)
            else:
                return

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.address + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.read().decode()[:500]}") from error

    def open(self, address: str) -> None:
        self.console()  # what the page before had to say is not about this one
        self._call("POST", f"{self.session}/url", {"url": address})

    def run(self, script: str, *arguments: object) -> Any:
        """The value that `script` returns."""
        return self._call("POST", f"{self.session}/execute/sync", {"script": script, "args": arguments})

    def run_until_done(self, script: str) -> Any:
        """The value that `script` hands to its last argument, a function, within 110 s."""
        self._call("POST", f"{self.session}/timeouts", {"script": 110_000})
        return self._call("POST", f"{self.session}/execute/async", {"script": script, "args": []})

    def tool(self, command: str, **parameters: object) -> Any:
        """A command of the DevTools protocol."""
        return self._call("POST", f"{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def console(self) -> list[str]:
        """Errors and warnings since the last call."""
        entries = self._call("POST", f"{self.session}/se/log", {"type": "browser"})
        return [e["message"] for e in entries if e["level"] in ("SEVERE", "WARNING")]

    def size(self, width: int, height: int = 900, phone: bool = False) -> None:
        self.tool(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )

    def media(self, kind: str = "", scheme: str = "light") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.tool("Emulation.setEmulatedMedia", media=kind, features=features)

    def screenshot(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        data = self.tool("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        try:
            self._call("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()
