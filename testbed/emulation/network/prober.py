"""`python -m testbed.emulation.network.prober CONFIG.json FD`: round trips of chosen pairs, all run long.

One process for all pairs. It sleeps between rounds, sends all probes of a round at once, and appends a
`ProbeResult` line per probe. FD carries JSON lines from the harness: {"planned": [...]} when the network
changes, {"do": "stop"}; end of file means stop.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from pathlib import Path
from typing import BinaryIO

import msgspec

from protos.records import ProbeResult
from testbed.emulation.network.echo import UNKNOWN, EchoSockets, Reply

LOST_AFTER_US = 5_000_000  # beyond twice the planned round trip


class ProbePair(msgspec.Struct):
    source: str
    target: str
    address: str
    planned_us: int  # round trip; UNKNOWN = there is no way now


class ProberConfig(msgspec.Struct):
    pairs: list[ProbePair]
    namespaces: dict[str, str]
    folder: str
    every_us: int
    epoch_offset_us: int


class Waiting(msgspec.Struct):
    """A probe under way."""

    t_us: int
    sent_ns: int
    planned_us: int


class Prober:
    def __init__(self, config: ProberConfig, line: socket.socket) -> None:
        self.config = config
        self.line = line
        sources = {pair.source: Path(config.namespaces[pair.source]) for pair in config.pairs}
        self.sockets = EchoSockets(sources)
        self.sockets.poller.register(line, select.POLLIN)
        self.files: dict[str, BinaryIO] = {
            source: (Path(config.folder) / f"{source}.jsonl").open("ab") for source in sources
        }
        self.waiting: dict[tuple[int, int], Waiting] = {}
        self.sequence = 0
        self.pending = b""
        self.stopping = False

    def run(self) -> None:
        """Rounds at multiples of the period after the start, until told to stop; then the last answers."""
        period = self.config.every_us
        due = _monotonic_us()
        while not self.stopping:
            self._send_round()
            due += period
            self._serve_until(due)
        longest = max((pair.planned_us for pair in self.config.pairs), default=0)
        self._serve_until(_monotonic_us() + 2 * longest + 1_000, stop_when_idle=True)
        self._give_up(everything=True)
        for file in self.files.values():
            file.flush()
            os.fsync(file.fileno())

    def _send_round(self) -> None:
        for number, pair in enumerate(self.config.pairs):
            t_us = _monotonic_us() + self.config.epoch_offset_us
            sent = self.sockets.send(pair.source, pair.address, number, self.sequence)
            probe = Waiting(t_us, sent or 0, pair.planned_us)
            if sent is None:
                self._write(number, self.sequence, probe, -1.0)
            else:
                self.waiting[number, self.sequence] = probe
        self.sequence += 1
        self._give_up()
        for file in self.files.values():
            file.flush()

    def _serve_until(self, deadline_us: int, stop_when_idle: bool = False) -> None:
        while True:
            remaining = deadline_us - _monotonic_us()
            if (
                remaining <= 0
                or (self.stopping and not stop_when_idle)
                or (stop_when_idle and not self.waiting)
            ):
                return
            ready = self.sockets.poller.poll(-(-remaining // 1_000))
            for reply in self.sockets.replies(fd for fd, _event in ready if self.sockets.owns(fd)):
                self._arrived(reply)
            if any(fd == self.line.fileno() for fd, _event in ready):
                self._obey()

    def _arrived(self, reply: Reply) -> None:
        probe = self.waiting.pop((reply.pair, reply.sequence), None)
        if probe is not None and reply.received_ns != UNKNOWN:
            self._write(reply.pair, reply.sequence, probe, (reply.received_ns - probe.sent_ns) / 1_000)

    def _give_up(self, everything: bool = False) -> None:
        now = _monotonic_us() + self.config.epoch_offset_us
        for (number, sequence), probe in list(self.waiting.items()):
            if everything or now - probe.t_us > 2 * probe.planned_us + LOST_AFTER_US:
                del self.waiting[number, sequence]
                self.sockets.forget(number, sequence)
                self._write(number, sequence, probe, -1.0)

    def _write(self, number: int, sequence: int, probe: Waiting, measured_us: float) -> None:
        """Nothing is written where no round trip is planned: there is nothing to hold it against."""
        if probe.planned_us == UNKNOWN:
            return
        pair = self.config.pairs[number]
        result = ProbeResult(probe.t_us, pair.source, pair.target, probe.planned_us, measured_us, sequence)
        self.files[pair.source].write(msgspec.json.encode(result) + b"\n")

    def _obey(self) -> None:
        data = self.line.recv(65536)
        if not data:
            self.sockets.poller.unregister(self.line)
            self.stopping = True
            return
        *lines, self.pending = (self.pending + data).split(b"\n")
        for text in lines:
            order = json.loads(text)
            if "planned" in order:
                self._replan(order["planned"])
            self.stopping = self.stopping or order.get("do") == "stop"

    def _replan(self, planned: list[int]) -> None:
        """What is under way meets the old network and the new one, so it is compared with neither."""
        for pair, value in zip(self.config.pairs, planned, strict=True):
            pair.planned_us = value
        for probe in self.waiting.values():
            probe.planned_us = UNKNOWN


def _monotonic_us() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1_000


def main(config_file: str, descriptor: int) -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    config = msgspec.json.decode(Path(config_file).read_bytes(), type=ProberConfig)
    line = socket.socket(fileno=descriptor)
    prober = Prober(config, line)
    line.sendall(b'{"event": "ready"}\n')
    prober.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
