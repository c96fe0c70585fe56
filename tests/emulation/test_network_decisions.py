"""What the network decides before it touches a kernel: names, shapes, routes, flows, filters, leftovers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from testbed.emulation.controller.config import ControllerConfig, SwitchPorts
from testbed.emulation.controller.routes import next_links, path_links
from testbed.emulation.controller.state import ControlState
from testbed.emulation.network import capture, created, ovs
from testbed.emulation.network.errors import NetworkError
from testbed.emulation.network.wiring import wire
from testbed.run import shape
from testbed.topology.plan import Broker, Capture, Client, Link, Network, Node, PairLatency, Plan


def triangle() -> Network:
    nodes = [Node(f"h{n}", "host", f"10.0.0.{n}") for n in (1, 2, 3)]
    nodes += [Node(f"s{n}", "switch") for n in (1, 2, 3)]
    links = [Link(f"l{n}", f"h{n}", f"s{n}", latency_us=100) for n in (1, 2, 3)]
    links += [Link("c12", "s1", "s2", latency_us=10), Link("c23", "s2", "s3", latency_us=10)]
    links += [Link("c13", "s1", "s3", latency_us=50)]
    return Network(nodes, links)


# Names


def test_interfaces_are_called_as_in_mininet() -> None:
    wiring = wire(triangle())
    assert [end.name for end in wiring.of_node["h1"]] == ["h1-eth0"]
    assert [end.name for end in wiring.of_node["s1"]] == ["s1-eth1", "s1-eth2", "s1-eth3"]


def test_interface_names_fit_the_kernel_and_are_unique() -> None:
    nodes = [Node("averyverylongswitchname", "switch")]
    nodes += [Node(f"abcdefghi{n}", "host", f"10.0.0.{n}") for n in range(1, 10)]
    wiring = wire(Network(nodes, [Link(f"l{n}", f"abcdefghi{n}", nodes[0].id) for n in range(1, 10)]))
    names = [end.name for ends in wiring.ends.values() for end in ends]
    assert max(map(len, names)) <= 15
    assert len(set(names)) == len(names)


def test_mac_addresses_are_unicast_and_unique() -> None:
    macs = [end.mac for ends in wire(triangle()).ends.values() for end in ends]
    assert len(set(macs)) == len(macs) == 12
    assert all(int(mac[:2], 16) & 3 == 2 for mac in macs)


def test_link_to_unknown_node_is_refused() -> None:
    with pytest.raises(NetworkError, match="'nowhere'"):
        wire(Network([Node("h1", "host", "10.0.0.1")], [Link("l", "h1", "nowhere")]))


# Shapes


def test_queue_holds_twice_the_bandwidth_delay_product() -> None:
    link = Link("l", "a", "b", latency_us=100_000, bandwidth_bps=1_000_000_000)
    product = 1_000_000_000 * 0.1 / 8 / 1514
    assert 2 * product <= shape.queue_limit(link) <= 2 * product + 2


@pytest.mark.parametrize(
    ("link", "limit"),
    [
        (Link("l", "a", "b", latency_us=1_000, bandwidth_bps=1_000_000), 1_000),
        (Link("l", "a", "b", latency_us=50_000), 100_000),
        (Link("l", "a", "b", bandwidth_bps=1_000_000, queue_packets=20), 20),
    ],
)
def test_queue_limit_edges(link: Link, limit: int) -> None:
    assert shape.queue_limit(link) == limit


def test_each_direction_has_its_own_random_stream_fixed_by_the_seed() -> None:
    link = Link("l", "a", "b", loss=0.1)
    seeds = {shape.of_link(link, end, seed).seed for end in ("a", "b") for seed in (1, 2)}
    assert len(seeds) == 4
    assert shape.of_link(link, "a", 1) == shape.of_link(link, "a", 1)


def test_pair_adds_to_the_link() -> None:
    link = Link("l", "a", "s", latency_us=5, loss=0.5)
    made = shape.of_pair(link, PairLatency("a", "b", latency_us=100, loss=0.5), seed=1)
    assert made.delay_ns == 105_000
    assert made.loss == 0.75


# Routes and flows


def test_path_is_shortest_by_latency_not_by_hops() -> None:
    network = triangle()
    assert path_links(network, next_links(network), "h1", "h3") == ["l1", "c12", "c23", "l3"]


def test_path_avoids_links_that_are_down() -> None:
    network = triangle()
    assert path_links(network, next_links(network, {"c12"}), "h1", "h3") == ["l1", "c13", "l3"]
    assert path_links(network, next_links(network, {"l3"}), "h1", "h3") is None


def test_of_parallel_links_the_quicker_is_taken_and_the_other_when_it_fails() -> None:
    nodes = [Node("a", "host", "10.0.0.1"), Node("b", "host", "10.0.0.2")]
    network = Network(nodes, [Link("slow", "a", "b", latency_us=9), Link("quick", "a", "b", latency_us=3)])
    assert next_links(network)["a"]["b"] == "quick"
    assert next_links(network, {"quick"})["a"]["b"] == "slow"


def control() -> ControlState:
    network = triangle()
    wiring = wire(network)
    ports = {
        node.id: SwitchPorts(
            number,
            {end.name: end.link for end in wiring.of_node[node.id]},
            {end.name: end.peer for end in wiring.of_node[node.id]},
        )
        for number, node in enumerate(wiring.switches(), 1)
    }
    addresses = {host.id: host.address for host in wiring.hosts()}
    return ControlState(ControllerConfig(network, addresses, ports, "127.0.0.1:6653", "", "", 0))


def join(state: ControlState, dpid: int, first_port: int = 1) -> str | None:
    name = state.by_dpid[dpid]
    ports = {port: (first_port + n, True) for n, port in enumerate(state.config.switches[name].ports)}
    return state.switch_joined(dpid, {**ports, name: (0xFFFFFFFE, True)})


def test_flows_use_the_port_numbers_the_switch_reports() -> None:
    state = control()
    assert join(state, 1, first_port=11) == "s1"
    assert state.changes("s1") == ({"h1": 11, "h2": 12, "h3": 12}, [])
    assert state.changes("s1") == ({}, [])


def test_link_failure_moves_only_the_flows_that_used_it_and_back() -> None:
    state = control()
    for dpid in (1, 2, 3):
        join(state, dpid)
        state.changes(state.by_dpid[dpid])
    assert state.port_changed(1, "s1-eth2", up=False)  # c12
    assert state.changes("s1") == ({"h2": 3, "h3": 3}, [])
    assert not state.port_changed(2, "s2-eth2", up=False), "its other end says the same"
    assert not state.port_changed(1, "s1-eth2", up=True), "one end is still down"
    assert state.port_changed(2, "s2-eth2", up=True)
    assert state.changes("s1") == ({"h2": 2, "h3": 2}, [])


def test_flow_to_a_host_without_a_way_is_forgotten() -> None:
    state = control()
    join(state, 1)
    state.changes("s1")
    state.port_changed(3, "s3-eth1", up=False)
    assert state.changes("s1") == ({}, ["h3"])


def test_unplanned_switch_and_port_are_ignored() -> None:
    state = control()
    assert state.switch_joined(99, {}) is None
    join(state, 1)
    assert not state.port_changed(1, "s1", up=False)
    assert state.peer_of("s1", 1) == "h1"
    assert state.peer_of("s1", 77) is None


def test_all_bridges_are_one_transaction() -> None:
    arguments = ovs.transaction({"s1": (1, [("s1-eth1", 1)]), "s2": (2, [])}, "tcp:127.0.0.1:6653")
    assert arguments.count("add-br") == 2
    assert arguments.count("--") == arguments.count("add-br") * 4 + 2 - 1
    assert "fail_mode=secure" in arguments
    assert "other_config:datapath-id=0000000000000002" in arguments


# Capture


def observed(**settings: object) -> Plan:
    return Plan(
        name="p",
        seed=1,
        network=triangle(),
        brokers=[Broker("B1", "h1", "10.0.0.1", 5000), Broker("B2", "h2", "10.0.0.2", 5000)],
        clients=[Client("c", "h3", "B1"), Client("d", "h1", "B1")],
        capture=msgspec.convert(settings, Capture),
    )


def capture_jobs(plan: Plan) -> dict[str, str]:
    return {job.file: job.filter for job in capture.jobs(plan, wire(plan.network))}


def test_every_broker_host_records_what_it_sends_and_what_unrecorded_hosts_send_it() -> None:
    assert capture_jobs(observed()) == {
        "h1-eth0.pcap": "(tcp port 5000) and (src host 10.0.0.1 or src host 10.0.0.3)",
        "h2-eth0.pcap": "(tcp port 5000) and (src host 10.0.0.2 or src host 10.0.0.3)",
    }


def test_loopback_is_recorded_where_brokers_share_a_host_or_on_request() -> None:
    assert "h1-lo.pcap" in capture_jobs(observed(clients=True))
    plan = observed()
    plan.brokers.append(Broker("B3", "h2", "10.0.0.2", 5001))
    assert "h2-lo.pcap" in capture_jobs(plan)


def test_chosen_hosts_only_and_none_when_disabled() -> None:
    assert list(capture_jobs(observed(nodes=["h3"]))) == ["h3-eth0.pcap"]
    assert capture_jobs(observed(enabled=False)) == {}


# Leftovers


def test_only_the_recorded_process_is_ended(tmp_path: Path) -> None:
    ours = subprocess.Popen(["sleep", "100"])
    other = subprocess.Popen(["sleep", "100"])
    try:
        record = created.Record(tmp_path)
        record.process("ours", ours.pid)
        record.created.processes.append(
            created.CreatedProcess("an earlier one with its number", other.pid, 1)
        )
        record.folder(tmp_path / "made")
        (tmp_path / "made").mkdir()
        removed = created.remove_created(tmp_path)
        assert removed == [f"process {ours.pid} (ours)", f"folder {tmp_path / 'made'}"]
        assert ours.wait(60) != 0
        assert other.poll() is None
        assert created.remove_created(tmp_path) == []
    finally:
        for process in (ours, other):
            process.kill()
            process.wait()


def test_nothing_is_touched_after_a_reboot(tmp_path: Path) -> None:
    record = created.Record(tmp_path)
    record.created.boot = "another boot"
    record.process("ourselves", os.getpid())
    assert created.remove_created(tmp_path) == []


def test_a_probe_takes_its_time_onto_links_of_limited_bandwidth() -> None:
    """Measured on two links of 10 Mbit/s: 187 us more than the latencies, there and back."""
    from testbed.emulation.network.echo import PROBE_BYTES
    from testbed.emulation.network.probes import sending_us

    slow, free = Link("a", "h1", "s1", 4000, bandwidth_bps=10_000_000), Link("b", "s1", "h2", 4000)
    assert PROBE_BYTES == 58
    assert sending_us([slow, slow, slow, slow], PROBE_BYTES) == pytest.approx(185.6)
    assert sending_us([free, slow], PROBE_BYTES) == pytest.approx(46.4)
    assert sending_us([], PROBE_BYTES) == 0
