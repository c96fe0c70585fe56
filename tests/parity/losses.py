"""Which packets a run lost: those that one host sent and the other never saw.

The run's own captures have what each host sends; the scenario has a tcpdump of its own on each host for what
arrives. The simulator then loses the packets it sends at the same instants between the same hosts. So what is
compared is what a loss costs, and not which packets were drawn.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from testbed.run.folder import RunFolder
from testbed.topology.plan import Plan

NEAR_US = 1_000  # publications are 250 ms apart, a broker in the guest takes a few microseconds
MAGIC_NANOSECONDS = 0xA1B23C4D
IPV4, TCP = 0x0800, 6


@dataclass(frozen=True)
class Packet:
    sent_us: int
    source: str
    target: str
    identity: bytes  # addresses, ports, numbers of IP and TCP: the same at both ends, new when sent again


def packets(capture: Path) -> Iterator[Packet]:
    """TCP over IPv4 over Ethernet, as tcpdump writes it."""
    data = capture.read_bytes()
    assert struct.unpack_from("<I", data)[0] == MAGIC_NANOSECONDS
    at = 24
    while at + 16 <= len(data):
        seconds, nanoseconds, captured, _ = struct.unpack_from("<IIII", data, at)
        frame = data[at + 16 : at + 16 + captured]
        at += 16 + captured
        if struct.unpack_from(">H", frame, 12)[0] == IPV4 and frame[23] == TCP:
            source, target = (".".join(map(str, frame[i : i + 4])) for i in (26, 30))
            tcp = 14 + 4 * (frame[14] & 15)
            identity = frame[18:20] + frame[26:34] + frame[tcp : tcp + 12]
            yield Packet(seconds * 1_000_000 + nanoseconds // 1000, source, target, identity)


def arrivals(plan: Plan) -> dict[str, str]:
    """The scenario's own captures: host -> file name."""
    return {host.id: f"arrived-{host.id}.pcap" for host in plan.network.nodes if host.kind == "host"}


class SameLosses:
    """A `Loses` for the simulator; `shift_us` is the other run's clock less the simulator's."""

    def __init__(self, lost: dict[tuple[str, str], list[int]], shift_us: int) -> None:
        self.left = {pair: [t - shift_us for t in times] for pair, times in lost.items()}

    def __call__(self, now_us: int, a: str, b: str) -> bool:
        times = self.left.get((a, b), [])
        for t in times:
            if abs(t - now_us) <= NEAR_US:
                times.remove(t)
                return True
        return False


def none_lost(now_us: int, a: str, b: str) -> bool:
    return False


def losses_of(run: RunFolder, after_us: int) -> dict[tuple[str, str], list[int]]:
    """(from, to) -> when each lost packet was sent, as of the first publication."""
    plan = run.read_plan()
    hosts = {node.address: node.id for node in plan.network.nodes if node.kind == "host"}
    came = Counter(p.identity for file in arrivals(plan).values() for p in packets(run.path / file))
    found: dict[tuple[str, str], list[int]] = {}
    for host in hosts.values():
        for packet in packets(run.pcap / f"{host}-eth0.pcap"):
            if came[packet.identity]:
                came[packet.identity] -= 1
            elif packet.sent_us >= after_us:
                pair = hosts[packet.source], hosts[packet.target]
                found.setdefault(pair, []).append(packet.sent_us)
    return found
