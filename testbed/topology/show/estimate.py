"""What a plan will cost: messages and packets per second, memory, against this machine.

Rough by design. Messages are counted from a sample of each publisher's own sequence, matched against the
subscriptions and carried along the overlay; the costs per message and per process are measured orders of
magnitude, named below.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass

from broker_grpc.content.index import FilterIndex
from broker_grpc.content.language import parse_filter
from testbed.topology.paths import Routing
from testbed.topology.plan import Client, Plan
from testbed.topology.show.summary import neighbours_of
from testbed.workload.sources import publications

PACKETS_PER_MESSAGE = 2  # the data and its acknowledgement
PACKETS_PER_PROBE = 2
BASE_MB, BROKER_MB, DRIVER_MB, NODE_MB = 768, 40, 48, 4  # upper bounds; forked processes share most of it
HOP_WALL_US = 700  # of one core, per message hop in the guest kernel; natively about a tenth
SAMPLE = 20  # publications per publisher


@dataclass(frozen=True)
class Machine:
    cores: int
    memory_mb: int


@dataclass(frozen=True)
class Estimate:
    publications_per_s: float
    hops_per_s: float  # broker to broker
    deliveries_per_s: float
    packets_per_s: float  # sent by hosts, probes included
    link_packets_per_s: float  # the same, counted on every link they cross
    memory_mb: int
    load: float  # of one core; above 1 a guest's virtual second takes longer than a second


def this_machine() -> Machine:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return Machine(os.cpu_count() or 1, pages >> 20)


def estimate(plan: Plan) -> Estimate:
    """At full activity: every client of the plan at work."""
    traffic = _Traffic(plan)
    for client in plan.clients:
        traffic.add(client)
    probes = len(plan.probes.pairs) * 1_000_000 / max(1, plan.probes.every_us) * PACKETS_PER_PROBE
    messages = traffic.hops + traffic.deliveries + traffic.published
    return Estimate(
        publications_per_s=traffic.published,
        hops_per_s=traffic.hops,
        deliveries_per_s=traffic.deliveries,
        packets_per_s=messages * PACKETS_PER_MESSAGE + probes,
        link_packets_per_s=traffic.link_messages * PACKETS_PER_MESSAGE + probes_on_links(plan, traffic),
        memory_mb=memory_mb(plan),
        load=(messages + probes / PACKETS_PER_PROBE) * HOP_WALL_US / 1_000_000,
    )


def probes_on_links(plan: Plan, traffic: _Traffic) -> float:
    rate = 1_000_000 / max(1, plan.probes.every_us) * PACKETS_PER_PROBE
    return sum(rate * traffic.distance(a, b) for a, b in plan.probes.pairs)


def memory_mb(plan: Plan) -> int:
    drivers = len({client.node for client in plan.clients}) + len(plan.programs)
    nodes = len(plan.network.nodes)
    return BASE_MB + BROKER_MB * len(plan.brokers) + DRIVER_MB * drivers + NODE_MB * nodes


class _Traffic:
    """Adds up what each publisher's messages do."""

    def __init__(self, plan: Plan) -> None:
        self.neighbours = neighbours_of([broker.id for broker in plan.brokers], plan.overlay)
        self.node_of = {broker.id: broker.node for broker in plan.brokers}
        self.routing = Routing(plan.network)
        self.index = FilterIndex()
        self.broker_of: dict[str, str] = {}
        self.home = {client.id: client.node for client in plan.clients}
        for client in plan.clients:
            for k, subscription in enumerate(client.subscriptions):
                id = f"{client.id}/{k}"
                self.index.add(id, parse_filter(subscription.filter), client.id)
                self.broker_of[client.id] = client.broker
        self.published = self.hops = self.deliveries = self.link_messages = 0.0
        self._parents: dict[str, dict[str, str]] = {}
        self._lengths: dict[tuple[str, str], int] = {}

    def add(self, client: Client) -> None:
        if client.publications is None:
            return
        rate = 1_000_000 / client.publications.period_us
        sample = list(itertools.islice(publications(client.publications, client.seed), SAMPLE))
        self.published += rate
        self.link_messages += rate * self.distance(client.node, self.node_of[client.broker])
        share = rate / len(sample)
        for attributes in sample:
            reached = self.index.match_hops(attributes)
            self.deliveries += share * len(reached)
            last = sum(self.distance(self.home[id], self.node_of[self.broker_of[id]]) for id in reached)
            self.link_messages += share * last
            edges = self._tree(client.broker, {self.broker_of[id] for id in reached})
            self.hops += share * len(edges)
            self.link_messages += share * sum(
                self.distance(self.node_of[a], self.node_of[b]) for a, b in edges
            )

    def _tree(self, source: str, brokers: set[str]) -> set[tuple[str, str]]:
        """Overlay links that carry a message from one broker to the others."""
        parents = self._parents.setdefault(source, {}) or self._search(source)
        edges: set[tuple[str, str]] = set()
        for broker in brokers:
            while broker != source and broker in parents and (parents[broker], broker) not in edges:
                edges.add((parents[broker], broker))
                broker = parents[broker]
        return edges

    def _search(self, source: str) -> dict[str, str]:
        parents = {source: source}
        queue = [source]
        for broker in queue:
            for other in self.neighbours[broker]:
                if other not in parents:
                    parents[other] = broker
                    queue.append(other)
        self._parents[source] = parents
        return parents

    def distance(self, a: str, b: str) -> int:
        """Network links between two hosts; none where a client sits on its broker's host."""
        if (a, b) not in self._lengths:
            self._lengths[a, b] = len(self.routing.path(a, b)) - 1
        return self._lengths[a, b]
