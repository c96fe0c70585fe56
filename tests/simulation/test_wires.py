"""The simulated network: paths, order, bandwidth, queues, loss, faults; packet by packet, link by link."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from testbed.simulation.agenda import Agenda
from testbed.simulation.carrier import Carrier
from testbed.simulation.wires import PACKET_HEADERS, Loses, Wires, packets
from testbed.topology.plan import Event, Link, Network, Node, PairLatency, Plan


def plan(**changes: int | float) -> Plan:
    nodes = [Node("a", "host"), Node("s", "switch"), Node("t", "switch"), Node("b", "host")]
    links = [
        Link("as", "a", "s", latency_us=1000),
        Link("st", "s", "t", latency_us=5000, **changes),  # type: ignore[arg-type]
        Link("tb", "t", "b", latency_us=1000),
    ]
    return Plan("test", 1, Network(nodes, links))


class Net:
    """A network, what is sent over it and when, and what came of it."""

    def __init__(self, made: Plan, loses: Loses | None = None) -> None:
        self.agenda = Agenda(0)
        self.wires = Wires(made, loses)
        self._carrier = Carrier(self.agenda, self.wires)
        self._arrived: dict[int, int | None] = {}  # by number: when, None = lost
        self._numbers = 0

    def send(self, at_us: int, a: str, b: str, payload: int = 50) -> None:
        number, self._numbers = self._numbers, self._numbers + 1

        def carry(_a: None, _b: None) -> None:
            self._carrier.carry((a, b), payload, self._there, number, None, lambda: self._lost(number))

        self.agenda.at(at_us, carry)

    def _lost(self, number: int) -> None:
        self._arrived[number] = None

    def _there(self, number: int, _: None) -> None:
        self._arrived[number] = self.agenda.now_us

    def do(self, at_us: int, fault: Callable[[], None]) -> None:
        self.agenda.at(at_us, lambda _a, _b: fault())

    def arrivals(self) -> list[int | None]:
        """In the order of sending."""
        while self.agenda.run(100_000):
            raise AssertionError("it never ends")
        return [self._arrived[number] for number in range(self._numbers)]


def arrivals(made: Plan, *sends: tuple[int, str, str], payload: int = 50) -> list[int | None]:
    net = Net(made)
    for at_us, a, b in sends:
        net.send(at_us, a, b, payload)
    return net.arrivals()


def test_latency_is_the_paths() -> None:
    assert arrivals(plan(), (100, "a", "b")) == [7100]


def test_a_host_talks_to_itself_in_no_time() -> None:
    assert arrivals(plan(), (100, "a", "a")) == [100]


def test_bandwidth_sends_one_after_the_other() -> None:
    found = arrivals(plan(bandwidth_bps=1_000_000), (0, "a", "b"), (0, "a", "b"), payload=1000)
    assert found == [7000 + 8528, 7000 + 2 * 8528]  # 1066 bytes


def test_a_full_queue_takes_no_more() -> None:
    """Its two packets, and one that is under way: a full one fills 5 ms at 1 Mbit/s."""
    narrow = plan(bandwidth_bps=1_000_000, queue_packets=2)
    found = arrivals(narrow, *[(0, "a", "b")] * 5, payload=1000)
    assert found == [7000 + 8528, 7000 + 2 * 8528, 7000 + 3 * 8528, None, None]


def test_a_queue_counts_packets_whatever_their_size() -> None:
    net = Net(plan(bandwidth_bps=1_000_000, queue_packets=2))
    net.send(0, "a", "b", 1448)
    net.send(0, "a", "b", 1448)
    net.send(0, "a", "b", 0)  # an acknowledgement has room behind two full packets
    assert None not in net.arrivals()


def test_a_queue_is_empty_again_when_its_packets_have_left() -> None:
    narrow = plan(bandwidth_bps=1_000_000, queue_packets=2)
    sends = [(at, "a", "b") for at in range(0, 300_000, 9_000)]  # a packet takes 8.5 ms
    assert None not in arrivals(narrow, *sends, payload=1000)


def bottleneck(**shape: int | float) -> Plan:
    """A far and a near host, and a link that both need."""
    nodes = [Node("s", "switch"), Node("t", "switch"), *(Node(name, "host") for name in ("far", "near", "b"))]
    links = [
        Link("far", "far", "s", latency_us=100_000),
        Link("near", "near", "s", latency_us=1000),
        Link("st", "s", "t", latency_us=1000, **shape),  # type: ignore[arg-type]
        Link("tb", "t", "b", latency_us=1000),
    ]
    return Plan("test", 1, Network(nodes, links))


def test_whoever_is_at_a_link_first_goes_first() -> None:
    """What is still far away keeps nobody waiting."""
    shared = bottleneck(bandwidth_bps=1_000_000)
    found = arrivals(shared, (0, "far", "b"), (10_000, "near", "b"), payload=1000)
    assert found == [102_000 + 8528, 13_000 + 8528]


def test_senders_share_a_link_in_the_order_of_their_arrival_there() -> None:
    shared = bottleneck(bandwidth_bps=1_000_000)
    found = arrivals(shared, (0, "far", "b"), (99_001, "near", "b"), payload=1000)
    assert found == [102_000 + 8528, 102_000 + 2 * 8528]


def test_a_link_is_fifo_under_jitter_whoever_sends() -> None:
    nodes = [Node("s", "switch"), *(Node(name, "host") for name in "abc")]
    links = [Link("as", "a", "s"), Link("bs", "b", "s"), Link("sc", "s", "c", 20_000, 10_000)]
    made = Plan("test", 1, Network(nodes, links))
    found = arrivals(made, *[(100 * number, "ab"[number % 2], "c") for number in range(50)])
    assert found == sorted(found, key=lambda at: at or 0)
    assert len(set(found)) > 5


def test_a_large_message_is_several_packets() -> None:
    assert packets(3014) == [1448, 1448, 118]
    assert packets(1448) == [1448]
    assert packets(0) == [0]


def test_so_many_packets_are_lost() -> None:
    found = arrivals(plan(loss=0.5), *[(0, "a", "b")] * 400)
    assert set(found) == {7000, None}
    assert 0.4 < found.count(None) / 400 < 0.6


def test_jitter_stays_within_its_bounds_and_repeats_with_the_seed() -> None:
    sends = [(at, "a", "b") for at in range(0, 400_000, 2_000)]
    many = arrivals(plan(jitter_us=500), *sends)
    assert many == arrivals(plan(jitter_us=500), *sends)
    delays = [(there or 0) - at for there, (at, _, _) in zip(many, sends, strict=True)]
    assert 6500 <= min(delays) < 6700
    assert 7300 < max(delays) <= 7500


def two_ways(**shape: int | float) -> Plan:
    """Two links that no path shares, and a pair."""
    nodes = [Node("s", "switch"), *(Node(name, "host") for name in "abcd")]
    links = [Link(f"{n}s", n, "s", latency_us=1000, **shape) for n in "abcd"]  # type: ignore[arg-type]
    return Plan("test", 1, Network(nodes, links))


def draws(of: Net, a: str, b: str, between: tuple[str, str] | None = None) -> list[int | None]:
    """Delays of packets that are too far apart to wait for each other."""
    first = of.agenda.now_us
    for number in range(60):
        of.send(first + 5_000 * number, a, b)
        if between:
            of.send(first + 5_000 * number, *between)
    found = of.arrivals()[-60 * (2 if between else 1) :: 2 if between else 1]
    return [None if at is None else at - first - 5_000 * number for number, at in enumerate(found)]


@pytest.mark.parametrize("shape", [{"jitter_us": 500}, {"loss": 0.3}, {"jitter_us": 500, "loss": 0.3}])
@pytest.mark.parametrize("between", [("c", "d"), ("b", "a")])
def test_traffic_elsewhere_changes_no_draw(shape: dict[str, int | float], between: tuple[str, str]) -> None:
    alone = draws(Net(two_ways(**shape)), "a", "b")
    assert len(set(alone)) > 1
    assert draws(Net(two_ways(**shape)), "a", "b", between) == alone


def test_directions_and_pairs_draw_on_their_own() -> None:
    made = two_ways()
    made.network.pairs = [
        PairLatency(a, b, 1000, jitter_us=500, loss=0.3) for a, b in (("a", "b"), ("b", "a"), ("c", "d"))
    ]
    assert draws(Net(made), "a", "b", ("c", "d")) == draws(Net(made), "a", "b")
    assert draws(Net(made), "a", "b") != draws(Net(made), "b", "a")


def test_losses_that_are_known_change_no_jitter() -> None:
    calm = Net(two_ways(jitter_us=500))
    lossy = Net(two_ways(jitter_us=500, loss=0.3), lambda t, a, b: False)
    assert draws(calm, "a", "b") == draws(lossy, "a", "b")


def test_known_losses_are_the_only_ones() -> None:
    net = Net(two_ways(loss=0.3), lambda t, a, b: t == 10_000)
    assert [number for number, delay in enumerate(draws(net, "a", "b")) if delay is None] == [2]


def test_a_reshaped_link_goes_on_drawing() -> None:
    one, other = Net(two_ways(jitter_us=500)), Net(two_ways(jitter_us=500))
    draws(one, "a", "b")
    draws(other, "a", "b")
    other.wires.reshape("as", latency_us=1000)
    assert draws(one, "a", "b") == draws(other, "a", "b")


def test_a_link_that_gets_shorter_lets_nobody_overtake() -> None:
    net = Net(plan(bandwidth_bps=1_000_000))
    net.send(0, "a", "b")
    net.do(2000, lambda: net.wires.reshape("st", latency_us=10))
    net.send(1500, "a", "b")
    first, second = net.arrivals()
    assert first == 7000 + 8 * (50 + PACKET_HEADERS)
    assert second == first + 8 * (50 + PACKET_HEADERS)


def doomed(made: Plan, *links: str) -> Plan:
    made.events = [Event("p", 0, "link_down", link) for link in links]
    return made


def test_a_cut_link_leaves_no_path_until_it_is_back() -> None:
    net = Net(doomed(plan(), "st"))
    net.do(0, lambda: net.wires.link_down("st", 0))
    net.send(10, "a", "b")
    net.do(20, lambda: net.wires.link_up("st"))
    net.send(30, "a", "b")
    assert net.arrivals() == [None, 7030]


def test_a_partition_separates_hosts() -> None:
    parted = Wires(plan())
    parted.partition(["a"])
    assert parted.route("a", "b") is None
    parted.heal()
    assert parted.route("a", "b") is not None


def test_of_a_partitioned_switch_the_hosts_at_it_are_meant() -> None:
    parted = Wires(plan())
    parted.partition(["s"])
    assert parted.route("a", "b") is None


def test_a_partition_drops_what_arrives_and_nothing_else() -> None:
    net = Net(plan())
    net.do(5_000, lambda: net.wires.partition(["a"]))
    net.do(8_000, net.wires.heal)
    for at_us in (0, 2_000, 6_000):
        net.send(at_us, "a", "b")
    assert net.arrivals() == [None, 9_000, 13_000]


@pytest.mark.parametrize(("sent_us", "arrives"), [(4_000, True), (4_001, False), (9_000, False)])
def test_what_is_on_a_link_that_is_cut_is_lost(sent_us: int, arrives: bool) -> None:
    """The link is left 6 ms after the packet was sent; what is not even there yet finds it down."""
    net = Net(doomed(plan(), "st"))
    net.send(sent_us, "a", "b")
    net.do(10_000, lambda: net.wires.link_down("st", 10_000))
    assert net.arrivals() == [sent_us + 7_000 if arrives else None]


@pytest.mark.parametrize("order", [("st", "tb"), ("tb", "st")])
def test_two_links_cut_at_once_lose_what_is_on_either(order: tuple[str, str]) -> None:
    net = Net(doomed(plan(), *order))
    for at_us in (2_900, 3_500, 4_500):  # behind both, on the second, on the first
        net.send(at_us, "a", "b")
    for link in order:
        net.do(10_000, lambda link=link: net.wires.link_down(link, 10_000))  # type: ignore[misc]
    assert net.arrivals() == [9_900, None, None]


def test_what_waits_for_a_link_that_is_cut_is_lost() -> None:
    net = Net(doomed(plan(bandwidth_bps=100_000), "st"))
    for _ in range(10):
        net.send(0, "a", "b", 1000)  # each takes 85 ms
    net.do(200_000, lambda: net.wires.link_down("st", 200_000))
    assert [at is None for at in net.arrivals()] == [False] * 2 + [True] * 8


@pytest.mark.parametrize(
    ("event", "cut"),
    [
        (Event("p", 0, "link_down", "st"), {"ab", "ba", "ac", "ca"}),
        (Event("p", 0, "link_down", "ct"), {"ac", "ca", "bc", "cb"}),
        (Event("p", 0, "partition", "", {"nodes": ["t"]}), {"ab", "ba", "ac", "ca"}),
        (Event("p", 0, "partition", "", {"nodes": ["c"]}), {"ac", "ca", "bc", "cb"}),
        (Event("p", 0, "kill", "B1"), set()),
    ],
)
def test_the_plan_says_which_paths_will_be_cut(event: Event, cut: set[str]) -> None:
    made = plan()
    made.network.nodes.append(Node("c", "host"))
    made.network.links.append(Link("ct", "c", "t", latency_us=1000))
    made.events = [event]
    assert {x + y for x in "abc" for y in "abc" if x != y and Wires(made).is_doomed(x, y)} == cut


def test_reshaping_changes_the_latency() -> None:
    net = Net(plan())
    net.wires.reshape("st", latency_us=50_000)
    net.send(0, "a", "b")
    assert net.arrivals() == [52_000]


def test_pairs_add_their_own_latency() -> None:
    made = plan()
    made.network.pairs = [PairLatency("a", "b", 30_000), PairLatency("b", "a", 10_000)]
    assert arrivals(made, (0, "a", "b"), (0, "b", "a")) == [37_000, 17_000]
