"""The stage of topic-connected overlays: a coordinator, and brokers that come, go and die."""

from __future__ import annotations

from broker_grpc.protocols.topicconnected.broker import TopicBroker
from broker_grpc.protocols.topicconnected.coordinator import Coordinator
from broker_grpc.protocols.topicconnected.settings import CoordinatorSettings, TopicBrokerSettings
from tests.scenario.script import Mistake
from tests.scenario.stage import Stage, settings_of
from tests.topicconnected import reference

COORDINATOR = "C"


class TopicConnectedStage(Stage):
    untold = frozenset({"heartbeat", "heartbeat_answer"})
    setting_up = frozenset({"coordinator", "subscriber"})

    def __init__(self) -> None:
        super().__init__()
        self.topics: dict[str, list[str]] = {}  # of brokers that live
        self._published = 0

    def do_coordinator(self, maintenance: str, *words: str) -> None:
        settings = CoordinatorSettings(maintenance, **settings_of(words))  # type: ignore[arg-type]
        self.net.add(COORDINATOR, Coordinator(COORDINATOR, settings), "broker")

    def do_join(self, name: str, *topics: str) -> None:
        """A broker starts, with interests, and finds its coordinator."""
        addresses = {f"B{number}": "" for number in range(1, 10)}
        settings = TopicBrokerSettings(COORDINATOR, list(topics))
        self.net.add(name, TopicBroker(name, settings, addresses=addresses), "broker")
        self.topics[name] = list(topics)
        self.net.connect(name, COORDINATOR)

    def do_leave(self, name: str) -> None:
        """In order: its last words reach the coordinator before it is gone."""
        broker = self.net.nodes[name]
        assert isinstance(broker, TopicBroker)
        self.net.apply(name, broker.farewell(self.net.now_us))
        self.net.settle()
        for peer in self.net.peers_of(name):
            self.net.disconnect(name, peer, "stopped")
        self.do_kill(name)

    def do_kill(self, name: str) -> None:
        super().do_kill(name)
        del self.topics[name]

    def do_subscriber(self, name: str, at: str, broker: str, topic: str) -> None:
        self.net.client(name, broker)
        self.net.subscribe(name, f"[class,eq,'{topic}']")
        self.net.settle()

    def do_publish(self, client: str, topic: str) -> None:
        self._published += 1
        self.net.publish(client, f"[class,'{topic}']", f"{client}:{self._published}")

    def do_got(self, name: str) -> list[str]:
        return [f"{name} got {' '.join(self.net.plain(name).publications()) or 'nothing'}"]

    def do_links(self) -> list[str]:
        """Those between brokers that are up at both ends, and whether each topic is connected by them."""
        up = [link for link in self.net.up() if set(link) <= set(self.topics)]
        names = sorted({topic for topics in self.topics.values() for topic in topics})
        if not names:
            raise Mistake("there is no broker")
        words = [
            f"{topic} {'connected' if self._is_connected(topic, up) else 'in pieces'}" for topic in names
        ]
        return [f"links {' '.join('-'.join(link) for link in up)}: {', '.join(words)}"]

    def _is_connected(self, topic: str, links: list[tuple[str, str]]) -> bool:
        """By the walk of the reference, which shares nothing with the algorithms."""
        number = {name: at for at, name in enumerate(sorted(self.topics))}
        interests = {number[name]: {0} if topic in topics else set() for name, topics in self.topics.items()}
        return reference.is_connected(
            interests, {0}, {reference.pair(number[a], number[b]) for a, b in links}
        )
