"""Exchanges in whole runs: nothing lost, and brokers that return know the links of today."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import msgspec
import pytest

from protos.records import LogEvent
from testbed.run.deploy import deploy, prepare
from testbed.run.engine import Options, choose
from testbed.topology.load import load_plan_text

TEXT = """
name: exchanged
seed: 3
duration: {duration}
network: {{generator: ring, nodes: 5, link: {link}}}
defaults: {{broker: {{on_crash: continue, options: {{matching_us: 200}}}}, client: {{on_crash: continue}}}}
brokers: {{B: {{count: 5, place: one_per_node}}}}
overlay: {{generator: chain}}
clients:
  pub:
    kind: publisher
    for_each: {{broker: [B1, B3, B5]}}
    broker: "{{broker}}"
    publish: {{source: stock, rate: {rate}, parameters: {{symbol: YHOO}}}}
  sub:
    kind: subscriber
    for_each: {{broker: [B1, B2, B3, B4, B5]}}
    broker: "{{broker}}"
    subscribe: ["[class,eq,'STOCK']"]
events: [{events}]
"""
EXCHANGE = "{at: 2003ms, exchange: {add: [B1, B5], remove: [B2, B3]}}"


def played(
    folder: Path, events: str, engine: str = "simulate", link: str = "{latency: 10ms}", duration: str = "6s",
    rate: str = "40/s",
) -> list[LogEvent]:  # fmt: skip
    text = TEXT.format(events=events, link=link, duration=duration, rate=rate)
    chosen = choose(engine, None)[0]
    clock = chosen.clocks()[0]
    plan = load_plan_text(text, "exchanged.yaml")
    outcome = deploy(prepare(plan, None, folder, chosen.name, clock), chosen, Options(clock), lambda _: None)
    assert outcome.manifest.status == "done", outcome.manifest.reason
    decode = msgspec.json.Decoder(LogEvent).decode
    lines = [
        line for path in outcome.folder.events.glob("*.jsonl") for line in path.read_bytes().splitlines()
    ]
    return sorted(map(decode, lines), key=lambda event: event.t_us)


def of_kind(events: list[LogEvent], kind: str) -> list[LogEvent]:
    return [event for event in events if event.kind == kind]


def check_exactly_once_in_order(events: list[LogEvent]) -> None:
    published: dict[str, list[str]] = defaultdict(list)
    for event in of_kind(events, "PUBLISHED"):
        published[event.node].append(event.message)
    got: dict[str, list[str]] = defaultdict(list)
    for event in sorted(of_kind(events, "DELIVERED"), key=lambda event: event.n):
        got[event.node].append(event.message)
    assert len(got) == 5
    for subscriber, messages in got.items():
        for publisher, sent in published.items():
            mine = [message for message in messages if message in set(sent)]
            assert mine == sent, (subscriber, publisher)


def test_an_exchange_under_traffic_and_back_again(tmp_path: Path) -> None:
    back = "{at: 3501ms, exchange: {add: [B3, B2], remove: [B5, B1]}}"
    slower = "{at: 3s, set: {broker: [B2, B4], options: {matching_us: 900}}}"
    events = played(tmp_path, f"{EXCHANGE}, {slower}, {back}")
    assert [(e.type, e.content) for e in of_kind(events, "EXCHANGED") if e.group == "ordered"] == [
        ("done", "B1 B5 B2 B3"),
        ("done", "B3 B2 B5 B1"),
    ]
    assert [e.node for e in of_kind(events, "OPTIONS_SET")] == ["B2", "B4"]
    assert not of_kind(events, "DROPPED")
    check_exactly_once_in_order(events)


def test_set_changes_what_matching_takes(tmp_path: Path) -> None:
    events = played(tmp_path, "{at: 3s, set: {broker: [B2], options: {matching_us: 900}}}")
    (changed,) = of_kind(events, "OPTIONS_SET")
    took = {
        (e.t_us > changed.t_us + 1000, e.matching_us) for e in of_kind(events, "PROCESSED") if e.node == "B2"
    }
    assert took == {(False, 200), (True, 900)}


@pytest.mark.parametrize("after_ms", [90, 160, 220])
def test_a_broker_killed_meanwhile_returns_to_the_tree_of_today(tmp_path: Path, after_ms: int) -> None:
    events = played(
        tmp_path, f"{EXCHANGE}, {{at: {2003 + after_ms}ms, kill: B3}}, {{at: 4s, start: B3}}", duration="9s"
    )
    (outcome,) = {e.type for e in of_kind(events, "EXCHANGED")}
    up = {frozenset((e.node, e.peer)) for e in of_kind(events, "LINK_UP") if "B3" in (e.node, e.peer)}
    neighbours = {e.peer for e in of_kind(events, "LINK_UP") if e.node == "B3" and e.t_us > _start(events)}
    assert up
    assert neighbours == ({"B4"} if outcome == "done" else {"B2", "B4"})
    late = [e for e in of_kind(events, "PUBLISHED") if e.t_us > _start(events) + 2_000_000]
    got = {(e.node, e.message) for e in of_kind(events, "DELIVERED")}
    assert late
    assert all((f"sub-B{i}", e.message) in got for e in late if e.node != "pub-B3" for i in (1, 2, 4, 5))


def _start(events: list[LogEvent]) -> int:
    return max(e.t_us for e in of_kind(events, "STARTED") if e.node == "B3")


@pytest.mark.nightly
@pytest.mark.guest
@pytest.mark.parametrize("link", ["{latency: 10ms, loss: 3%}", "{latency: 10ms, jitter: 4ms}"])
def test_real_brokers_exchange_under_loss_and_jitter(tmp_path: Path, link: str) -> None:
    events = played(tmp_path, EXCHANGE, "guest", link, duration="12s", rate="10/s")
    assert {e.type for e in of_kind(events, "EXCHANGED")} == {"done"}
    check_exactly_once_in_order(events)


@pytest.mark.nightly
@pytest.mark.guest
def test_only_publications_that_cross_wait(tmp_path: Path) -> None:
    """What waits is in the input queue of the new link's ends, no longer than the old way takes."""
    events = played(tmp_path, EXCHANGE, "guest", rate="100/s")
    waited = [e for e in of_kind(events, "PROCESSED") if e.queueing_us > 5_000]
    assert waited
    assert {(e.node, e.peer) for e in waited} <= {("B1", "B5"), ("B5", "B1")}
    assert max(e.queueing_us for e in waited) < 5 * 10_000 + 5_000
    check_exactly_once_in_order(events)
