"""The simulated network: paths, order, bandwidth, loss as time, faults."""

from __future__ import annotations

import pytest

from testbed.simulation.wires import Wires, wire_bytes
from testbed.topology.plan import Event, Link, Network, Node, PairLatency, Plan


def plan(**changes: int | float) -> Plan:
    nodes = [Node("a", "host"), Node("s", "switch"), Node("t", "switch"), Node("b", "host")]
    links = [
        Link("as", "a", "s", latency_us=1000),
        Link("st", "s", "t", latency_us=5000, **changes),  # type: ignore[arg-type]
        Link("tb", "t", "b", latency_us=1000),
    ]
    return Plan("test", 1, Network(nodes, links))


def wires(made: Plan) -> Wires:
    return Wires(made)


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


def two_ways(**shape: int | float) -> Plan:
    """Two links that no path shares, and a pair."""
    nodes = [Node("s", "switch"), *(Node(name, "host") for name in "abcd")]
    links = [Link(f"{n}s", n, "s", latency_us=1000, **shape) for n in "abcd"]  # type: ignore[arg-type]
    return Plan("test", 1, Network(nodes, links))


def draws(of: Wires, a: str, b: str, between: tuple[str, str] | None) -> list[int | None]:
    found = []
    for _ in range(60):
        found.append(of.packet_us(0, a, b, 50))
        if between:
            of.packet_us(0, *between, 50)
    return found


@pytest.mark.parametrize("shape", [{"jitter_us": 500}, {"loss": 0.3}, {"jitter_us": 500, "loss": 0.3}])
@pytest.mark.parametrize("between", [("c", "d"), ("b", "a")])
def test_traffic_elsewhere_changes_no_draw(shape: dict[str, int | float], between: tuple[str, str]) -> None:
    quiet, busy = Wires(two_ways(**shape)), Wires(two_ways(**shape))
    alone = draws(quiet, "a", "b", None)
    assert len(set(alone)) > 1
    assert draws(busy, "a", "b", between) == alone


def test_directions_and_pairs_draw_on_their_own() -> None:
    made = two_ways()
    made.network.pairs = [
        PairLatency(a, b, 1000, jitter_us=500, loss=0.3) for a, b in (("a", "b"), ("b", "a"), ("c", "d"))
    ]
    assert draws(Wires(made), "a", "b", ("c", "d")) == draws(Wires(made), "a", "b", None)
    assert draws(Wires(made), "a", "b", None) != draws(Wires(made), "b", "a", None)


def test_losses_change_no_jitter() -> None:
    calm, lossy = (
        Wires(two_ways(jitter_us=500)),
        Wires(two_ways(jitter_us=500, loss=0.3), lambda t, a, b: False),
    )
    assert draws(calm, "a", "b", None) == draws(lossy, "a", "b", None)


def test_a_reshaped_link_goes_on_drawing() -> None:
    one, other = Wires(two_ways(jitter_us=500)), Wires(two_ways(jitter_us=500))
    draws(one, "a", "b", None)
    draws(other, "a", "b", None)
    other.reshape("as", latency_us=1000)
    assert draws(one, "a", "b", None) == draws(other, "a", "b", None)


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


def test_of_a_partitioned_switch_the_hosts_at_it_are_meant() -> None:
    parted = wires(plan())
    parted.partition(["s"])
    assert arrival(parted, 0, "a", "b", 50) is None


def test_a_partition_drops_what_arrives_and_nothing_else() -> None:
    parted = wires(plan())
    parted.partition(["a"])
    assert parted.packet_us(0, "a", "b", 50) == 7000  # it is on its way
    assert not parted.survives(7000, "a", "b", 0)
    parted.heal()
    assert parted.survives(7000, "a", "b", 0)


def test_what_is_on_a_link_that_is_cut_is_lost() -> None:
    """The link is left 6 ms after the packet was sent."""
    cut = wires(plan())
    assert cut.packet_us(0, "a", "b", 50) == 7000
    cut.link_down("st", 10_000)
    assert cut.packet_us(10_000, "a", "b", 50) is None
    assert cut.survives(11_000, "a", "b", 4_000)
    assert not cut.survives(11_001, "a", "b", 4_001)
    assert not cut.survives(16_000, "a", "b", 9_000)  # not even there yet
    assert cut.survives(11_000, "a", "s", 4_001)


@pytest.mark.parametrize(
    ("event", "doomed"),
    [
        (Event("p", 0, "link_down", "st"), {"ab", "ba", "ac", "ca"}),
        (Event("p", 0, "link_down", "ct"), {"ac", "ca", "bc", "cb"}),
        (Event("p", 0, "partition", "", {"nodes": ["t"]}), {"ab", "ba", "ac", "ca"}),
        (Event("p", 0, "partition", "", {"nodes": ["c"]}), {"ac", "ca", "bc", "cb"}),
        (Event("p", 0, "kill", "B1"), set()),
    ],
)
def test_the_plan_says_which_paths_will_be_cut(event: Event, doomed: set[str]) -> None:
    made = plan()
    made.network.nodes.append(Node("c", "host"))
    made.network.links.append(Link("ct", "c", "t", latency_us=1000))
    made.events = [event]
    assert {x + y for x in "abc" for y in "abc" if x != y and wires(made).is_doomed(x, y)} == doomed


def test_packets_of_a_handshake_take_their_time() -> None:
    slow = wires(plan(bandwidth_bps=1_000_000))
    assert slow.crossing_us(0, "a", "b", (0, 34)) == 7000 + 8 * (66 + 100)
    assert wires(plan()).crossing_us(0, "a", "b", (0, 34)) == 7000


def test_reshaping_changes_the_latency() -> None:
    changed = wires(plan())
    changed.reshape("st", latency_us=50_000)
    assert arrival(changed, 0, "a", "b", 50) == 52_000


def test_pairs_add_their_own_latency() -> None:
    made = plan()
    made.network.pairs = [PairLatency("a", "b", 30_000), PairLatency("b", "a", 10_000)]
    assert arrival(wires(made), 0, "a", "b", 50) == 37_000
    assert arrival(wires(made), 0, "b", "a", 50) == 17_000


@pytest.mark.parametrize("size", [0, 1, 1434, 1435])
def test_wire_bytes_grow_with_packets(size: int) -> None:
    assert wire_bytes(size) == size + 14 + 66 * (1 if size + 14 <= 1448 else 2)
