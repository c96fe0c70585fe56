"""The harness's side of the prober process."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from testbed.emulation.network.errors import NetworkError
from testbed.emulation.network.prober import ProberConfig
from testbed.emulation.readable import readable
from testbed.topology.plan import Link


def sending_us(links: Iterable[Link], size: int) -> float:
    """How long a packet of so many bytes takes onto these links, one after the other, in all."""
    return sum(size * 8e6 / link.bandwidth_bps for link in links if link.bandwidth_bps)


class Probes:
    """A running prober; `stop` may be called again, to no effect."""

    def __init__(self, config: ProberConfig, config_file: Path, log_file: Path) -> None:
        config_file.write_bytes(msgspec.json.encode(config))
        self._line, theirs = socket.socketpair()
        module = "testbed.emulation.network.prober"
        with theirs, log_file.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, str(config_file), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        if not readable([self._line], 60) or not self._line.recv(100):
            raise NetworkError(f"the prober did not start: {log_file.read_text()[-500:]}")

    @property
    def pid(self) -> int:
        return self._process.pid

    def replan(self, planned_us: list[int]) -> None:
        """The network changed: what each pair's round trip is from now on (UNKNOWN = there is no way)."""
        with contextlib.suppress(OSError):
            self._line.sendall(json.dumps({"planned": planned_us}).encode() + b"\n")

    def stop(self, seconds: float = 60) -> None:
        with contextlib.suppress(OSError):
            self._line.sendall(b'{"do": "stop"}\n')
        self._line.close()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
