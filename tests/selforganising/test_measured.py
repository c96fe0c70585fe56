"""Costs that are measured: who asks for which round trip when, and what a broker does without one."""

from __future__ import annotations

from pathlib import Path

from broker_grpc.core.config import BrokerProcessConfig
from broker_grpc.machine import Effects, Log, MeasureTrip, PeerUp, Received, Send, TripMeasured, unfolded
from broker_grpc.registry import machine_of
from experiments.ci.deployment import latencies, link_unit_us, plan_of
from experiments.ci.workload import Setting
from protos.body import Body, Envelope
from protos.selforganising_messages import InterestBroadcast, Passed
from tests.simulation.chains import of_kind, simulate

BITS, EVERY_US, UNIT_US = 64, 5_000, 100
ALGORITHM = {"name": "ci", "filter_bits": BITS, "interval_us": 100_000, "measured": True,
             "measure_every_us": EVERY_US, "link_unit_us": UNIT_US}  # fmt: skip


class Host:
    """Broker B2, which has just got its links to B1 and B3."""

    def __init__(self) -> None:
        self.machine = machine_of(BrokerProcessConfig("B2", "", algorithm=ALGORITHM, seed=1))
        self.now_us = 1
        self.asked = [trip for name in ("B1", "B3") for trip in asked(self.do(PeerUp(name, "broker", 1)))]

    def do(self, stimulus: PeerUp | Received | TripMeasured) -> Effects:
        return list(unfolded(self.machine.handle(self.now_us, stimulus)))

    def get(self, body: Body, peer: str = "B1") -> Effects:
        return self.do(Received(peer, Envelope(body)))


def asked(effects: Effects) -> list[str]:
    return [effect.peer for effect in effects if isinstance(effect, MeasureTrip)]


def logged(effects: Effects, kind: str) -> list[tuple[str, str]]:
    return [(e.event.peer, e.event.content or e.event.type) for e in effects
            if isinstance(e, Log) and e.event.kind == kind]  # fmt: skip


def from_afar() -> InterestBroadcast:
    """B0's, by way of B1."""
    return InterestBroadcast(3, bytes(BITS // 8), (Passed("B0", 1.0), Passed("B1", 1.0, 2.0, 3)))


def test_a_link_that_comes_up_is_measured() -> None:
    assert Host().asked == ["B1", "B3"]


def test_a_broadcast_over_a_link_that_is_not_measured_ends() -> None:
    effects = Host().get(from_afar())
    assert not [effect for effect in effects if isinstance(effect, Send)]
    assert logged(effects, "REQUEST_ENDED") == [("B0", "unknown")]


def test_what_was_measured_is_told_and_is_on_the_path_of_a_broadcast() -> None:
    host = Host()
    assert logged(host.do(TripMeasured("B1", 350)), "PRICED") == [("B1", "3.5")]
    (sent,) = [effect for effect in host.get(from_afar()) if isinstance(effect, Send)]
    assert sent.envelope.body.path[-1].link == 3.5  # type: ignore[attr-defined]


def test_the_direct_link_is_measured_when_its_other_end_is_heard_and_again_after_a_while() -> None:
    host = Host()
    host.do(TripMeasured("B1", 350))
    assert asked(host.get(from_afar())) == ["B0"]
    assert asked(host.get(from_afar())) == []
    host.now_us += EVERY_US
    assert asked(host.get(from_afar())) == ["B0"]


def test_who_is_no_neighbour_is_measured_and_not_told() -> None:
    assert logged(Host().do(TripMeasured("B0", 350)), "PRICED") == []


def test_given_costs_ask_for_nothing() -> None:
    machine = machine_of(BrokerProcessConfig("B2", "", algorithm={"name": "ci"}, seed=1))
    effects = machine.handle(1, PeerUp("B1", "broker", 1))
    assert asked(effects) == []
    assert logged(effects, "PRICED") == [("", "0"), ("B1", "1")]


def test_the_simulators_round_trips_are_those_of_the_plan(tmp_path: Path) -> None:
    """Also after all of them have changed."""
    size = Setting(domains=4, routers=5, brokers=6, types=4, subscribers=2, ticks=6_000, publication=50.0)
    events = simulate(plan_of(size, "uniform", 1, "static", "measured"), tmp_path)
    before, after = matrices = latencies(size, 1)
    last: dict[tuple[int, int], float] = {}
    first: dict[tuple[int, int], float] = {}
    for event in of_kind(events, "PRICED"):
        if "peer" in event:
            pair = int(event["node"][1:]) - 1, int(event["peer"][1:]) - 1
            first.setdefault(pair, float(event["content"]))
            last[pair] = float(event["content"])
    assert len(first) == 2 * (size.brokers - 1)
    for found, planned in ((first, before), (last, after)):
        for pair, cost in found.items():
            wanted = 2 * planned[pair] / link_unit_us(matrices)
            assert abs(cost - wanted) <= 3 / link_unit_us(matrices) + 1e-4
