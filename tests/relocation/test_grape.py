"""GRAPE by the sentence (section 4)."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from broker_grpc.protocols.relocation.grape import Grape
from broker_grpc.protocols.relocation.settings import GrapeSettings
from protos.body import Envelope
from protos.client_messages import Publication
from protos.envelope import encoded_size
from protos.relocation_messages import PingRequest, TraceInformationAnswer, TraceInformationRequest
from tests.relocation.scene import FIGURE_1, Scene

ALL = "[class,eq,'STOCK'],[symbol,eq,'YHOO']"
FEW = ALL + ",[n,>,8]"  # one publication in ten
QUOTE: dict[str, Any] = {"class": "STOCK", "symbol": "YHOO"}


def scene_of(threshold: int = 10, **settings: Any) -> Scene:
    return Scene(FIGURE_1, layer=lambda: Grape(GrapeSettings(threshold=threshold, **settings)))


def clustered(threshold: int = 10, **settings: Any) -> Scene:
    """All high-rated subscribers at B8, many low-rated ones at B3: load and delay want different brokers."""
    scene = scene_of(threshold, **settings)
    scene.subscriber("database", "B8", ALL)
    for i in range(40):
        scene.subscriber(f"low{i}", "B3", FEW)
    scene.publisher("P", "B4", ALL)
    return scene


def publish(scene: Scene, count: int) -> None:
    for n in range(count):
        scene.publish("P", **QUOTE, n=n % 10)
        scene.net.settle()


# ---------------------------------------------------------------- 4.1


def test_a_session_traces_consecutive_publications() -> None:
    scene = clustered(threshold=5)
    seen: dict[str, Publication] = {}

    def watch(source: str, target: str, envelope: Envelope) -> None:
        if isinstance(envelope.body, Publication) and source == "B4":
            seen[envelope.body.id] = envelope.body

    scene.net.on_send = watch
    for n in range(5):
        scene.publish("P", **QUOTE, n=n)
    scene.net.settle()
    traces = [p.trace for p in seen.values()]
    assert [t.index for t in traces if t] == [0, 1, 2, 3, 4]
    assert len({t.session for t in traces if t}) == 1


def test_one_request_and_one_answer_per_broker_and_session() -> None:
    """4.1: a reply after each trace session, not after each traced publication."""
    scene = clustered(threshold=10)
    counts: Counter[str] = Counter()

    def watch(source: str, target: str, envelope: Envelope) -> None:
        if isinstance(envelope.body, TraceInformationRequest | TraceInformationAnswer):
            counts[envelope.body.type] += 1

    scene.net.on_send = watch
    publish(scene, 10)
    # From B4: B1 and, behind it, B2, B3, B5, B6, B8 got at least one publication; B7 none.
    assert counts == {"trace_information_request": 6, "trace_information_answer": 6}


def test_only_neighbours_that_got_a_publication_are_asked() -> None:
    scene = clustered(threshold=5)  # n = 0..4: no low-rated subscriber gets one
    asked: set[str] = set()

    def watch(source: str, target: str, envelope: Envelope) -> None:
        if isinstance(envelope.body, TraceInformationRequest):
            asked.add(target)

    scene.net.on_send = watch
    publish(scene, 5)
    assert asked == {"B1", "B5", "B6", "B8"}


def test_the_answer_holds_the_delivery_pattern() -> None:
    """4.1 and figure 3: bit i is set where publication i was delivered; the count adds up all deliveries."""
    scene = clustered(threshold=10)
    found: dict[str, tuple[int, int]] = {}

    def watch(source: str, target: str, envelope: Envelope) -> None:
        if isinstance(envelope.body, TraceInformationAnswer) and target == "B4":
            for broker in envelope.body.brokers:
                found[broker.broker] = int.from_bytes(broker.delivered, "little"), broker.deliveries

    scene.net.on_send = watch
    publish(scene, 10)
    assert found["B8"] == (0b1111111111, 10)
    assert found["B3"] == (0b1000000000, 40)
    assert found["B6"] == (0, 0)


def test_one_brokers_payload_is_about_a_hundred_bytes() -> None:
    """4.1, with G_threshold = 100 and three neighbours."""
    scene = clustered(threshold=100)
    sizes: list[int] = []

    def watch(source: str, target: str, envelope: Envelope) -> None:
        if isinstance(envelope.body, TraceInformationAnswer) and len(envelope.body.brokers) == 1:
            sizes.append(encoded_size(envelope))

    scene.net.on_send = watch
    publish(scene, 100)
    assert sizes
    assert max(sizes) <= 120


def test_a_broker_clears_a_session_after_its_answer() -> None:
    scene = clustered(threshold=10)
    publish(scene, 10)
    assert all(not layer._sessions for layer in scene.layers.values())  # type: ignore[attr-defined]


# ---------------------------------------------------------------- 4.2


def test_load100_goes_to_the_broker_that_sinks_everything() -> None:
    scene = clustered(prioritise="load", weight=100)
    publish(scene, 12)
    assert scene.net.peers_of("P") == ["B8"]
    scene.check_deliveries()


def test_delay100_goes_to_the_most_deliveries() -> None:
    """With equal processing everywhere, the broker where 40 of 50 deliveries happen has the least delay."""
    scene = clustered(prioritise="delay", weight=100)
    for layer in scene.layers.values():
        layer.host.monitor.observe_input(0, 1000)  # type: ignore[attr-defined]
    publish(scene, 12)
    assert scene.net.peers_of("P") == ["B3"]
    scene.check_deliveries()


def test_weight_1_hands_the_choice_to_the_other_metric() -> None:
    """5.2: load1 is virtually delay100, and delay1 load100, under the clustered workload.

    "Virtually": weight 1 still drops the one worst candidate, which here is another one (B4, B7).
    """
    ends = {}
    for prioritise, weight in (("load", 1), ("delay", 1), ("load", 100), ("delay", 100)):
        scene = scene_of(prioritise=prioritise, weight=weight)
        scene.subscriber("database", "B8", ALL)
        scene.subscriber("far", "B7", FEW)
        for i in range(40):
            scene.subscriber(f"low{i}", "B2", FEW)
        scene.publisher("P", "B4", ALL)
        for layer in scene.layers.values():
            layer.host.monitor.observe_input(0, 1000)  # type: ignore[attr-defined]
        publish(scene, 12)
        ends[f"{prioritise}{weight}"] = scene.net.peers_of("P")[0]
    assert ends == {"load1": "B2", "delay1": "B8", "load100": "B8", "delay100": "B2"}


def test_the_publisher_is_asked_for_ping_times() -> None:
    scene = clustered(prioritise="delay", weight=100)
    asked: list[tuple[str, ...]] = []

    def watch(source: str, target: str, envelope: Envelope) -> None:
        if isinstance(envelope.body, PingRequest):
            asked.append(envelope.body.brokers)

    scene.net.on_send = watch
    publish(scene, 10)
    assert asked == [("B1", "B2", "B3", "B4", "B5", "B6", "B8")]


def test_a_silent_publisher_does_not_stop_the_selection() -> None:
    scene = clustered(prioritise="delay", weight=100)
    scene.publishers["P"].handlers[PingRequest] = lambda peer, envelope, body: None
    publish(scene, 10)
    assert scene.net.events("SELECTED") == []
    scene.net.advance(60_000_000)
    assert len(scene.net.events("SELECTED")) == 1


def test_a_lost_broker_does_not_stop_the_retrieval() -> None:
    scene = clustered(threshold=10)
    for n in range(10):
        scene.publish("P", **QUOTE, n=n)
    for _ in range(40):
        scene.net.step()
    scene.net.crash("B5")
    scene.net.settle()
    scene.net.advance(60_000_000)
    assert scene.net.events("SELECTED")


def test_the_next_broker_manages_the_publisher_after_a_migration() -> None:
    """4.2: each publisher is managed by GRAPE at its first broker, whichever that is."""
    scene = clustered(threshold=5, prioritise="load")
    publish(scene, 20)
    brokers = {e.node for e in scene.net.events("SELECTED")}
    assert brokers == {"B4", "B8"}


def test_no_publication_is_lost_while_grape_moves_publishers() -> None:
    scene = clustered(threshold=4, prioritise="load")
    random = Random(5)
    for n in range(80):
        scene.publish("P", **QUOTE, n=n % 10)
        for _ in range(random.randrange(12)):
            scene.net.step()
    scene.net.settle()
    scene.check_deliveries()


@pytest.mark.parametrize("bad", [{"weight": 101}, {"prioritise": "cost"}, {"threshold": 0}])
def test_bad_settings_are_refused_by_name(bad: dict[str, object]) -> None:
    from broker_grpc.errors import BrokerError
    from broker_grpc.registry import registry

    with pytest.raises(BrokerError, match="grape"):
        registry().settings({"name": "grape", **bad})
