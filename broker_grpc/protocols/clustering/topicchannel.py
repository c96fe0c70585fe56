"""A topic's channel: direct subscribers, the clusters that have the topic, its publications."""

from __future__ import annotations

from broker_grpc.protocols.clustering.channel import SHARED, Channel, State
from broker_grpc.protocols.clustering.messages import (
    Accepted,
    Address,
    Ask,
    Associate,
    Associated,
    Dissociate,
    Event,
    Held,
    Hold,
    Release,
    Topics,
)
from broker_grpc.protocols.clustering.settings import ClusteringSettings

CHANGED = 0.25  # of a frequency; less is not worth a message


class TopicChannel(Channel):
    def __init__(self, identity: int, frequency: float, settings: ClusteringSettings, seed: int) -> None:
        super().__init__(Address("topic", identity), settings, seed)
        self.frequency = frequency
        self.clusters: dict[int, tuple[Topics, int]] = {}  # topics and size, as last told

    def topics(self) -> Topics:
        return {self.identity: self.frequency}

    def asked(self, sender: Address, message: Ask) -> None:
        self.send(sender, Associated(self.frequency, dict(self.clusters)))

    def hold(self, sender: Address, message: Hold) -> None:
        self.members.add(sender.identity)
        if not message.again:
            self.send(sender, Held(self.frequency, len(self.members)))

    def release(self, sender: Address, message: Release) -> None:
        self.members.discard(sender.identity)

    def associate(self, sender: Address, message: Associate) -> None:
        """What a cluster has wrong it is told: that it is new here, or how many events there are."""
        new = sender.identity not in self.clusters
        self.clusters[sender.identity] = (message.topics, message.size)
        told = message.topics.get(self.identity, self.frequency)
        if new or message.asks or abs(told - self.frequency) > CHANGED * self.frequency:
            self.send(sender, Accepted(self.frequency))

    def dissociate(self, sender: Address, message: Dissociate) -> None:
        self.clusters.pop(sender.identity, None)

    def publish(self, sender: Address, message: Event) -> None:
        for user in sorted(self.members):
            self.send(Address("user", user), message)
        for cluster in sorted(self.clusters):
            self.send(Address("cluster", cluster), message)


TopicChannel.table = {
    **SHARED,
    **{
        (state, message): handler
        for state in (State.OPEN, State.PROPOSING)
        for message, handler in (
            (Ask, TopicChannel.asked),
            (Hold, TopicChannel.hold),
            (Release, TopicChannel.release),
            (Associate, TopicChannel.associate),
            (Dissociate, TopicChannel.dissociate),
            (Event, TopicChannel.publish),
        )
    },
}
