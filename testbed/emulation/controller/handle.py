"""The harness's side of the controller: start it, wait for it, have it read counters, end it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from testbed.emulation.controller.config import ControllerConfig
from testbed.emulation.network import namespaces
from testbed.emulation.network.errors import NetworkError
from testbed.emulation.readable import readable


class ControllerHandle:
    """A running controller process. Every method may be called again after it ended, to no effect."""

    def __init__(self, config: ControllerConfig, config_file: Path, log_file: Path, place: Path) -> None:
        """Start it in the network namespace kept at `place`."""
        config_file.write_bytes(msgspec.json.encode(config))
        self._log_file = log_file
        self._ours, theirs = socket.socketpair()
        self._pending = b""
        self._routed_without: list[str] | None = None
        argv = [sys.executable, "-m", "testbed.emulation.controller", str(config_file), str(theirs.fileno())]
        with theirs, log_file.open("ab") as log, namespaces.inside(place):
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env=_environment(),
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def wait_for(self, event: str, seconds: float) -> dict[str, Any]:
        """Read its reports until this event; other events are passed over."""
        deadline = time.monotonic() + seconds
        while True:
            *lines, self._pending = self._pending.split(b"\n")
            for place, line in enumerate(lines):
                message: dict[str, Any] = json.loads(line)
                if message["event"] in ("ready", "settled"):
                    self._routed_without = message["down"]
                if message["event"] == event:
                    self._pending = b"\n".join([*lines[place + 1 :], self._pending])
                    return message
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise NetworkError(
                    f"the controller did not report {event!r} in {seconds:.0f} s{self._last_words()}"
                )
            if readable([self._ours], remaining):
                data = self._ours.recv(65536)
                if not data:
                    raise NetworkError(f"the controller ended before {event!r}{self._last_words()}")
                self._pending += data

    def await_routes_without(self, down: list[str], seconds: float) -> None:
        """Wait until all switches have confirmed flows that avoid exactly these links."""
        while self._routed_without != down:
            self.wait_for("settled", seconds)

    def poll(self, seconds: float = 30) -> None:
        """Have it append the switches' counters now."""
        if self.running:
            self._ours.sendall(b'{"do": "poll"}\n')
            self.wait_for("polled", seconds)

    def stop(self, seconds: float = 30) -> None:
        """End it after a last reading of the counters; kill it when it does not answer."""
        if self.running:
            try:
                self._ours.sendall(b'{"do": "stop"}\n')
                self.wait_for("stopped", seconds)
                self._process.wait(seconds)
            except (NetworkError, OSError, subprocess.TimeoutExpired):
                self.kill()
        self._ours.close()

    def kill(self) -> None:
        if self.running:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _last_words(self) -> str:
        lines = self._log_file.read_text(errors="replace").splitlines()[-8:]
        return "; its log ends:\n  " + "\n  ".join(lines) if lines else ""


def _environment() -> dict[str, str]:
    """Ryu asks for distutils; while Python has its own, setuptools' large stand-in need not be loaded."""
    light = {"SETUPTOOLS_USE_DISTUTILS": "stdlib"} if sys.version_info < (3, 12) else {}
    return {**os.environ, **light}
