"""Subscribers of workloads, topic interests, and publication sources in plans."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from pathlib import Path

from broker_grpc.content.filters import matches
from broker_grpc.content.language import parse_filter
from testbed.topology.plan import Client, Plan
from testbed.workload.sources import publications
from tests.topology.texts import plan_of

TEXT = """\
name: x
network: {{generator: star, nodes: 31}}
brokers: {{B: {{count: 31}}}}
clients:
  pub: {{count: 3, publish: {{rate: 60/min, parameters: {{symbol: 'S{{i}}'}}}}}}
  other: {{publish: {{source: topic, parameters: {{topic: news}}}}}}
  sub: {{workload: {kind}, of: pub, per_publisher: 20, spread: {spread}{more}}}
"""


def plan(kind: str, spread: int, more: str = "") -> Plan:
    return plan_of(TEXT.format(kind=kind, spread=spread, more=more))


def subscribers(plan: Plan, publisher: str) -> list[Client]:
    return [client for client in plan.clients if client.id.startswith(f"sub-{publisher}-")]


def test_clustered_subscribers_as_in_the_report() -> None:
    """95 % low on X-1 brokers, 5 % high on one other (POP/GRAPE, section 5.1)."""
    made = plan("clustered", 16)
    for publisher in ("pub1", "pub2", "pub3"):
        found = subscribers(made, publisher)
        assert Counter(client.subscriptions[0].group for client in found) == {"low": 19, "high": 1}
        high = {client.broker for client in found if client.subscriptions[0].group == "high"}
        low = {client.broker for client in found if client.subscriptions[0].group == "low"}
        assert len(high) == 1
        assert len(low) == 15
        assert not high & low


def test_random_subscribers_as_in_the_report() -> None:
    """70 % low, 25 % medium, 5 % high."""
    found = subscribers(plan("random", 5), "pub2")
    assert Counter(client.subscriptions[0].group for client in found) == {"low": 14, "medium": 5, "high": 1}


def test_filters_sink_their_share_of_the_very_publications() -> None:
    made = plan("random", 5)
    publisher = made.clients[0]
    assert publisher.publications is not None
    sample = list(islice(publications(publisher.publications, publisher.seed), 1080))
    for client in subscribers(made, publisher.id):
        filter_ = parse_filter(client.subscriptions[0].filter)
        share = sum(matches(filter_, quote) for quote in sample) / len(sample)
        wanted = {"low": 0.1, "medium": 0.5, "high": 1.0}[client.subscriptions[0].group]
        assert abs(share - wanted) < 0.03


def test_subscribers_can_run_beside_their_publisher() -> None:
    made = plan("clustered", 4, ", node: publisher")
    node = made.clients[0].node
    assert {client.node for client in subscribers(made, "pub1")} == {node}
    assert len({client.broker for client in subscribers(made, "pub1")}) == 4


def test_publishers_that_are_not_meant_get_no_subscribers() -> None:
    assert len(plan("random", 5).clients) == 3 + 1 + 60


def test_topic_interests() -> None:
    made = plan_of(
        "name: x\nnetwork: {generator: star, nodes: 2}\nbrokers: {B: {count: 2}}\n"
        "clients: {fan: {count: 50,"
        " topics: {topics: 20, per_client: 3, law: zipf, parameters: {exponent: 1.5}}}}"
    )
    counts = Counter(s.filter for client in made.clients for s in client.subscriptions)
    assert sum(counts.values()) == 150
    assert all(len({s.filter for s in client.subscriptions}) == 3 for client in made.clients)
    assert counts["[class,eq,'t0']"] > counts["[class,eq,'t15']"]


TEMPLATES = """
name: x
seed: {seed}
network: {{generator: star, nodes: 4}}
brokers: {{B: {{count: 4}}}}
clients:
  pub: {{for_each: {{symbol: [YHOO, IBM, AMZN]}}, publish: {{source: stock}}}}
  sub: {{kind: subscriber, count: 200, templates: {{per_client: 20{more}}}}}
"""


def drawn(seed: int = 1, more: str = "") -> Plan:
    return plan_of(TEMPLATES.format(seed=seed, more=more))


def test_templates_are_drawn_by_the_probabilities_of_panda() -> None:
    """etc/panda/generator.cfg: 10, 10, 20, 39, 20 and 1 %, up to 20 subscriptions per client."""
    found = Counter(s.group for client in drawn().clients for s in client.subscriptions)
    wanted = {"symbol+high": 0.10, "symbol+low": 0.10, "symbol+volume": 0.20, "symbol": 0.39}
    wanted |= {"volume": 0.20, "all": 0.01}
    assert sum(found.values()) == 4000
    assert found.keys() == wanted.keys()
    for label, share in wanted.items():
        deviation = (share * (1 - share) / 4000) ** 0.5
        assert abs(found[label] / 4000 - share) < 4 * deviation, label


def test_templates_ask_for_what_is_published() -> None:
    """A threshold is the value of some quote of the symbol, which half of its other quotes exceed."""
    made = drawn()
    subscriptions = [s for client in made.clients for s in client.subscriptions]
    quotes = {
        symbol: list(islice(publications(client.publications, client.seed), 1080))
        for client in made.clients
        if client.publications is not None and (symbol := client.publications.parameters["symbol"])
    }
    for label in ("symbol+high", "symbol+low", "symbol+volume"):
        own = [parse_filter(s.filter) for s in subscriptions if s.group == label]
        assert {dict(one.equalities)["symbol"] for one in own} == {"YHOO", "IBM", "AMZN"}
        shares = [
            sum(matches(one, quote) for quote in quotes[dict(one.equalities)["symbol"]]) / 1080 for one in own
        ]
        assert 0.45 < sum(shares) / len(shares) < 0.55, label


def test_templates_follow_from_the_seed_alone() -> None:
    def texts(made: Plan) -> list[list[str]]:
        return [[s.filter for s in client.subscriptions] for client in made.clients]

    assert texts(drawn(1)) == texts(drawn(1))
    assert texts(drawn(1)) != texts(drawn(2))


def test_idle_templates_match_nothing() -> None:
    found = [s for client in drawn(more=", idle: 25%").clients for s in client.subscriptions]
    idle = [s for s in found if s.group == "idle"]
    assert 0.22 < len(idle) / len(found) < 0.28
    assert all("[symbol,eq,'NONE']" in s.filter for s in idle)


def test_templates_of_ones_own() -> None:
    made = drawn(more=""", shares: {"[class,eq,'STOCK'],[close,>,{open}]": 100%}""")
    one = made.clients[-1].subscriptions[0]
    assert one.group == "close"
    assert re.fullmatch(r"\[class,eq,'STOCK'\],\[close,>,[0-9.]+\]", one.filter)


def test_advertisements_follow_from_the_source() -> None:
    made = plan("random", 5)
    stock, topic = made.clients[0], made.clients[3]
    assert stock.advertisements[0].startswith("[class,eq,'STOCK'],[symbol,eq,'S1']")
    assert topic.advertisements == ["[class,eq,'news']"]
    for client in (stock, topic):
        assert client.publications is not None
        first = next(publications(client.publications, client.seed))
        assert any(matches(parse_filter(text), first) for text in client.advertisements)


def test_a_trace_is_found_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "trace.txt").write_text("[class,'A'],[x,1]\n[class,'B'],[x,2]\n")
    text = (
        "name: x\nnetwork: {generator: star, nodes: 2}\nbrokers: {B: {count: 2}}\n"
        "clients: {p: {publish: {source: trace, parameters: {file: trace.txt}}}}"
    )
    client = plan_of(text, tmp_path).clients[0]
    assert client.publications is not None
    assert client.publications.parameters["file"] == str((tmp_path / "trace.txt").resolve())
    assert client.advertisements == ["[class,eq,'A']", "[class,eq,'B']"]
