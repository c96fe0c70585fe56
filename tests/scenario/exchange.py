"""The stage of link exchange: a tree of brokers, publishers and subscribers, and links that are exchanged."""

from __future__ import annotations

from collections import Counter

from broker_grpc.machine import Instructed
from tests.scenario.script import Mistake
from tests.scenario.stage import Stage, settings_of

ALL = "[class,eq,'A']"


class ExchangeStage(Stage):
    setting_up = frozenset({"overlay", "subscribers", "publisher", "latency"})

    def __init__(self) -> None:
        super().__init__()
        self._subscribers: list[str] = []
        self._published: Counter[str] = Counter()
        self._sent: list[str] = []

    def do_overlay(self, *links: str) -> None:
        """overlay B1-B2 B2-B3 ..."""
        self.net.tree([(a, b) for a, _, b in (link.partition("-") for link in links)])

    def do_subscribers(self, *counts: str) -> None:
        """subscribers B1=2 ...: B1.1 and B1.2"""
        for broker, count in settings_of(counts).items():
            for number in range(1, int(count) + 1):
                name = f"{broker}.{number}"
                self.net.client(name, broker)
                self.net.subscribe(name, ALL)
                self._subscribers.append(name)
        self.net.settle()

    def do_publisher(self, name: str, at: str, broker: str) -> None:
        """publisher P at B1"""
        self.net.client(name, broker)
        self.net.advertise(name, ALL)
        self.net.settle()

    def do_publish(self, name: str, count: str = "1") -> None:
        for _ in range(int(count)):
            self._published[name] += 1
            self._sent.append(f"{name}:{self._published[name]}")
            self.net.publish(name, "[class,'A']", self._sent[-1])

    def do_exchange(self, add: str, for_: str, remove: str) -> None:
        """exchange B1-B5 for B2-B3: B1 is told to."""
        if for_ != "for":
            raise Mistake("exchange NEW-LINK for OLD-LINK")
        broker, to = add.split("-")
        self.net.feed(broker, Instructed("exchange", {"to": to, "remove": remove.split("-")}))

    def do_kill(self, name: str) -> None:
        self.net.crash(name)

    def do_links(self) -> list[str]:
        """Of the tree, as both ends see it."""
        ends = Counter(
            "-".join(sorted((name, neighbour)))
            for name in sorted(self.net.nodes)
            if name.startswith("B") and "." not in name
            for neighbour in self.net.broker(name).neighbours()
        )
        return [" ".join(sorted(link for link, seen in ends.items() if seen == 2))]

    def do_deliveries(self) -> list[str]:
        """What every subscriber whose broker lives got, in its order."""
        got = {n: self.net.plain(n).publications() for n in self._subscribers if self.net.peers_of(n)}
        return [f"{name} got {' '.join(ids)}" for name, ids in got.items()]
