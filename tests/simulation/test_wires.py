"""The simulated network: paths, order, bandwidth, loss as time, faults."""

from __future__ import annotations

from random import Random

import pytest

from testbed.simulation.wires import Wires, wire_bytes
from testbed.topology.plan import Link, Network, Node, PairLatency, Plan


def plan(**changes: int | float) -> Plan:
    nodes = [Node("a", "host"), Node("s", "switch"), Node("t", "switch"), Node("b", "host")]
    links = [
        Link("as", "a", "s", latency_us=1000),
        Link("st", "s", "t", latency_us=5000, **changes),  # type: ignore[arg-type]
        Link("tb", "t", "b", latency_us=1000),
    ]
    return Plan("test", 1, Network(nodes, links))


def wires(made: Plan) -> Wires:
    return Wires(made, Random(1))


def arrival(of: Wires, now_us: int, a: str, b: str, size: int) -> int | None:
    """Of a message; None without a path or in a full queue."""
    route = of.route(a, b)
    return None if route is None else of.arrival_us(now_us, route, size)


def test_latency_is_the_paths() -> None:
    assert arrival(wires(plan()), 100, "a", "b", 50) == 7100


def test_a_host_talks_to_itself_in_no_time() -> None:
    assert arrival(wires(plan()), 100, "a", "a", 50) == 100


def test_bandwidth_sends_one_after_the_other() -> None:
    slow = wires(plan(bandwidth_bps=1_000_000))
    size = wire_bytes(986)  # 1000 bytes of payload in one packet: 1066 bytes
    assert size == 1066
    first = arrival(slow, 0, "a", "b", 986)
    second = arrival(slow, 0, "a", "b", 986)
    assert (first, second) == (7000 + 8528, 7000 + 2 * 8528)


def test_a_full_queue_takes_no_more() -> None:
    narrow = wires(plan(bandwidth_bps=1_000_000, queue_packets=2))
    arrivals = [arrival(narrow, 0, "a", "b", 986) for _ in range(5)]
    assert arrivals == [7000 + 8528, 7000 + 2 * 8528, 7000 + 3 * 8528, None, None]


def test_a_large_message_is_several_packets() -> None:
    assert wire_bytes(3000) == 3014 + 3 * 66


def test_so_many_packets_are_lost() -> None:
    lossy = wires(plan(loss=0.5))
    arrivals = [lossy.packet_us(0, "a", "b", 50) for _ in range(400)]
    assert set(arrivals) == {7000, None}
    assert 0.4 < arrivals.count(None) / 400 < 0.6


def test_jitter_stays_within_its_bounds_and_repeats_with_the_seed() -> None:
    delays = [arrival(wires(plan(jitter_us=500)), 0, "a", "b", 50) for _ in range(3)]
    assert len(set(delays)) == 1
    shaky = wires(plan(jitter_us=500))
    many = [arrival(shaky, 0, "a", "b", 50) or 0 for _ in range(200)]
    assert 6500 <= min(many) < 6700
    assert 7300 < max(many) <= 7500


def test_a_cut_link_leaves_no_path_until_it_is_back() -> None:
    cut = wires(plan())
    cut.link_down("st")
    assert arrival(cut, 0, "a", "b", 50) is None
    cut.link_up("st")
    assert arrival(cut, 0, "a", "b", 50) == 7000


def test_a_partition_separates_hosts() -> None:
    parted = wires(plan())
    parted.partition(["a"])
    assert arrival(parted, 0, "a", "b", 50) is None
    parted.heal()
    assert arrival(parted, 0, "a", "b", 50) == 7000


def test_reshaping_changes_the_latency() -> None:
    changed = wires(plan())
    changed.reshape("st", latency_us=50_000)
    assert arrival(changed, 0, "a", "b", 50) == 52_000


def test_pairs_add_their_own_latency() -> None:
    made = plan()
    made.network.pairs = [PairLatency("a", "b", 30_000), PairLatency("b", "a", 10_000)]
    assert wires(made).rtt_us("a", "b") == 54_000


@pytest.mark.parametrize("size", [0, 1, 1434, 1435])
def test_wire_bytes_grow_with_packets(size: int) -> None:
    assert wire_bytes(size) == size + 14 + 66 * (1 if size + 14 <= 1448 else 2)
