"""Events that tell brokers something: `exchange`, `set`, and `reshape` of all pairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import TestbedError
from testbed.topology.load import load_plan_file, load_plan_text
from testbed.topology.plan import Plan

TEXT = """
name: t
seed: 1
duration: 20s
network: {network}
brokers: {{B: {{count: 5, options: {options}}}}}
overlay: {{generator: chain}}
algorithm: {algorithm}
clients: {{s: {{kind: subscriber, broker: B1, subscribe: ["[class,eq,'A']"]}}}}
events: [{events}]
"""
CHAIN = "{generator: chain, nodes: 5}"


def plan(events: str, network: str = CHAIN, options: str = "{}", algorithm: str = "{}") -> Plan:
    return load_plan_text(
        TEXT.format(network=network, options=options, algorithm=algorithm, events=events), "t.yaml"
    )


def test_an_exchange_is_an_order_for_the_first_end() -> None:
    (event,) = plan("{at: 5s, exchange: {add: [B1, B5], remove: [B2, B3]}}").events
    assert (event.action, event.target) == ("exchange", "B1")
    assert event.arguments == {"to": "B5", "remove": ["B2", "B3"]}


def test_the_next_exchange_finds_what_the_last_has_left() -> None:
    first = "{at: 5s, exchange: {add: [B1, B5], remove: [B2, B3]}}"
    assert len(plan(first + ", {at: 9s, exchange: {add: [B2, B3], remove: [B5, B1]}}").events) == 2


@pytest.mark.parametrize(
    ("exchange", "says"),
    [
        ("{add: [B1, B9], remove: [B2, B3]}", "B9"),
        ("{add: [B1, B3], remove: [B3, B4]}", "no link B3 - B4 on the cycle"),
        ("{add: [B1, B4], remove: [B1, B4]}", "no link B1 - B4 on the cycle"),
        ("{add: [B1, B2], remove: [B1, B2]}", "neighbours"),
        ("{add: [B1, B1], remove: [B1, B2]}", "neighbours"),
        ("{add: [B1], remove: [B1, B2]}", "add"),
    ],
)
def test_what_is_no_exchange_is_told_before_anything_starts(exchange: str, says: str) -> None:
    with pytest.raises(TestbedError, match=says):
        plan(f"{{at: 5s, exchange: {exchange}}}")


def test_brokers_that_know_no_exchange_are_told() -> None:
    with pytest.raises(TestbedError, match="B1 cannot exchange links: pop"):
        plan("{at: 5s, exchange: {add: [B1, B5], remove: [B2, B3]}}", algorithm="{name: pop}")


def test_set_is_one_step_per_broker() -> None:
    events = plan("{at: 5s, set: {broker: B, options: {matching_us: 7}}}", options="{matching_us: 1}").events
    assert [(event.action, event.target) for event in events] == [("set", f"B{i}") for i in range(1, 6)]
    assert events[0].arguments == {"matching_us": 7}


@pytest.mark.parametrize(
    ("options", "change", "says"),
    [
        ("{matching_us: 1}", "{max_hops: 3}", "'max_hops' cannot change during a run"),
        ("{matching_us: 1}", "{matching_us: -3}", "matching_us"),
        ("{matching_us: 1}", "{}", "options"),
        ("{}", "{matching_us: 3}", "without a service model"),
    ],
)
def test_options_that_cannot_change_are_told(options: str, change: str, says: str) -> None:
    with pytest.raises(TestbedError, match=says):
        plan(f"{{at: 5s, set: {{broker: B1, options: {change}}}}}", options=options)


MATRIX = "0 10 20\n10 0 30\n20 30 0\n"
MATRIX_FILE = """
name: t
seed: 1
duration: 20s
network: {generator: rtt_matrix, file: first.txt}
brokers: {B: {count: 3}}
overlay: {generator: chain}
clients: {s: {kind: subscriber, broker: B1, subscribe: ["[class,eq,'A']"]}}
events: [{at: 5s, reshape: {matrix: second.txt}}]
"""


def write(folder: Path, second: str) -> Path:
    (folder / "first.txt").write_text(MATRIX)
    (folder / "second.txt").write_text(second)
    (folder / "t.yaml").write_text(MATRIX_FILE)
    return folder / "t.yaml"


def test_a_matrix_changes_every_pair(tmp_path: Path) -> None:
    (event,) = load_plan_file(write(tmp_path, "0 1 2\n1 0 3\n2 3 0\n")).events
    assert event.arguments["pairs"][:2] == [["h1", "h2", 500], ["h2", "h1", 500]]
    assert len(event.arguments["pairs"]) == 6


@pytest.mark.parametrize(("second", "says"), [("0 1\n1 0\n", "2 sites, .* 3 hosts"), ("0 x\n", "line 1")])
def test_a_matrix_that_does_not_fit_is_told(tmp_path: Path, second: str, says: str) -> None:
    with pytest.raises(TestbedError, match=says):
        load_plan_file(write(tmp_path, second))


def test_a_network_without_pairs_has_no_matrix() -> None:
    with pytest.raises(TestbedError, match="no matrix of round trips"):
        plan("{at: 5s, reshape: {matrix: nowhere.txt}}")
    with pytest.raises(TestbedError, match="a link or a matrix"):
        plan("{at: 5s, reshape: {latency: 3ms}}")
