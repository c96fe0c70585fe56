"""Random trees, random requests, faults, any interleaving: nothing missing, duplicate, phantom or stale."""

from __future__ import annotations

import os
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broker_grpc.content.filters import Filter
from broker_grpc.content.language import parse_filter, parse_publication
from broker_grpc.core.options import BrokerOptions
from broker_grpc.protocols.contentbased.broker import Broker
from tests.broker_core.fifo_network import Network, PlainClient

FILTERS = [
    "[class,eq,'A']",
    "[class,eq,'B']",
    "[class,eq,'A'],[x,>,1]",
    "[class,eq,'A'],[x,>,2]",
    "[class,eq,'A'],[x,>,1],[x,<,4]",
    "[class,eq,'A'],[x,=,3]",
    "[class,eq,'A'],[x,<,3]",
    "[class,eq,'A'],[s,str-prefix,'a']",
    "[class,eq,'A'],[s,eq,'ab']",
    "[class,eq,'A'],[x,isPresent,0]",
    "[class,eq,'B'],[x,>,1]",
]
PUBLICATIONS = [
    "[class,'A']",
    "[class,'B']",
    "[class,'A'],[x,0]",
    "[class,'A'],[x,2]",
    "[class,'A'],[x,3]",
    "[class,'A'],[x,5]",
    "[class,'A'],[x,3],[s,'ab']",
    "[class,'B'],[x,2],[s,'b']",
]

EXAMPLES = int(os.environ.get("BROKER_EXAMPLES", "40"))

operations = st.lists(
    st.one_of(
        st.tuples(st.just("advertise"), st.integers(0, 7), st.integers(0, len(FILTERS) - 1)),
        st.tuples(st.just("subscribe"), st.integers(0, 7), st.integers(0, len(FILTERS) - 1)),
        st.tuples(st.just("withdraw"), st.integers(0, 30), st.just(0)),
        st.tuples(st.just("step"), st.integers(1, 20), st.just(0)),
        st.tuples(st.just("publish"), st.integers(0, 7), st.integers(0, len(PUBLICATIONS) - 1)),
        st.tuples(st.just("settled_publish"), st.integers(0, 7), st.integers(0, len(PUBLICATIONS) - 1)),
        st.tuples(st.just("toggle_link"), st.integers(0, 5), st.just(0)),
        st.tuples(st.just("restart"), st.integers(0, 5), st.just(0)),
        st.tuples(st.just("drop_client"), st.integers(0, 7), st.just(0)),
        st.tuples(st.just("wait"), st.just(0), st.just(0)),
    ),
    max_size=40,
)


class World:
    """A network and the truth about who wants what."""

    def __init__(self, parents: list[int], options: BrokerOptions, seed: int, wire: bool) -> None:
        self.net = Network(options, seed, wire)
        self.brokers = [f"B{i}" for i in range(len(parents) + 1)]
        self.links = [(f"B{parent}", f"B{i + 1}") for i, parent in enumerate(parents)]
        for name in self.brokers:
            self.net.add_broker(name)
        self.net.tree(self.links)
        self.clients = {f"c{i}": self.brokers[i % len(self.brokers)] for i in range(8)}
        self.advertised: dict[str, tuple[str, Filter]] = {}
        self.subscribed: dict[str, tuple[str, Filter]] = {}
        self.ever_subscribed: list[tuple[str, Filter]] = []
        self.published: dict[str, str] = {}
        self.history: dict[str, list[str]] = {name: [] for name in self.clients}
        self.count = 0
        for client, broker in self.clients.items():
            self.net.client(client, broker)

    def run(self, ops: list[tuple[str, int, int]]) -> None:
        for name, one, two in ops:
            getattr(self, name)(one, two)
        self.net.settle()
        self.check()

    # ------------------------------------------------------------ operations

    def _connected(self, client: int) -> bool:
        return self.net.can_send(f"c{client}", self.clients[f"c{client}"])

    def advertise(self, client: int, text: int) -> None:
        if not self._connected(client):
            return
        id_ = self._new("a")
        self.advertised[id_] = f"c{client}", parse_filter(FILTERS[text])
        self.net.advertise(f"c{client}", FILTERS[text], id_)

    def subscribe(self, client: int, text: int) -> None:
        if not self._connected(client):
            return
        id_ = self._new("s")
        self.subscribed[id_] = f"c{client}", parse_filter(FILTERS[text])
        self.ever_subscribed.append(self.subscribed[id_])
        self.net.subscribe(f"c{client}", FILTERS[text], id_)

    def withdraw(self, which: int, _: int) -> None:
        held = sorted(self.advertised) + sorted(self.subscribed)
        if held:
            id_ = held[which % len(held)]
            if id_ in self.advertised:
                self.net.unadvertise(self.advertised.pop(id_)[0], id_)
            else:
                self.net.unsubscribe(self.subscribed.pop(id_)[0], id_)

    def step(self, times: int, _: int) -> None:
        for _i in range(times):
            self.net.step()

    def publish(self, client: int, text: int) -> str:
        id_ = self._new("p")
        self.published[id_] = PUBLICATIONS[text]
        self.net.publish(f"c{client}", PUBLICATIONS[text], id_)
        return id_

    def settled_publish(self, client: int, text: int) -> None:
        self.net.settle()
        self.net.check_tables()
        id_ = self.publish(client, text)
        self.net.settle()
        got = {name for name in self.clients if id_ in self.net.plain(name).publications()}
        assert got == self.expected(f"c{client}", PUBLICATIONS[text])

    def toggle_link(self, which: int, _: int) -> None:
        a, b = self.links[which % len(self.links)]
        if self.net.is_up(a, b):
            self.net.disconnect(a, b)
        else:
            self.net.connect(a, b)

    def restart(self, which: int, _: int) -> None:
        name = self.brokers[which % len(self.brokers)]
        peers = self.net.crash(name)
        self.net.add_broker(name)
        for peer in peers:
            if peer in self.clients:
                self._forget(peer)
            self.net.connect(peer, name)

    def drop_client(self, which: int, _: int) -> None:
        client = f"c{which}"
        self.net.disconnect(client, self.clients[client])
        self._forget(client)
        self.net.connect(client, self.clients[client])

    def wait(self, _: int, __: int) -> None:
        self.net.advance(2_000_000)

    # ------------------------------------------------------------ truth

    def _new(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def _forget(self, client: str) -> None:
        """A plain client does not ask again for what it had."""
        for table in (self.advertised, self.subscribed):
            for id_ in [id_ for id_, (owner, _) in table.items() if owner == client]:
                del table[id_]
        self.history[client] += self.net.plain(client).publications()
        self.net.plain(client).got.clear()

    def component(self, broker: str) -> set[str]:
        found, todo = {broker}, [broker]
        while todo:
            for peer in self.net.peers_of(todo.pop()):
                if peer in self.brokers and peer not in found:
                    found.add(peer)
                    todo.append(peer)
        return found

    def expected(self, publisher: str, text: str) -> set[str]:
        """Advertised anywhere in the publisher's direction is what counts; here: by the publisher itself."""
        attributes = parse_publication(text)
        home = self.clients[publisher]
        reached = self.component(home)
        conforms = any(
            owner == publisher and filter_.matches(attributes) for owner, filter_ in self.advertised.values()
        )
        wanted = {
            owner for owner, filter_ in self.subscribed.values()
            if filter_.matches(attributes) and self.clients[owner] in reached
        }  # fmt: skip
        if conforms:
            return wanted
        # Without an advertisement of its own a publication goes where others' advertisements lead it.
        routes = self._routes_by_others(home, attributes, reached)
        return {owner for owner in wanted if self.clients[owner] == home or self.clients[owner] in routes}

    def _routes_by_others(self, home: str, attributes: dict, reached: set[str]) -> set[str]:
        """Brokers whose matching subscriptions reach `home` because of others' advertisements."""
        return {
            name for name in reached
            if name != home and self._held_along(home, name, attributes)
        }  # fmt: skip

    def _held_along(self, home: str, name: str, attributes: dict) -> bool:
        path = self.path(home, name)
        for here, onward in pairwise(path):
            broker = self.net.broker(here)
            if onward not in broker.routing.match(attributes):
                return False
        return True

    def path(self, start: str, end: str) -> list[str]:
        paths = [[start]]
        for path in paths:
            if path[-1] == end:
                return path
            paths += [
                [*path, peer]
                for peer in self.net.peers_of(path[-1])
                if peer in self.brokers and peer not in path
            ]
        raise AssertionError("not connected")

    def check(self) -> None:
        self.net.check_tables()
        self._check_deliveries()
        self._check_nothing_stale()

    def _check_deliveries(self) -> None:
        for name in self.clients:
            got = self.history[name] + self.net.plain(name).publications()
            assert len(got) == len(set(got)), "duplicate"
            for id_ in got:
                attributes = parse_publication(self.published[id_])
                assert any(
                    owner == name and filter_.matches(attributes) for owner, filter_ in self.ever_subscribed
                ), "phantom"

    def _check_nothing_stale(self) -> None:
        """When the last client has gone every table is empty."""
        self.net.advance(10_000_000)
        for client, broker in self.clients.items():
            self.net.disconnect(client, broker)
        self.net.settle()
        for node in self.net.nodes.values():
            if isinstance(node, Broker):
                assert not len(node.routing.srt)
                assert not len(node.routing.prt)
            else:
                assert isinstance(node, PlainClient)
        assert not self.net.events("REFUSED")


trees = st.integers(1, 5).flatmap(lambda n: st.tuples(*(st.integers(0, i) for i in range(n))))


@pytest.mark.parametrize("grace_us", [0, 1_000_000])
@pytest.mark.parametrize("covering", ["off", "lazy", "active"])
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    parents=trees,
    ops=operations,
    seed=st.integers(0, 2**16),
    wire=st.booleans(),
    advertisements=st.sampled_from(["off", "lazy", "active"]),
    costs=st.sampled_from([{}, {"matching_us": 7, "control_us": 3, "output_bandwidth": 1_000_000}]),
)
def test_no_missing_no_duplicate_no_phantom_no_stale(
    covering, grace_us, parents, ops, seed, wire, advertisements, costs
):
    options = BrokerOptions(
        subscription_covering=covering,
        advertisement_covering=advertisements,
        repair_grace_us=grace_us,
        **costs,
    )
    World(list(parents), options, seed, wire).run(ops)
