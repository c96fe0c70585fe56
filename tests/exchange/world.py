"""A network in which links are exchanged while publications flow, and what each subscriber must have got."""

from __future__ import annotations

import random
from collections import defaultdict

from broker_grpc.core.options import BrokerOptions
from protos.records import LogEvent
from tests.broker_core.fifo_network import Network, Pair

CLASSES = "ABC"


def way(links: set[frozenset[str]], start: str, end: str) -> list[str]:
    """The path of a tree."""
    came = {start: ""}
    todo = [start]
    for here in todo:
        for there in sorted(other for link in links if here in link for other in link - {here}):
            if there not in came:
                came[there] = here
                todo.append(there)
    path = [end]
    while path[-1] != start:
        path.append(came[path[-1]])
    return path[::-1]


def is_tree(brokers: set[str], links: set[frozenset[str]]) -> bool:
    reached = {min(brokers)}
    for _ in brokers:
        reached |= {end for link in links if link & reached for end in link}
    return reached == brokers and len(links) == len(brokers) - 1


class World:
    """Every broker has a publisher and a subscriber of each class, by a coin."""

    def __init__(self, parents: list[int], seed: int, options: BrokerOptions | None = None) -> None:
        self.random = random.Random(seed)
        self.net = Network(options or BrokerOptions(), seed, through_the_wire=True)
        self.brokers = [f"B{i}" for i in range(len(parents) + 1)]
        self.net.tree([(f"B{parent}", f"B{i + 1}") for i, parent in enumerate(parents)])
        self.home: dict[str, str] = {}
        self.wants: dict[str, set[str]] = defaultdict(set)
        self.sent: list[tuple[str, str, str]] = []  # publisher, class, id
        self._count = 0
        for broker in self.brokers:
            self._populate(broker)
        self.net.settle()

    def _populate(self, broker: str) -> None:
        for role in "ps":
            name = f"{role}{broker}"
            self.home[name] = broker
            self.net.client(name, broker)
        for letter in CLASSES:
            self.net.advertise(f"p{broker}", f"[class,eq,'{letter}']", f"a{broker}{letter}")
            if self.random.random() < 0.5:
                self.wants[f"s{broker}"].add(letter)
                self.net.subscribe(f"s{broker}", f"[class,eq,'{letter}']", f"s{broker}{letter}")

    # ------------------------------------------------------------ what happens

    def publish(self, times: int = 1) -> None:
        for _ in range(times):
            broker, letter = self.random.choice(self.brokers), self.random.choice(CLASSES)
            if broker in self.net.nodes:
                self._count += 1
                id_ = f"m{self._count}"
                self.sent.append((f"p{broker}", letter, id_))
                self.net.publish(f"p{broker}", f"[class,'{letter}']", id_)

    def change_routes(self) -> None:
        """One request of a client, or a client that loses its stream and returns with nothing."""
        broker, letter = self.random.choice(self.brokers), self.random.choice(CLASSES)
        publisher, subscriber = f"p{broker}", f"s{broker}"
        if not self.net.can_send(subscriber, broker):
            return
        match self.random.randrange(4):
            case 0 if letter in self.wants[subscriber]:
                self.wants[subscriber].discard(letter)
                self.net.unsubscribe(subscriber, f"s{broker}{letter}")
            case 1 if letter not in self.wants[subscriber]:
                self.wants[subscriber].add(letter)
                self.net.subscribe(subscriber, f"[class,eq,'{letter}']", f"s{broker}{letter}")
            case 2:
                self.net.unadvertise(publisher, f"a{broker}{letter}")
                self.net.advertise(publisher, f"[class,eq,'{letter}']", f"a{broker}{letter}")
            case 3:
                self.wants[subscriber].clear()
                self.net.disconnect(subscriber, broker)
                self.net.connect(subscriber, broker)

    def links(self) -> set[frozenset[str]]:
        """Of the tree, as brokers see it at both ends."""
        seen: dict[frozenset[str], int] = defaultdict(int)
        for name in self.brokers:
            if name in self.net.nodes:
                for neighbour in self.net.broker(name).neighbours():
                    seen[frozenset((name, neighbour))] += 1
        return {link for link, ends in seen.items() if ends == 2}

    def choose(self) -> tuple[list[str], Pair] | None:
        """A new link that closes a cycle, and the link of it that goes."""
        links = self.links()
        a, b = self.random.sample(self.brokers, 2)
        path = way(links, a, b)
        if len(path) < 3:
            return None
        at = self.random.randrange(len(path) - 1)
        return path, (path[at], path[at + 1])

    def exchange(self, path: list[str], remove: Pair, *, tell_path: bool = True) -> None:
        broker = self.net.broker(path[0])
        effects = broker._outbox.begin(self.net.now_us)
        broker.exchange(path[-1], remove, path if tell_path else ())
        self.net.apply(path[0], effects)

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.net.step()

    def settle(self) -> None:
        self.net.settle()
        self.net.advance(0)
        self.net.settle()

    # ------------------------------------------------------------ what must hold

    def exchanged(self, outcome: str = "") -> list[LogEvent]:
        ended = [event for event in self.net.events("EXCHANGED") if event.group == "ordered"]
        return [event for event in ended if not outcome or event.type == outcome]

    def check_deliveries(self) -> None:
        """Exactly once, and in the order of each publisher."""
        for name, wanted in self.wants.items():
            got = self.net.plain(name).publications()
            for publisher in self.home:
                mine = [id_ for who, letter, id_ in self.sent if who == publisher and letter in wanted]
                theirs = {id_ for who, _, id_ in self.sent if who == publisher}
                assert [id_ for id_ in got if id_ in theirs] == mine, (publisher, name)

    def check_no_phantoms(self) -> None:
        """Nothing twice."""
        for name in self.home:
            got = self.net.plain(name).publications()
            assert len(got) == len(set(got)), name

    def check_tree(self) -> None:
        alive = {name for name in self.brokers if name in self.net.nodes}
        assert is_tree(alive, self.links())
        for name in sorted(alive):
            assert set(self.net.broker(name).neighbours()) == set(self.net.broker(name).links.brokers)
            assert not self.net.broker(name).exchanging()
            assert self.net.broker(name).settled
        self.net.check_tables()
