"""ICMP echo from many namespaces in one process, timed by the kernel.

A socket belongs to the namespace it was made in, so one process can hold one per host and wait for all of
them together. The target's kernel answers, and the arrival time is the kernel's (SO_TIMESTAMPNS): neither a
responder's nor our own scheduling is measured. The kernel stamps by the wall clock, which anybody may set.
So stamps are turned into monotonic time, and a reply beside which the wall clock was set tells nothing.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from testbed.emulation.network import namespaces

SO_TIMESTAMPNS = 35
SOL_RAW, ICMP_FILTER = 255, 1
ECHO_REQUEST, ECHO_REPLY = 8, 0
PAYLOAD = struct.Struct("!8sII")  # cookie of this process, pair, sequence
UNKNOWN = -1
STEP_NS = 100_000  # of the wall clock against the monotonic one; two readings differ by less
PROBE_BYTES = 14 + 20 + 8 + PAYLOAD.size  # on the wire, with Ethernet header


@dataclass(frozen=True, slots=True)
class Reply:
    pair: int
    sequence: int
    received_ns: int  # monotonic clock; UNKNOWN when the wall clock was set since it was sent


class EchoSockets:
    def __init__(self, sources: Mapping[str, Path]) -> None:
        """One socket per source host; the namespaces are given by path."""
        self._cookie = os.urandom(8)
        self._wall_ns: dict[
            tuple[int, int], int
        ] = {}  # (pair, sequence) -> wall minus monotonic clock at its start
        self._sockets: dict[str, socket.socket] = {}
        self._by_fd: dict[int, socket.socket] = {}
        self.poller = select.poll()
        with namespaces.staying_home():
            for source, kept in sources.items():
                namespaces.enter(kept)
                handle = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
                handle.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
                handle.setsockopt(SOL_RAW, ICMP_FILTER, struct.pack("=I", 0xFFFFFFFF & ~(1 << ECHO_REPLY)))
                handle.setblocking(False)
                self._sockets[source] = handle
                self._by_fd[handle.fileno()] = handle
                self.poller.register(handle, select.POLLIN)

    def send(self, source: str, address: str, pair: int, sequence: int) -> int | None:
        """Send one request; its time (monotonic clock, ns), or None when the kernel has no way to send it."""
        payload = PAYLOAD.pack(self._cookie, pair, sequence)
        head = struct.pack("!BBHHH", ECHO_REQUEST, 0, 0, pair & 0xFFFF, sequence & 0xFFFF)
        checksum = _checksum(head + payload)
        packet = struct.pack("!BBHHH", ECHO_REQUEST, 0, checksum, pair & 0xFFFF, sequence & 0xFFFF) + payload
        self._wall_ns[pair, sequence] = wall_ns()
        sent = time.monotonic_ns()
        try:
            self._sockets[source].sendto(packet, (address, 0))
        except OSError:
            return None
        return sent

    def forget(self, pair: int, sequence: int) -> None:
        """No answer is awaited any more."""
        self._wall_ns.pop((pair, sequence), None)

    def owns(self, fd: int) -> bool:
        return fd in self._by_fd

    def replies(self, fds: Iterable[int]) -> Iterable[Reply]:
        """Everything that arrived on these descriptors and is an answer to us."""
        for fd in fds:
            while True:
                try:
                    data, ancillary, _flags, _from = self._by_fd[fd].recvmsg(256, 64)
                except BlockingIOError:
                    break
                except OSError:
                    continue  # an ICMP error about an earlier request; the probe counts as lost
                reply = self._reply(data, ancillary)
                if reply is not None:
                    yield reply

    def _reply(self, data: bytes, ancillary: list[tuple[int, int, bytes]]) -> Reply | None:
        start = (data[0] & 15) * 4 + 8
        if len(data) < start + PAYLOAD.size:
            return None
        cookie, pair, sequence = PAYLOAD.unpack_from(data, start)
        if cookie != self._cookie:
            return None
        for level, kind, value in ancillary:
            if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
                seconds, nanoseconds = struct.unpack("=qq", value[:16])
                return Reply(pair, sequence, self._monotonic(pair, sequence, seconds * 10**9 + nanoseconds))
        return None

    def _monotonic(self, pair: int, sequence: int, stamp_ns: int) -> int:
        now = wall_ns()
        steady = abs(now - self._wall_ns.pop((pair, sequence), now)) < STEP_NS
        return stamp_ns - now if steady else UNKNOWN

    def close(self) -> None:
        for handle in self._sockets.values():
            handle.close()


def wall_ns() -> int:
    """Wall clock minus monotonic clock; of three readings the quickest counts."""
    return min(_both() for _ in range(3))[1]


def _both() -> tuple[int, int]:
    before = time.monotonic_ns()
    wall = time.time_ns()
    after = time.monotonic_ns()
    return after - before, wall - (before + after) // 2


def _checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def round_trips_us(
    namespaces_of: Mapping[str, Path],
    pairs: list[tuple[str, str, str]],
    *,
    seconds: float,
    attempts: int = 1,
) -> dict[tuple[str, str], float]:
    """Measure each (source, target, target's address) once, all together; a missing one got no answer."""
    sockets = EchoSockets({source: namespaces_of[source] for source, _target, _address in pairs})
    measured: dict[tuple[str, str], float] = {}
    try:
        for attempt in range(attempts):
            missing = [number for number, pair in enumerate(pairs) if pair[:2] not in measured]
            sent = {
                number: sockets.send(pairs[number][0], pairs[number][2], number, attempt)
                for number in missing
            }
            deadline = time.monotonic() + seconds
            while any(pairs[number][:2] not in measured for number in missing):
                ready = sockets.poller.poll(max(0.0, deadline - time.monotonic()) * 1_000)
                if not ready:
                    break
                for reply in sockets.replies(fd for fd, _event in ready):
                    start = sent.get(reply.pair)
                    if start is not None and reply.sequence == attempt and reply.received_ns != UNKNOWN:
                        measured[pairs[reply.pair][:2]] = (reply.received_ns - start) / 1_000
    finally:
        sockets.close()
    return measured
