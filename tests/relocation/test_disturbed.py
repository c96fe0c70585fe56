"""Whole runs with relocation on bad networks (simulated), and the loss of brokers while publishers move.

3.3: "the migration protocol is completely lossless". 4.2: "if the first broker fails, the publisher can
reconnect to any other broker and continue to be managed by another instance of GRAPE".
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from broker_grpc.client.machine import ClientMachine, ClientOptions
from broker_grpc.content.language import parse_filter
from broker_grpc.protocols.relocation.grape import Grape
from broker_grpc.protocols.relocation.settings import GrapeSettings
from testbed.simulation.eventlog import SimulatedLog
from testbed.simulation.simulator import Simulator
from testbed.topology.file.document import read_document
from testbed.topology.load import resolve
from tests.relocation.scene import Scene

# Two publishers whose subscribers sit at the far ends: both move, over the same links, at about one time.
TOPOLOGY = """
name: disturbed
seed: {seed}
duration: 40s
network: {{generator: chain, nodes: 5, link: {{{link}}}}}
brokers: {{B: {{count: 5}}}}
overlay: {{generator: chain}}
algorithm: {algorithm}
clients:
  a: {{kind: publisher, broker: B1, publish: {{source: stock, rate: 4/s, parameters: {{symbol: A}}}}}}
  b: {{kind: publisher, broker: B5, publish: {{source: stock, rate: 4/s, parameters: {{symbol: B}}}}}}
  at-far: {{kind: subscriber, broker: B5, count: 2, subscribe: ["[class,eq,'STOCK'],[symbol,eq,'A']"]}}
  at-near: {{kind: subscriber, broker: B1, count: 2, subscribe: ["[class,eq,'STOCK'],[symbol,eq,'B']"]}}
  all: {{kind: subscriber, broker: B3, subscribe: ["[class,eq,'STOCK']"]}}
events: [{events}]
capture: {{enabled: false}}
"""
GRAPE = "{name: grape, threshold: 12, prioritise: load}"
POP = "{name: pop, threshold: 12, traced_per_window: 12, window_us: 5000000}"


def run(folder: Path, algorithm: str, link: str, seed: int = 1, events: str = "") -> list[dict[str, Any]]:
    path = folder / "topology.yaml"
    path.write_text(TOPOLOGY.format(algorithm=algorithm, link=link, seed=seed, events=events))
    log = SimulatedLog(folder / "simulation.jsonl")
    simulator = Simulator(resolve(read_document(path), folder, seed), log, lambda tell: None)
    simulator.begin()
    while simulator.step(1000):
        pass
    simulator.end()
    log.close()
    return [json.loads(line) for line in (folder / "simulation.jsonl").read_bytes().splitlines()]


def wanted(subscriber: str, publisher: str) -> bool:
    return subscriber.startswith({"a": ("at-far", "all"), "b": ("at-near", "all")}[publisher])


def subscribers(events: list[dict[str, Any]]) -> set[str]:
    return {e["node"] for e in events if e["kind"] == "DELIVERED"}


@pytest.mark.parametrize("algorithm", [POP, GRAPE], ids=["pop", "grape"])
@pytest.mark.parametrize("link", ["latency: 30ms, jitter: 10ms", "latency: 30ms, loss: 3%"])
def test_nothing_is_lost_or_doubled_on_a_bad_network(tmp_path: Path, algorithm: str, link: str) -> None:
    events = run(tmp_path, algorithm, link)
    assert {e["node"] for e in events if e["kind"] == "MIGRATED"} == {"a", "b"}
    end = max(e["t_us"] for e in events) - 3_000_000
    got = Counter((e["node"], e["message"]) for e in events if e["kind"] == "DELIVERED")
    assert max(got.values()) == 1
    published = [e for e in events if e["kind"] == "PUBLISHED" and e["t_us"] < end]
    assert len(published) > 100
    missing = [
        (s, p["message"])
        for p in published
        for s in subscribers(events)
        if wanted(s, p["node"]) and (s, p["message"]) not in got
    ]
    assert missing == []


@pytest.mark.parametrize("algorithm", [POP, GRAPE], ids=["pop", "grape"])
def test_a_broker_on_the_path_is_killed_while_the_publisher_moves(tmp_path: Path, algorithm: str) -> None:
    """It ends at one of the two brokers; what it publishes after its resume is not lost."""
    (tmp_path / "calm").mkdir()
    (tmp_path / "killed").mkdir()
    calm = run(tmp_path / "calm", algorithm, "latency: 100ms")
    ready = [e["t_us"] for e in calm if e["kind"] == "PHASE_READY"][-1]
    begun = next(e["t_us"] for e in calm if e["kind"] == "MIGRATION_STARTED" and e["node"] == "a")
    ended = next(e["t_us"] for e in calm if e["kind"] == "MIGRATED" and e["node"] == "a")
    at_ms = ((begun + ended) // 2 - ready) // 1000
    events = run(
        tmp_path / "killed", algorithm, "latency: 100ms", events=f"{{at: publishers+{at_ms}ms, kill: B2}}"
    )
    died = next(e["t_us"] for e in events if e["kind"] == "FAULT_STARTED")
    moves = [e for e in events if e["kind"] in ("MIGRATED", "MIGRATION_ABORTED") and e["node"] == "a"]
    assert moves, "the migration never ended"
    # Handed over to a broker after the end of the migration (and before the run's last seconds).
    resumed, end = moves[0]["t_us"], max(e["t_us"] for e in events) - 5_000_000
    assert begun < died < ended
    behind = moves[0]["kind"] == "MIGRATED"  # at the target, beyond the broker that died
    later = [
        e["message"]
        for e in events
        if e["kind"] == "PUBLISHED" and e["node"] == "a" and resumed + 100_000 < e["t_us"] < end
    ]
    assert later
    got = Counter((e["node"], e["message"]) for e in events if e["kind"] == "DELIVERED")
    assert max(got.values()) == 1
    if behind:
        assert [m for m in later if got["at-far1", m] != 1] == []


def test_grape_goes_on_at_another_broker_when_the_first_is_lost() -> None:
    """4.2: no single point of failure."""
    links = [("B1", "B2"), ("B2", "B3"), ("B3", "B4"), ("B2", "B5")]
    scene = Scene(links, layer=lambda: Grape(GrapeSettings(threshold=6, prioritise="load")))
    text = "[class,eq,'STOCK'],[symbol,eq,'A']"
    scene.subscriber("database", "B4", text)
    publisher = ClientMachine(
        "P", "B5", addresses={b: b for b in scene.layers}, fallbacks=["B1"],
        options=ClientOptions(fallback_after_us=2_000_000),
    )  # fmt: skip
    scene.net.add("P", publisher)
    scene.net.apply("P", publisher.start(scene.net.now_us))
    scene.net.settle()
    scene.publishers["P"] = publisher
    scene.tokens["P"], effects = publisher.advertise(scene.net.now_us, parse_filter(text))
    scene.net.apply("P", effects)
    scene.net.settle()
    for n in range(3):  # a trace session has begun at B5
        scene.publish("P", **{"class": "STOCK", "symbol": "A", "n": n})
        scene.net.settle()
    scene.net.crash("B5")
    scene.net.settle()
    scene.net.advance(30_000_000)
    assert scene.net.peers_of("P") == ["B1"]
    mark = len(scene.published)
    for n in range(20):
        scene.publish("P", **{"class": "STOCK", "symbol": "A", "n": n})
        scene.net.settle()
    assert next(e.node for e in scene.net.events("SELECTED")) == "B1"
    assert scene.net.peers_of("P") == ["B4"]
    scene.check_deliveries(scene.published[mark:])
