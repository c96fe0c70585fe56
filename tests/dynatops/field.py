"""A FIFO network of DYNATOPS brokers, their manager, and users that are real client machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from broker_grpc.client.machine import ClientMachine, ClientOptions
from broker_grpc.content.language import parse_filter
from broker_grpc.machine import CloseLink, DeadlineReached, Effects, Machine, OpenLink
from broker_grpc.protocols.dynatops.broker import DynatopsBroker
from broker_grpc.protocols.dynatops.manager import Manager
from broker_grpc.protocols.dynatops.plan import Decision
from broker_grpc.protocols.dynatops.settings import DynatopsSettings, ManagerSettings
from protos.body import Envelope
from protos.client_messages import Publication
from protos.dynatops_messages import RcfgDone
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
        self.deaf: set[str] = set()
        self._copies: dict[str, list[str]] = {}
        self.on_send = self._sent
        self.told = 0
        self.expected: dict[str, set[str]] = {}  # publication -> users that must get it
        self.manager_name = manager
        for name in self.everybody:
            self.begin(name)
        if manager:
            self.begin_manager()
        self.settle()

    def begin(self, name: str) -> None:
        again = self._again(name)
        broker = DynatopsBroker(name, self.settings, None, self.addresses, again, Random(again))
        self._start(name, broker, again)
        self.client(f"p-{name}", name)

    def begin_manager(self, settings: ManagerSettings | None = None) -> None:
        again = self._again(self.manager_name)
        chosen = settings or ManagerSettings(free_period_us=3600 * SECOND, ring=self.settings.ring)
        self._start(self.manager_name, Manager(self.manager_name, chosen, None, self.addresses, again), again)

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

    def _send(self, source: str, target: str, envelope: Envelope) -> None:
        """What those who are `deaf` should acknowledge is lost."""
        if source in self.deaf and isinstance(envelope.body, RcfgDone):
            return
        super()._send(source, target, envelope)

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

    @property
    def manager(self) -> Manager:
        manager = self.nodes[self.manager_name]
        assert isinstance(manager, Manager)
        return manager

    def reconfigure(self, places: Sequence[str]) -> None:
        """From now on who is named gets the place of who is next in the list, the last that of the first."""
        manager = self.manager
        before = manager.configuration
        after = dict(before) | {
            one: before[other] for one, other in zip(places, [*places[1:], places[0]], strict=True)
        }
        moved = sum(before[name] != after[name] for name in before)
        effects = manager._outbox.begin(self.now_us)
        manager._latest += 1
        manager._start(Decision("planned", after, len(before), 1, moved))
        self.apply(self.manager_name, effects)

    def alive(self) -> list[str]:
        return [name for name in self.everybody if name in self.nodes]

    def vanish(self, name: str) -> None:
        """Killed, and its publisher's stream with it."""
        self.crash(name)
        self.wishes = {wish for wish in self.wishes if wish[0] != name}
        self.nodes.pop(f"p-{name}", None)

    def _sent(self, source: str, target: str, envelope: Envelope) -> None:
        if isinstance(envelope.body, Publication):
            self._copies.setdefault(target, []).append(envelope.body.id)

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

    def received(self, user: str) -> list[str]:
        """Publications, all copies that brokers sent it, also those that it drops."""
        return self._copies.get(user, [])

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
