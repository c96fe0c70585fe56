"""Looks at a simulation between any two of its steps: is every topic connected when it has to be?

After every round: the overlay that the coordinator decided on. Whenever it says that the overlay is up:
the links that the brokers really hold, as both ends see them. With the walk of `reference.py`, which
shares nothing with the algorithms.
"""

from __future__ import annotations

from broker_grpc.protocols.topicconnected.broker import TopicBroker
from broker_grpc.protocols.topicconnected.coordinator import Coordinator
from broker_grpc.protocols.topicconnected.maintenance import Round
from testbed.simulation.simulator import Simulator
from tests.topicconnected import reference


class Watch:
    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator
        self.rounds = 0  # looked at
        self.ups = 0
        self.coordinator: Coordinator | None = None  # the last one that was seen
        self._was_up = True

    def look(self) -> None:
        process = self.simulator._running.get("C")
        if process is None or not isinstance(process.machine, Coordinator):
            return
        if process.machine is not self.coordinator:
            self.coordinator = process.machine
            self._follow(process.machine)
        is_up = self.coordinator._begun and self.coordinator._broken_since is None
        if is_up and not self._was_up:
            self._look_at_links(self.coordinator)
        self._was_up = is_up

    def _follow(self, coordinator: Coordinator) -> None:
        """Several rounds may fall into one step, so each is looked at when it is decided."""
        decided = coordinator._decided

        def look_at_round(now_us: int, round_: Round) -> None:
            self.rounds += 1
            if not coordinator._computing:  # else who is there is ahead of what is decided
                self._assert_connected(coordinator, coordinator.maintenance.links(), "decided")
            decided(now_us, round_)

        coordinator._decided = look_at_round  # type: ignore[method-assign]

    def _look_at_links(self, coordinator: Coordinator) -> None:
        brokers = {}
        for name in coordinator.members:
            process = self.simulator._running.get(name)
            if process is None:
                return  # dead, and not yet noticed: the next round is about that
            assert isinstance(process.machine, TopicBroker)
            brokers[name] = set(process.machine.neighbours())
        held = {(a, b) for a in brokers for b in brokers[a] if a < b and a in brokers.get(b, ())}
        self.ups += 1
        self._assert_connected(coordinator, held, "held")

    def _assert_connected(self, coordinator: Coordinator, links: set[tuple[str, str]], which: str) -> None:
        number = {name: at for at, name in enumerate(sorted(coordinator.members))}
        topics = sorted(set().union(*(member.topics for member in coordinator.members.values())))
        interests = {
            number[name]: {topics.index(topic) for topic in member.topics}
            for name, member in coordinator.members.items()
        }
        edges = {reference.pair(number[a], number[b]) for a, b in links}
        for at, topic in enumerate(topics):
            assert reference.is_connected(interests, {at}, edges), f"{topic!r} is not connected as {which}"
