"""Users, brokers and trees one by one, slow and obvious: what the flow of DYNATOPS is held against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from broker_grpc.protocols.dynatops.user_placement import BrokerState, best_broker
from broker_grpc.protocols.ring.converged import Converged


class Brokers:
    """Users by broker, with Algorithm 1 taken from the machines' own decision."""

    def __init__(self, clusters: Sequence[Sequence[int]], load_weight: float, with_user: bool) -> None:
        self.cluster_of = {broker: k for k, group in enumerate(clusters) for broker in group}
        self.clusters = clusters
        self.load_weight, self.with_user = load_weight, with_user
        self.users: dict[int, tuple[int, frozenset[int]]] = {}
        self.told: dict[int, BrokerState] = {}
        self.changes: list[tuple[int, int, bool]] = []
        self.handovers = 0

    def counts(self, broker: int) -> Counter[int]:
        return Counter(t for at, topics in self.users.values() if at == broker for t in topics)

    def state(self, broker: int, without: int | None = None) -> BrokerState:
        everybody = self.counts(broker)
        others = Counter(everybody)
        if without is not None and without in self.users:
            others.subtract(self.users[without][1])
        return BrokerState({name(t) for t in others if others[t] > 0}, everybody.total())

    def tell(self) -> None:
        self.told = {broker: self.state(broker) for broker in self.cluster_of}

    def place(self, user: int, topics: frozenset[int], cluster: int) -> None:
        visible = {label(b): self.told[b] for b in self.clusters[cluster]}
        total = max(sum(one.subscriptions for one in visible.values()), 1)
        current = self.users[user][0] if user in self.users else -1
        if label(current) in visible:
            visible[label(current)] = self.state(current, None if self.with_user else user)
        wanted = [name(t) for t in topics]
        self.move(user, topics, int(best_broker(wanted, label(current), visible, self.load_weight, total)))

    def move(self, user: int, topics: frozenset[int], target: int) -> None:
        before = {broker: set(self.counts(broker)) for broker in self.cluster_of}
        self.handovers += user in self.users and self.users[user][0] != target
        self.users[user] = target, topics
        for broker, had in before.items():
            has = {t for t, n in self.counts(broker).items() if n > 0}
            self.changes += [(broker, t, t in has) for t in had ^ has]


def label(broker: int) -> str:
    """Names in the order of numbers."""
    return f"{broker:04d}"


def name(topic: int) -> str:
    return str(topic)


def tree(ring: Converged, key: int, members: Sequence[str]) -> tuple[set[str], dict[str, list[str]]]:
    """Who is in the tree that spans the members, and the route to each from the rendezvous point."""
    root = ring.responsible(key)
    ids = {member.broker: member.id for member in ring.members}
    routes = {member: ring.route(root, ids[member]) for member in members}
    return {broker for route in routes.values() for broker in route}, routes


def length(route: Sequence[str], delay: dict[tuple[str, str], float]) -> float:
    return sum(delay[a, b] for a, b in pairwise(route))
