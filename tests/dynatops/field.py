"""A FIFO network of DYNATOPS brokers, their manager, and users that are real client machines."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from broker_grpc.client.machine import ClientMachine, ClientOptions
from broker_grpc.content.language import parse_filter
from broker_grpc.machine import CloseLink, DeadlineReached, Effects, Machine, OpenLink
from broker_grpc.protocols.dynatops.broker import DynatopsBroker
from broker_grpc.protocols.dynatops.settings import DynatopsSettings
from tests.broker_core.fifo_network import Network, PlainClient

OVERLAP_US = 2_000_000
SECOND = 1_000_000


class Field(Network):
    """Every broker has a plain client `p-<broker>` that publishes."""

    def __init__(
        self, settings: DynatopsSettings, brokers: Iterable[str], seed: int = 0, manager: str = ""
    ) -> None:
        super().__init__(seed=seed, through_the_wire=True)
        self.settings = settings
        self.everybody = sorted(brokers)
        names = [*self.everybody, *([manager] if manager else [])]
        self.addresses = {name: f"10.0.0.1:{port}" for port, name in enumerate(names, 5000)}
        self.users: dict[str, ClientMachine] = {}
        self.wishes: set[tuple[str, str]] = set()
        self.told = 0
        self.expected: dict[str, set[str]] = {}  # publication -> users that must get it
        for name in self.everybody:
            self.begin(name)
        self.settle()

    def begin(self, name: str) -> None:
        again = self._again(name)
        broker = DynatopsBroker(name, self.settings, None, self.addresses, again, Random(again))
        self._start(name, broker, again)
        self.client(f"p-{name}", name)

    def _again(self, name: str) -> int:
        return self._incarnation.get(name, 0) + 1

    def _start(self, name: str, machine: Machine, again: int) -> None:
        self.add(name, machine, "broker")
        self._incarnation[name] = again
        self.feed(name, DeadlineReached())
        self.redial()

    def at(self, name: str) -> DynatopsBroker:
        broker = self.nodes[name]
        assert isinstance(broker, DynatopsBroker)
        return broker

    # ------------------------------------------------------------ dials go on until they are withdrawn

    def apply(self, name: str, effects: Effects) -> None:
        for effect in effects:
            if isinstance(effect, OpenLink):
                self.wishes.add((name, effect.peer))
            elif isinstance(effect, CloseLink) and not effect.redial:
                self.wishes.discard((name, effect.peer))
        super().apply(name, effects)

    def redial(self) -> None:
        for name, peer in sorted(self.wishes):
            if name in self.nodes and peer in self.nodes and not self.is_up(name, peer):
                self.connect(name, peer)

    def alive(self) -> list[str]:
        return [name for name in self.everybody if name in self.nodes]

    def vanish(self, name: str) -> None:
        """Killed, and its publisher's stream with it."""
        self.crash(name)
        self.wishes = {wish for wish in self.wishes if wish[0] != name}
        self.nodes.pop(f"p-{name}", None)

    # ------------------------------------------------------------ users

    def user(self, name: str, broker: str, *topics: str) -> None:
        options = ClientOptions(handover_overlap_us=OVERLAP_US)
        machine = ClientMachine(
            name, broker, self.addresses[broker], addresses=self.addresses, options=options
        )
        self.users[name] = machine
        self.add(name, machine, "client")  # type: ignore[arg-type]
        self.apply(name, machine.start(self.now_us))
        for topic in topics:
            self.want(name, topic)

    def want(self, user: str, topic: str) -> None:
        _, effects = self.users[user].subscribe(self.now_us, parse_filter(f"[class,eq,'{topic}']"))
        self.apply(user, effects)

    def unwant(self, user: str, topic: str) -> None:
        filter_ = parse_filter(f"[class,eq,'{topic}']")
        (token,) = [
            one.token
            for one in self.users[user].items.values()
            if one.filter.predicates == filter_.predicates and not one.leaving
        ]
        self.apply(user, self.users[user].withdraw(self.now_us, token))

    def wants(self, user: str) -> set[str]:
        """Topics, with duplicates only once."""
        items = [one for one in self.users[user].items.values() if not one.leaving]
        return {
            str(value) for one in items for attribute, value in one.filter.equalities if attribute == "class"
        }

    def delivered(self, user: str) -> list[str]:
        return [event.message for event in self.events("DELIVERED") if event.node == user]

    def home(self, user: str) -> str:
        return self.users[user].broker

    # ------------------------------------------------------------ publications

    def tell(self, broker: str, topic: str) -> str:
        self.told += 1
        id_ = f"e{self.told}"
        self.publish(f"p-{broker}", f"[class,'{topic}']", id_)
        return id_

    def got(self, broker: str) -> list[str]:
        client = self.nodes[f"p-{broker}"]
        assert isinstance(client, PlainClient)
        return client.publications()
