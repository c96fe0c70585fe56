"""The stage of DYNATOPS: brokers on a ring, their manager, and places that are exchanged under traffic."""

from __future__ import annotations

from random import Random

from broker_grpc.machine import DeadlineReached, Effects, OpenLink
from broker_grpc.protocols.dynatops.broker import DynatopsBroker
from broker_grpc.protocols.dynatops.manager import Manager
from broker_grpc.protocols.dynatops.plan import Decision
from broker_grpc.protocols.dynatops.settings import DynatopsSettings, ManagerSettings
from tests.scenario.stage import Stage, settings_of

MANAGER = "M"
HOUR_US = 3_600_000_000


class DynatopsStage(Stage):
    untold = frozenset({"tree_heartbeat", "ack"})
    setting_up = frozenset({"brokers", "subscriber", "publisher"})

    def __init__(self) -> None:
        super().__init__()
        self._names: list[str] = []
        self._addresses: dict[str, str] = {}
        self._dials: set[tuple[str, str]] = set()
        self._settings: dict[str, int | str] = {}
        self._incarnation = 0
        self._published = 0
        self.net.on_effect = self._done

    def _done(self, node: str, effect: object) -> None:
        if isinstance(effect, OpenLink):  # goes on until there is an answer, and is no part of the story
            self._dials.add((node, effect.peer))
        elif type(effect).__name__ != "CloseLink":
            self.chronicle._done(node, effect)

    # ------------------------------------------------------------ who is there

    def do_brokers(self, count: str, *words: str) -> None:
        """brokers 5 step_us=5s: B1 to B5, and the manager with these settings"""
        self._names = [f"B{number}" for number in range(1, int(count) + 1)]
        self._addresses = {name: "" for name in [*self._names, MANAGER]}
        self._settings = settings_of(words)
        for name in self._names:
            settings = DynatopsSettings(placement="static", manager=MANAGER)
            broker = DynatopsBroker(name, settings, None, self._addresses, 1, Random(1))
            self.net.add(name, broker, "broker")
        self.do_return(MANAGER)
        for name in self._names:
            self.net.feed(name, DeadlineReached())
        self._redial()

    def do_return(self, name: str) -> None:
        """return M: the manager is started again, and knows nothing"""
        self._incarnation += 1
        settings = ManagerSettings(**({"free_period_us": HOUR_US} | self._settings))  # type: ignore[arg-type]
        self.net.add(name, Manager(name, settings, None, self._addresses, self._incarnation), "broker")
        self._redial()

    def _redial(self) -> None:
        for name, peer in sorted(self._dials):
            if name in self.net.nodes and peer in self.net.nodes and not self.net.is_up(name, peer):
                self.net.connect(name, peer)
        self.net.settle()

    def do_subscriber(self, name: str, at: str, broker: str, topic: str) -> None:
        self.net.client(name, broker)
        self.net.subscribe(name, f"[class,eq,'{topic}']")
        self.net.settle()
        self._redial()

    def do_publisher(self, name: str, at: str, broker: str) -> None:
        self.net.client(name, broker)

    # ------------------------------------------------------------ what is done

    def do_exchange(self, *pair: str) -> None:
        """exchange B1 B3: the manager has decided that these two change places"""
        manager = self._manager()
        before = manager.configuration
        one, other = pair
        after = before | {one: before[other], other: before[one]}
        effects: Effects = manager._outbox.begin(self.net.now_us)
        manager._latest += 1
        manager._start(Decision("planned", after, len(before), 1, 2))
        self.net.apply(MANAGER, effects)

    def do_publish(self, name: str, topic: str) -> None:
        self._published += 1
        self.net.publish(name, f"[class,'{topic}']", f"{name}:{self._published}")

    # ------------------------------------------------------------ what there is

    def do_got(self, *names: str) -> list[str]:
        return [f"{name} got {' '.join(self.net.plain(name).publications()) or 'nothing'}" for name in names]

    def do_ring(self) -> list[str]:
        """Of every version that somebody routes in, the brokers in the order of their ids."""
        told = []
        for version in sorted({self._at(name).plane for name in self._names}):
            using = [name for name in self._names if self._at(name).plane == version]
            configuration = self._at(using[0]).changing.configurations[version]
            ring = " ".join(sorted(configuration, key=configuration.__getitem__))
            told.append(f"version {version}: {ring}; routed in by {' '.join(using)}")
        return told

    def do_tree(self, topic: str) -> list[str]:
        told = []
        for version in sorted({number for name in self._names for number in self._at(name).planes}):
            places = []
            for name in self._names:
                plane = self._at(name).planes.get(version)
                found = plane.trees.table.get(topic) if plane is not None else None
                if found is not None:
                    mark = "*" if found.subscribed else ""
                    children = f" -> {' '.join(sorted(found.children))}" if found.children else ""
                    places.append(f"{'root ' if found.root else ''}{name}{mark}{children}")
            told.append(f"version {version}: {'; '.join(places)}")
        return told

    def _at(self, name: str) -> DynatopsBroker:
        broker = self.net.nodes[name]
        assert isinstance(broker, DynatopsBroker)
        return broker

    def _manager(self) -> Manager:
        manager = self.net.nodes[MANAGER]
        assert isinstance(manager, Manager)
        return manager
