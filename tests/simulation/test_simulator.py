"""Whole simulated runs of small plans."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from broker_grpc.core.limits import SERVER_GRACE_US
from broker_grpc.machine import Copies, Log, Send
from protos.body import Envelope
from protos.client_messages import Publication
from protos.core_messages import Ack
from protos.envelope import VERSION
from protos.records import LogEvent
from testbed.run.deploy import prepare
from testbed.run.engine import Options
from testbed.simulation.engine import SimulateEngine
from testbed.simulation.eventlog import SimulatedLog
from testbed.simulation.simulator import Simulator
from testbed.topology.plan import (
    Event,
    Gate,
    OverlayLink,
    PairLatency,
    Plan,
)
from tests.simulation.chains import LATENCY_US, chain, of_kind, simulate


def test_every_subscriber_gets_every_publication_once(tmp_path: Path) -> None:
    events = simulate(chain(4), tmp_path)
    published = [e["message"] for e in of_kind(events, "PUBLISHED")]
    assert len(published) == 40
    got = Counter((e["node"], e["message"]) for e in of_kind(events, "DELIVERED"))
    assert got == Counter({(f"s{i}", m): 1 for i in range(4) for m in published})


def test_delay_is_latency_times_hops(tmp_path: Path) -> None:
    for e in of_kind(simulate(chain(4), tmp_path), "DELIVERED"):
        assert e["t_us"] - e["published_us"] == e.get("hops", 0) * 2 * LATENCY_US
        assert e.get("hops", 0) == int(e["node"][1:])


def test_the_same_plan_gives_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    plan = dict(brokers=4, jitter_us=2000, loss=0.05)
    simulate(chain(**plan), tmp_path / "a")  # type: ignore[arg-type]
    simulate(chain(**plan), tmp_path / "b")  # type: ignore[arg-type]
    assert (tmp_path / "a/simulation.jsonl").read_bytes() == (tmp_path / "b/simulation.jsonl").read_bytes()


def test_order_is_kept_under_jitter_and_loss(tmp_path: Path) -> None:
    events = simulate(chain(3, run_for_us=40_000_000, jitter_us=9000, loss=0.1), tmp_path)
    for node in ("s0", "s1", "s2"):
        numbers = [int(e["message"].split(":")[1]) for e in of_kind(events, "DELIVERED") if e["node"] == node]
        assert numbers[:60] == list(range(1, 61))  # the last ones may still be held up


def bursts(tmp_path: Path, queue_packets: int) -> list[dict[str, Any]]:
    plan = chain(3, bandwidth_bps=100_000, queue_packets=queue_packets)
    publisher = plan.clients[0].publications
    assert publisher is not None
    publisher.period_us, publisher.count = 1_000, 60
    return simulate(plan, tmp_path)


def test_a_full_queue_costs_time_and_never_order(tmp_path: Path) -> None:
    """A burst that no queue holds: TCP repairs what was dropped, and what came behind it waits."""
    events = bursts(tmp_path, 3)
    published = [e["message"] for e in of_kind(events, "PUBLISHED")]
    assert len(published) == 60
    roomy = {e["node"]: e["t_us"] for e in of_kind(bursts(tmp_path, 1000), "DELIVERED")}  # the last one each
    for subscriber in ("s1", "s2"):
        got = [e for e in of_kind(events, "DELIVERED") if e["node"] == subscriber]
        assert [e["message"] for e in got] == published
        assert got[-1]["t_us"] > roomy[subscriber] + 100_000


def test_a_killed_broker_comes_back_and_routes_are_repaired(tmp_path: Path) -> None:
    faults = [
        Event("publishers", 5_000_000, "kill", "B1"),
        Event("publishers", 8_000_000, "start", "B1"),
    ]
    events = simulate(chain(3, faults), tmp_path)
    assert [e["type"] for e in of_kind(events, "FAULT_STARTED")] == ["kill", "start"]
    assert [e["type"] for e in of_kind(events, "FAULT_ENDED")] == ["kill", "start"]
    ended = of_kind(events, "FAULT_ENDED")[0]["t_us"]
    late = [e["message"] for e in of_kind(events, "PUBLISHED") if e["t_us"] > ended + 2_000_000]
    got = Counter(e["message"] for e in of_kind(events, "DELIVERED") if e["node"] == "s2")
    assert late
    assert all(got[m] == 1 for m in late)
    assert max(got.values()) == 1
    during = [e for e in of_kind(events, "DELIVERED") if e["node"] == "s2"]
    assert len(during) < 40


def test_a_broker_that_stops_ends_what_it_dialled_and_waits_for_the_others(tmp_path: Path) -> None:
    """B1 dialled B2; B0 dialled B1, and its stream has the time of grace."""
    events = simulate(chain(3, [Event("publishers", 5_000_000, "leave", "B1")]), tmp_path)
    (left,) = (e["t_us"] for e in of_kind(events, "FAULT_STARTED"))
    down = {e["node"]: e["t_us"] - left for e in of_kind(events, "LINK_DOWN") if e["peer"] == "B1"}
    assert down["B2"] == 2 * LATENCY_US
    assert down["B0"] == SERVER_GRACE_US + 2 * LATENCY_US
    (stopped,) = (e["t_us"] for e in of_kind(events, "STOPPED") if e["t_us"] < left + 1_000_000)
    assert stopped == left + SERVER_GRACE_US


def triangle(closing: OverlayLink) -> Plan:
    """B0, B1 and B2 in a chain, and a slow link that closes a cycle."""
    plan = chain(3, run_for_us=8_000_000)
    plan.network.pairs = [PairLatency(a, b, 5 * LATENCY_US) for a, b in (("h0", "h2"), ("h2", "h0"))]
    plan.overlay.append(closing)
    plan.phases[0].gate = Gate(after_us=3_000_000)
    return plan


def test_a_link_that_closes_a_cycle_is_refused_dial_after_dial(tmp_path: Path) -> None:
    """The smaller id finds the cycle; here it is the one that was dialled."""
    events = simulate(triangle(OverlayLink("B2", "B0")), tmp_path)
    ups = Counter((e["node"], e["peer"]) for e in of_kind(events, "LINK_UP"))
    assert ups == Counter({(f"B{a}", f"B{b}"): 1 for a in range(3) for b in range(3) if a != b})
    refused = [e for e in of_kind(events, "REFUSED") if e.get("type") == "hello"]
    listener = [e for e in refused if e["node"] == "B0"]
    assert len(listener) >= 4  # of about eight seconds, after doubling waits
    assert {e["detail"] for e in listener} == {"protocol: the overlay is not a tree"}
    dialler = [(e["node"], e["peer"], e["detail"]) for e in refused if e["node"] != "B0"]
    assert dialler == [("B2", "B0", "refused by the peer: protocol: the overlay is not a tree")]
    got = Counter((e["node"], e["message"]) for e in of_kind(events, "DELIVERED"))
    assert set(got.values()) == {1}


def test_the_dialler_of_a_link_that_closes_a_cycle_listens_until_it_has_ended(tmp_path: Path) -> None:
    events = simulate(triangle(OverlayLink("B0", "B2")), tmp_path)
    found = next(e["t_us"] for e in of_kind(events, "REFUSED"))
    down = {e["node"]: e for e in of_kind(events, "LINK_DOWN") if {e["node"], e["peer"]} == {"B0", "B2"}}
    assert {node: e["t_us"] - found for node, e in down.items()} == {
        "B2": 7 * LATENCY_US,
        "B0": 14 * LATENCY_US,
    }
    assert {e["detail"] for e in down.values()} == {"closed by the peer"}
    assert not [e for e in of_kind(events, "REFUSED") if e.get("type") == "hello"]
    assert sum(e["node"] == "B0" and e["peer"] == "B2" for e in of_kind(events, "LINK_UP")) == 1


def test_a_link_that_is_closed_and_wanted_again_is_dialled_once_and_at_once(tmp_path: Path) -> None:
    """Its end arrives while the new dial is under way, and is no reason for another one."""
    log = SimulatedLog(tmp_path / "x.jsonl")
    simulator = Simulator(chain(2), log, lambda tell: None)
    simulator.begin()
    while simulator.timeline.phase_name != "publishers":
        assert simulator.step(10)
    before = simulator.agenda.now_us
    simulator.streams.close("B0", "B1", "to be opened again", redial=False)
    simulator.streams.open("B0", "B1")
    while simulator.step(1000):
        pass
    log.close()
    events = [json.loads(line) for line in (tmp_path / "x.jsonl").read_bytes().splitlines()]
    hellos = [
        e for e in events if e["t_us"] > before and e.get("type") == "hello" and e["kind"] == "RECEIVED"
    ]
    rtt_us = 4 * LATENCY_US
    assert [(e["t_us"] - before, e["node"]) for e in hellos if e["peer"] != "p"] == [
        (rtt_us * 5 // 2, "B1"),
        (rtt_us * 3, "B0"),
    ]


def test_a_message_without_a_stream_is_dropped_and_not_recorded_as_sent(tmp_path: Path) -> None:
    log = SimulatedLog(tmp_path / "simulation.jsonl")
    simulator = Simulator(chain(2), log, lambda tell: None)
    simulator.begin()
    while simulator.timeline.phase_name == "overlay":
        simulator.step(1)
    log.flush()
    message = Envelope(Ack("m1"), 0, 0, VERSION)
    effects = [
        effect
        for peer in ("nobody", "B1")
        for effect in (Send(peer, message), Log(LogEvent(kind="SENT", type="ack", peer=peer)))
    ]
    simulator._running["B0"].apply(effects)
    assert [(e.kind, e.type, e.peer) for e in log.waiting] == [
        ("DROPPED", "ack", "nobody"),
        ("SENT", "ack", "B1"),
    ]
    log.close()


def test_of_copies_only_those_that_were_sent_are_recorded(tmp_path: Path) -> None:
    log = SimulatedLog(tmp_path / "simulation.jsonl")
    simulator = Simulator(chain(2), log, lambda tell: None)
    simulator.begin()
    while simulator.timeline.phase_name == "overlay":
        simulator.step(1)
    log.flush()
    message = Envelope(Publication("p1", published_us=3), 2)
    simulator._running["B0"].apply([Copies(7, "B0", "FORWARDED", ["nobody", "B1"], message, 50)])
    assert [(e.kind, e.peer, e.message) for e in log.waiting] == [
        ("DROPPED", "nobody", "p1"),
        ("FORWARDED", "B1", "p1"),
    ]
    sent = log.waiting[1]
    assert (sent.t_us, sent.node, sent.hops, sent.bytes, sent.published_us) == (7, "B0", 2, 50, 3)
    log.close()


def test_a_look_shows_brokers_and_clients_as_they_are(tmp_path: Path) -> None:
    log = SimulatedLog(tmp_path / "simulation.jsonl")
    simulator = Simulator(chain(2), log, lambda tell: None)
    simulator.begin()
    while not any(link.up for broker in simulator.look().brokers.values() for link in broker.links):
        simulator.step(1)
    early = simulator.look().brokers
    assert not all(broker.settled for broker in early.values()), "a link is up, and not synchronised"
    while simulator.timeline.phase_name != "publishers" or simulator.timeline.stage != "running":
        simulator.step(1)
    look = simulator.look()
    assert [(id_, b.settled, b.incarnation, b.clients) for id_, b in look.brokers.items()] == [
        ("B0", True, 1, 2),
        ("B1", True, 1, 1),
    ]
    assert [(link.peer, link.up, link.synced) for link in look.brokers["B0"].links] == [("B1", True, True)]
    assert {id_: (c.connected, c.subscribed, c.wanted) for id_, c in look.clients.items()} == {
        "p": (True, 0, 0),
        "s0": (True, 1, 1),
        "s1": (True, 1, 1),
    }
    log.close()


def test_a_link_cut_for_a_moment_delays_and_loses_nothing(tmp_path: Path) -> None:
    faults = [
        Event("publishers", 5_000_000, "link_down", "l1"),
        Event("publishers", 7_000_000, "link_up", "l1"),
    ]
    events = simulate(chain(3, faults), tmp_path)
    got = Counter(e["message"] for e in of_kind(events, "DELIVERED") if e["node"] == "s2")
    assert len(got) == 40
    assert set(got.values()) == {1}
    delays = [e["t_us"] - e["published_us"] for e in of_kind(events, "DELIVERED") if e["node"] == "s2"]
    assert max(delays) > 1_000_000


def test_a_run_does_not_end_while_tcp_holds_something(tmp_path: Path) -> None:
    """The link is back a moment before the end: the next try is seconds away."""
    cut = Event("publishers", 14_000_000, "link_down", "l1"), Event("publishers", 19_900_000, "link_up", "l1")
    events = simulate(chain(2, list(cut)), tmp_path)
    published = [e["message"] for e in of_kind(events, "PUBLISHED")]
    assert [e["message"] for e in of_kind(events, "DELIVERED") if e["node"] == "s1"] == published


def test_a_dial_into_a_cut_path_knocks_every_second(tmp_path: Path) -> None:
    """As captured: a connection that was hard to make begins with one packet, and takes a round trip more."""
    faults = [
        Event("publishers", 1_000_000, "partition", "", {"nodes": ["h1"]}),
        Event("publishers", 2_000_000, "kill", "B0"),
        Event("publishers", 3_000_000, "start", "B0"),
        Event("publishers", 6_500_000, "heal"),
    ]
    events = simulate(chain(2, faults), tmp_path)
    started = max(e["t_us"] for e in of_kind(events, "STARTED"))
    up = {e["node"]: e["t_us"] for e in of_kind(events, "LINK_UP") if e["t_us"] > started}
    rtt_us = 4 * LATENCY_US
    knock = up["B1"] - rtt_us * 7 // 2
    assert 3_500_000 < knock - started < 4_700_000
    assert knock % 10_000 == 0  # on a tick
    assert up["B0"] == up["B1"] + rtt_us // 2


def test_reshaping_a_link_shows_in_the_delays(tmp_path: Path) -> None:
    events = simulate(
        chain(2, [Event("publishers", 10_000_000, "reshape", "l1", {"latency_us": 100_000})]), tmp_path
    )
    delays = [e["t_us"] - e["published_us"] for e in of_kind(events, "DELIVERED") if e["node"] == "s1"]
    assert set(delays) == {20_000, 110_000}


def test_a_gate_that_is_never_met_fails_the_run(tmp_path: Path) -> None:
    plan = chain(2)
    plan.phases[0].start = ["B0"]  # B1 is never started
    plan.phases[1].start = ["s1"]
    log = SimulatedLog(tmp_path / "x.jsonl")
    simulator = Simulator(plan, log, lambda tell: None)
    simulator.begin()
    while simulator.step(1000):
        pass
    assert simulator.outcome is not None
    assert simulator.outcome.status == "failed"
    assert "s1" in simulator.outcome.reason


@pytest.mark.parametrize("algorithm", [{"name": "pop", "threshold": 5}, {"name": "grape", "threshold": 10}])
def test_a_publisher_moves_to_its_subscribers(tmp_path: Path, algorithm: dict[str, Any]) -> None:
    plan = chain(5)
    plan.clients = [plan.clients[0], *(c for c in plan.clients[1:] if c.id == "s4")]
    plan.phases[1].start = ["s4"]
    for broker in plan.brokers:
        broker.algorithm = algorithm
    events = simulate(plan, tmp_path)
    moved = of_kind(events, "MIGRATED")
    assert [e["peer"] for e in moved] == ["B4"]
    published = [e["message"] for e in of_kind(events, "PUBLISHED")]
    got = [e["message"] for e in of_kind(events, "DELIVERED")]
    assert got == published
    assert of_kind(events, "DELIVERED")[-1].get("hops", 0) == 0


def test_the_engine_tells_when_each_phase_was_ready(tmp_path: Path) -> None:
    engine = SimulateEngine()
    folder = prepare(chain(3), None, tmp_path, engine.name, "simulated")
    told: list[dict[str, Any]] = []
    engine.start(folder, Options("simulated"))
    engine.execute(told.append)
    ready = {e["phase"]: e["clock_us"] for e in told if e.get("state") == "ready"}
    logged = [
        json.loads(line)
        for line in (folder.events / "simulation.jsonl").read_bytes().splitlines()
        if b"PHASE_READY" in line
    ]
    assert ready == {e["detail"].split()[0]: e["t_us"] for e in logged}
    assert len(set(ready.values())) == 3


def test_what_the_simulator_cannot_run_is_warned_of(tmp_path: Path) -> None:
    engine, plan = SimulateEngine(), chain(2)
    plan.phases[0].gate.check = ["false"]  # fails wherever it can be run
    folder = prepare(plan, None, tmp_path, engine.name, "simulated")
    engine.start(folder, Options("simulated"))
    assert engine.execute(lambda event: None) == 0
    (warning,) = folder.read_manifest().warnings
    assert plan.phases[0].name in warning


def test_deliveries_of_clients_that_are_gone_are_still_counted(tmp_path: Path) -> None:
    plan = chain(2, [Event("publishers", 10_000_000, "leave", "s1")])
    log = SimulatedLog(tmp_path / "x.jsonl")
    simulator = Simulator(plan, log, lambda tell: None)
    simulator.begin()
    counts = [0]
    while simulator.step(10):
        counts.append(simulator.delivered())
    log.close()
    assert counts == sorted(counts)
    delivered = (tmp_path / "x.jsonl").read_text().count('"DELIVERED"')
    assert simulator.delivered() == delivered > 20
